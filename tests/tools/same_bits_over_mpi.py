"""Trains the same model with ranks as threads and as MPI processes and compares all bits.

    same_bits_over_mpi.py MPIEXEC ZEROLAB RANKS
"""

import pathlib
import subprocess
import sys
import tempfile

OPTIONS = ["--model", "gpt-micro", "--steps", "4", "--accumulate", "2", "--eval-every", "2", "--plots", "off",
           "--quiet"]


def main():
    mpiexec, zerolab, ranks = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as scratch:
        threads, processes = (str(pathlib.Path(scratch) / name) for name in ("threads", "processes"))
        subprocess.run([zerolab, "compare", *OPTIONS, "--ranks", ranks, "--out", threads], check=True)
        subprocess.run([mpiexec, "-n", ranks, zerolab, "compare", "--comm", "mpi", *OPTIONS, "--out", processes],
                       check=True)
        # diff compares losses and every fingerprint; it exits with 1 at the first difference.
        subprocess.run([zerolab, "diff", threads, processes], check=True)


if __name__ == "__main__":
    main()
