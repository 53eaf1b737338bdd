"""The launcher script: what it does where packages are missing, and how it maps exit codes.

Programs that it calls are exchanged for little scripts on PATH; nothing is installed or compiled.
"""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_PACKAGES = "exit 1"
ALL_PACKAGES = 'shift 3; for name in "$@"; do echo "$name=install ok installed"; done'


class Launcher(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.log = self.root / "log"
        (self.root / "zerolab").symlink_to(ROOT / "zerolab")

    def fake(self, name, body):
        """A program that first writes its name and arguments into the log."""
        self.script(self.bin / name, f'echo "{name} $*" >>"{self.log}"\n{body}')

    def script(self, path, body):
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def build(self, body="exit 0"):
        """A build directory whose zerolab does this."""
        folder = self.root / "build"
        folder.mkdir()
        self.script(folder / "zerolab", body)
        return folder

    def run_launcher(self, *words, build_dir=None):
        environment = {k: v for k, v in os.environ.items() if k != "ZEROLAB_BUILD_DIR"}
        environment["PATH"] = f"{self.bin}:{environment['PATH']}"
        if build_dir:
            environment["ZEROLAB_BUILD_DIR"] = str(build_dir)
        return subprocess.run([str(self.root / "zerolab"), *words], env=environment, text=True,
                              capture_output=True, timeout=30, cwd=self.root)

    def logged(self):
        return self.log.read_text() if self.log.exists() else ""

    def test_tells_the_one_command_where_packages_are_missing_and_nobody_may_install(self):
        self.fake("dpkg-query", NO_PACKAGES)
        self.fake("id", "echo 1000")
        self.fake("sudo", "exit 1")

        run = self.run_launcher("compare")

        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, r"^zerolab: packages are missing; run: sudo apt-get install g\+\+ cmake ")
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertFalse((self.root / "build").exists())

    def test_names_only_the_package_that_is_missing(self):
        self.fake("dpkg-query", ALL_PACKAGES + " | grep -v ninja-build")
        self.fake("id", "echo 1000")
        self.fake("sudo", "exit 1")

        self.assertRegex(self.run_launcher("compare").stderr, r"install ninja-build\n$")

    def test_does_not_take_a_removed_package_for_an_installed_one(self):
        self.fake("dpkg-query", ALL_PACKAGES + " | sed '/^cmake=/s/=.*/=deinstall ok config-files/'")
        self.fake("id", "echo 1000")
        self.fake("sudo", "exit 1")

        self.assertRegex(self.run_launcher("compare").stderr, r"install cmake\n$")

    def test_installs_as_root(self):
        self.fake("dpkg-query", ALL_PACKAGES + " | grep -v libfmt-dev")
        self.fake("id", "echo 0")
        self.fake("apt-get", "exit 0")
        self.fake("cmake", "exit 1")  # that is far enough

        self.run_launcher("compare")

        self.assertRegex(self.logged(), r"apt-get install -y -qq --no-install-recommends libfmt-dev\n")

    def test_installs_through_sudo_that_asks_for_no_password(self):
        self.fake("dpkg-query", ALL_PACKAGES + " | grep -v libfmt-dev")
        self.fake("id", "echo 1000")
        self.fake("sudo", 'shift; "$@"')
        self.fake("apt-get", "exit 0")
        self.fake("cmake", "exit 1")

        self.run_launcher("compare")

        self.assertRegex(self.logged(), r"sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install ")

    def test_tells_what_apt_said_where_it_fails(self):
        self.fake("dpkg-query", NO_PACKAGES)
        self.fake("id", "echo 0")
        self.fake("apt-get", 'echo "E: no network"; exit 100')

        run = self.run_launcher("compare")

        self.assertEqual(run.returncode, 2)
        self.assertIn("E: no network", run.stderr)
        self.assertIn("run: sudo apt-get install", run.stderr)

    def test_ends_with_3_where_the_build_fails_and_shows_why(self):
        self.fake("dpkg-query", ALL_PACKAGES)
        self.fake("cmake", 'if [ "$1" = --build ]; then echo "error: no such thing"; exit 1; fi')

        run = self.run_launcher("compare")

        self.assertEqual(run.returncode, 3)
        self.assertIn("error: no such thing", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_configures_once(self):
        self.fake("dpkg-query", ALL_PACKAGES)
        self.fake("cmake", "exit 0")
        build = self.build("echo trained")
        (build / "build.ninja").touch()
        (build / "CMakeCache.txt").write_text("ZEROLAB_TESTS:BOOL=OFF\n")

        run = self.run_launcher("compare")

        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "trained\n", ""))
        self.assertNotIn("cmake -S", self.logged())
        self.assertIn("--target zerolab", self.logged())

    def test_keeps_tests_that_were_configured_and_adds_them_where_they_were_not(self):
        self.fake("dpkg-query", ALL_PACKAGES)
        self.fake("cmake", "exit 0")
        self.fake("ctest", "exit 0")
        build = self.build()
        (build / "build.ninja").touch()
        cache = build / "CMakeCache.txt"

        cache.write_text("ZEROLAB_TESTS:BOOL=ON\n")
        self.run_launcher("compare")
        self.run_launcher("test")
        self.assertNotIn("cmake -S", self.logged())

        cache.write_text("ZEROLAB_TESTS:BOOL=OFF\n")
        self.run_launcher("test", "-R", "core")
        self.assertIn("-DZEROLAB_TESTS=ON", self.logged())
        self.assertRegex(self.logged(), r"ctest --test-dir .* -R core\n")

    def test_takes_a_build_as_it_is(self):
        for program in ("dpkg-query", "cmake", "ninja"):
            self.fake(program, "exit 1")

        run = self.run_launcher("faults", "list", build_dir=self.build('echo "$*"'))

        self.assertEqual((run.returncode, run.stdout), (0, "faults list\n"))
        self.assertEqual(self.logged(), "")

    def test_says_where_no_build_is(self):
        run = self.run_launcher("compare", build_dir=self.root / "nowhere")

        self.assertEqual(run.returncode, 2)
        self.assertIn("nowhere", run.stderr)

    def test_hands_on_the_programs_exit_code(self):
        build = self.build('exit "$2"')
        for code in (0, 1, 2, 3):
            self.assertEqual(self.run_launcher("compare", str(code), build_dir=build).returncode, code)

    def mpirun(self, code, starts=True):
        """What the launcher makes of mpirun's exit code."""
        self.fake("mpirun", f'for last; do :; done; if [ "$last" = true ]; then exit {int(not starts)}; fi; exit {code}')
        return self.run_launcher("mpirun", "-n", "4", "compare", "--steps", "1",
                                 build_dir=self.root / "build").returncode

    def test_maps_the_exit_code_of_a_killed_job_to_3(self):
        self.build()
        for code in (0, 1, 2, 3):
            self.assertEqual(self.mpirun(code), code)
        for code in (134, 137, 143, 255):
            self.assertEqual(self.mpirun(code), 3)

    def test_does_not_take_a_job_that_could_not_start_for_a_divergence(self):
        self.build()
        self.assertEqual(self.mpirun(1, starts=False), 3)

    def test_splits_mpiruns_options_from_the_programs(self):
        self.build()
        self.mpirun(0)
        self.assertRegex(self.logged(), r"mpirun -n 4 \S*/build/zerolab compare --comm mpi --steps 1\n")

    def test_needs_a_command_behind_mpirun(self):
        run = self.run_launcher("mpirun", "-n", "4", build_dir=self.build())

        self.assertEqual(run.returncode, 2)
        self.assertIn("usage", run.stderr)


