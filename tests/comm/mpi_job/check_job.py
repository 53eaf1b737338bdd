"""Runs comm_mpi_job under mpirun and judges how it ended.

check_job.py MPIRUN JOB RANKS HOW
"""

import collections
import glob
import os
import subprocess
import sys
import tempfile

# How the job ends: the exit code and a part of the one sentence it must say.
ENDINGS = {
    "throw": (3, "[data] the disk is full"),
    "mismatch": (3, "gather parameters"),
    "late": (3, "did not arrive within 1 s"),
    "kill": (None, "signal 9"),  # mpirun's own code and words
}


def check_ending(command, how):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    code, sentence = ENDINGS[how]
    said = result.stdout + result.stderr
    if code is None:
        assert result.returncode != 0, "a killed rank went unnoticed"
    else:
        assert result.returncode == code, f"exit code {result.returncode} instead of {code}:\n{said}"
    assert said.count(sentence) == 1, f"'{sentence}' was said {said.count(sentence)} times:\n{said}"


def check_volume(mpirun, job, how):
    """The ledger's bytes against Open MPI's monitoring of point-to-point messages."""
    with tempfile.TemporaryDirectory() as folder:
        monitoring = ["--mca", "pml", "ob1,monitoring", "--mca", "pml_monitoring_enable", "2",
                      "--mca", "pml_monitoring_enable_output", "3",
                      "--mca", "pml_monitoring_filename", os.path.join(folder, "bytes")]
        environment = {k: v for k, v in os.environ.items() if k != "OMPI_MCA_pml"}
        result = subprocess.run(mpirun[:1] + monitoring + mpirun[1:] + [job, how],
                                capture_output=True, text=True, timeout=60, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
        seen = collections.Counter()
        for path in glob.glob(os.path.join(folder, "*.prof")):
            with open(path, encoding="utf-8") as rows:
                for row in rows:
                    fields = row.split()
                    if fields and fields[0] == "E":
                        seen[int(fields[1])] += int(fields[3])
    booked = {}
    for line in result.stdout.splitlines():
        words = line.split()
        if words[:1] == ["rank"] and words[2] == "sent":
            booked[int(words[1])] = int(words[3])
    assert booked and all(booked.values()), f"no bytes were booked:\n{result.stdout}"
    assert booked == dict(seen), f"booked {booked}, seen by MPI {dict(seen)}"


def main():
    mpirun, job, ranks, how = sys.argv[1:]
    command = [mpirun, "-n", ranks]
    if how in ENDINGS:
        check_ending(command + [job, how], how)
    else:
        check_volume(command, job, how)


main()
