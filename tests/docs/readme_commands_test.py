"""Runs every command that README.md shows, almost as it stands there, against the build that is tested."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# It runs this test.
NOT_HERE = {"./zerolab test"}
# The main job in full takes a minute; its bytes and verdicts are the same after two steps.
SHORTER = {"./zerolab compare": "./zerolab compare --steps 2"}
# Drawing takes matplotlib longer than most runs take: the first of these draws, the others do not.
DRAWS = re.compile(r"\b(compare|train|faults run)\b")


def commands(page):
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            if command:
                yield command


def main():
    build = os.environ.get("ZEROLAB_BUILD_DIR")
    if not build:
        sys.exit("set ZEROLAB_BUILD_DIR to the build to run")
    failed, ran, drawn = [], 0, False
    with tempfile.TemporaryDirectory() as scratch:
        # A directory like the repository's root after a build; runs are written into it.
        (pathlib.Path(scratch) / "zerolab").symlink_to(ROOT / "zerolab")
        (pathlib.Path(scratch) / "build").symlink_to(build)
        for command in commands((ROOT / "README.md").read_text()):
            needs_mpi = "mpirun" in command or "runs/processes" in command
            if command in NOT_HERE or (needs_mpi and os.environ.get("ZEROLAB_HAS_MPI", "ON") != "ON"):
                continue
            line = SHORTER.get(command, command)
            if DRAWS.search(command):
                line += " --plots off" if drawn else ""
                drawn = True
            run = subprocess.run(line, shell=True, cwd=scratch, text=True,
                                 capture_output=True, stdin=subprocess.DEVNULL)
            ran += 1
            print(f"{run.returncode}  {command}", flush=True)
            if run.returncode != 0 or not run.stdout:
                failed.append(f"{command}: exit code {run.returncode}\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
    if failed:
        sys.exit("\n".join(failed))
    if ran < 5:
        sys.exit(f"README.md shows {ran} commands; there must be more")


if __name__ == "__main__":
    main()
