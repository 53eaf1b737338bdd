"""Bad input under mpirun: exactly one process says what is wrong, and mpirun ends with the right exit code.

    one_voice_under_mpi.py MPIEXEC ZEROLAB
"""

import pathlib
import subprocess
import sys
import tempfile

RANKS = 3
# What is asked for, the exit code, a part of the sentence.
CASES = [
    ("compare --rank 3", 2, "did you mean --ranks?"),
    ("compare", 2, "add --comm mpi"),
    ("compare --comm mpi --ranks 4", 2, "the number of processes is 3"),
    ("compare --comm mpi --reduction tree", 2, "power of two, not 3"),
    ("compare --comm mpi --data nowhere.txt", 2, "nowhere.txt"),
    ("train --comm mpi --load-weights {scratch}/corrupt.safetensors", 2, "corrupt.safetensors"),
    ("compare --comm mpi --out {scratch}", 2, "exists"),
    ("train --comm mpi --model gpt-micro --steps 1 --save-weights {scratch}/missing/w.safetensors --out {scratch}/run",
     3, "missing/w.safetensors"),
]


def main():
    mpiexec, zerolab = sys.argv[1:3]
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "corrupt.safetensors").write_text("not weights")
        for line, code, says in CASES:
            words = line.format(scratch=scratch).split()
            done = subprocess.run([mpiexec, "-n", str(RANKS), zerolab, *words, "--quiet"], capture_output=True,
                                  text=True, timeout=120, cwd=scratch)
            spoken = [text for text in done.stderr.splitlines() if "zerolab: " in text]
            left = [path.name for path in pathlib.Path(scratch).iterdir() if path.name != "corrupt.safetensors"]
            if done.returncode != code or len(spoken) != 1 or says not in spoken[0] or left:
                failures += 1
                print(f"zerolab {line}: exit code {done.returncode}, expected {code}; said {spoken}, expected one "
                      f"sentence with '{says}'; left behind {left}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