def children(pid):
    """Processes below `pid`, from /proc."""
    below = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it has just ended
        if parent == pid:
            below += [int(entry.name), *children(int(entry.name))]
    return below


def program_of(pid):
    try:
        return os.path.realpath(f"/proc/{pid}/exe")
    except OSError:
        return ""


@unittest.skipUnless(shutil.which("mpirun") and os.environ.get("ZEROLAB_BUILD_DIR")
                     and os.environ.get("ZEROLAB_HAS_MPI", "ON") == "ON", "needs mpirun and a build with MPI")
class KilledJob(unittest.TestCase):
    def test_ends_with_3_and_leaves_no_run_directory(self):
        program = os.path.realpath(os.path.join(os.environ["ZEROLAB_BUILD_DIR"], "zerolab"))
        with tempfile.TemporaryDirectory() as scratch:
            job = subprocess.Popen(
                [str(ROOT / "zerolab"), "mpirun", "-n", "2", "train", "--stage", "zero1", "--model", "gpt-micro",
                 "--steps", "1000000", "--eval-every", "0", "--out", "run"],
                cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for line in job.stderr:  # progress: it trains
                if " step " in line:
                    break
            ranks = [pid for pid in children(job.pid) if program_of(pid) == program]
            self.assertEqual(len(ranks), 2)

            os.kill(ranks[-1], signal.SIGKILL)
            job.stderr.close()

            self.assertEqual(job.wait(timeout=60), 3)
            for _ in range(50):  # mpirun ends the other rank
                if all(program_of(rank) != program for rank in ranks):
                    break
                time.sleep(0.1)
            self.assertFalse((pathlib.Path(scratch) / "run").exists())


if __name__ == "__main__":
    unittest.main()
