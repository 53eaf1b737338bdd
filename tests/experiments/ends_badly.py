"""A disk that is full and a rank that is killed: one clear sentence, exit code 3, nothing half-written, no hang.

    ends_badly.py LAUNCHER BUILD_DIR full_disk|killed_rank
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

JOB = ["--model", "gpt-micro", "--plots", "off"]


def full_disk(launcher, scratch):
    """Every file may have 4 KiB, so a report finds no room; training itself needs none."""

    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run([launcher, "compare", "--ranks", "2", "--steps", "3", "--quiet", *JOB, "--out", "run"],
                          cwd=scratch, preexec_fn=no_room, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    said = [line for line in done.stderr.splitlines() if line.startswith("zerolab: ")]
    assert len(said) == 1 and "cannot write run.partial" in said[0], done.stderr
    assert not list(pathlib.Path(scratch).iterdir()), f"left behind: {os.listdir(scratch)}"


def ranks_of(parent):
    """The processes below `parent` that run zerolab."""
    found, generation = [], [parent]
    while generation:
        children = []
        for process in generation:
            for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
                children += [int(child) for child in task.read_text().split()]
        found += [c for c in children if pathlib.Path(f"/proc/{c}/comm").read_text().strip() == "zerolab"]
        generation = children
    return found


def killed_rank(launcher, scratch):
    job = subprocess.Popen([launcher, "mpirun", "-n", "3", "compare", "--steps", "100000", *JOB, "--out", "run"],
                           cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        deadline = time.monotonic() + 60
        while len(ranks_of(job.pid)) < 3:
            assert job.poll() is None and time.monotonic() < deadline, "the ranks did not start"
            time.sleep(0.1)
        job.stdout.readline()  # the first line of progress: training has begun
        os.kill(ranks_of(job.pid)[1], signal.SIGKILL)
        said, _ = job.communicate(timeout=60)
    finally:
        job.kill()
    assert job.returncode == 3, f"exit code {job.returncode}: {said}"
    assert "signal 9" in said, said
    assert not pathlib.Path(scratch, "run").exists(), "a report of a broken run"


def main():
    launcher, build, how = sys.argv[1:]
    os.environ["ZEROLAB_BUILD_DIR"] = build
    with tempfile.TemporaryDirectory() as scratch:
        {"full_disk": full_disk, "killed_rank": killed_rank}[how](launcher, scratch)


if __name__ == "__main__":
    main()
