"""Holds the ledgers of bytes sent against Open MPI's own count.

    mpi_monitoring_test.py --zerolab build/zerolab --mpirun mpirun --ranks 3

Runs `zerolab compare` and `train` with `--check none` under mpirun with the pml monitoring component, which writes one
line for each pair of ranks and kind of message: `E` point-to-point messages of the program, `I` messages inside MPI's
collectives.

What zerolab sends, and where it must appear:
- training and control (losses, norms): every collective is made of point-to-point messages, so `E` must equal the
  ledgers of all stages, steps and evaluations, to the byte;
- headers of checked mode: none, since checks are off;
- barriers and meetings before blocking calls: point-to-point messages of zero bytes;
- what the harness gathers (results of the ranks, agreement on errors): MPI's own collectives, so `I` and never `E`.

Exit code: 0 agreement, 1 disagreement, 77 without MPI or its monitoring.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
LINE = re.compile(r"^([EI])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent", re.MULTILINE)

COMMON = ["--comm", "mpi", "--check", "none", "--model", "gpt-micro", "--micro-batch", "2", "--plots", "off",
          "--quiet"]
RUNS = {
    "one micro-batch, with evaluations": ["compare", "--steps", "3", "--eval-every", "2", "--bucket-mb", "0.0171"],
    "three micro-batches, both accumulation orders": ["compare", "--steps", "2", "--accumulate", "3",
                                                      "--eval-every", "0"],
    # Not compare: in this order it trains the reference again to see how far rounding takes it.
    "the ring's order, without overlap": ["train", "--stage", "zero3", "--steps", "2", "--reduction", "ring",
                                          "--overlap", "off"],
}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def require_monitoring(mpirun):
    if not mpirun:
        skip("zerolab was built without MPI")
    info = pathlib.Path(mpirun).with_name("ompi_info")
    if not info.exists():
        skip(f"{mpirun} is not Open MPI's (there is no {info})")
    components = subprocess.run([info, "--parsable"], capture_output=True, text=True, check=True).stdout
    if "mca:pml:monitoring:" not in components:
        skip("this Open MPI has no pml monitoring component")


def run(arguments, options, directory):
    environment = dict(os.environ)
    # As root in a container, more ranks than cores.
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                       OMPI_MCA_btl="self,vader")
    command, *options = options
    job = [arguments.mpirun, "-n", str(arguments.ranks), "--mca", "pml", "ob1,monitoring",
           "--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3",
           "--mca", "pml_monitoring_filename", str(directory / "bytes"),
           arguments.zerolab, command, *COMMON, *options, "--out", str(directory / "run")]
    done = subprocess.run(job, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(job)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads((directory / "run" / "report.json").read_text())


def counted_by_mpi(directory, ranks):
    """bytes[kind][source][destination], and how many messages of zerolab's own there were."""
    files = sorted(directory.glob("bytes.*.prof"))
    if len(files) != ranks:
        sys.exit(f"{len(files)} files were written by the monitoring, {ranks} expected")
    sent = {kind: collections.defaultdict(collections.Counter) for kind in "EI"}
    messages = 0
    for file in files:
        for kind, source, destination, count, number in LINE.findall(file.read_text()):
            sent[kind][int(source)][int(destination)] += int(count)
            messages += int(number) if kind == "E" else 0
    return sent, messages


def counted_by_ledgers(report, ranks):
    """(sent, received) of each rank: training and control, all stages, steps and evaluations."""
    totals = [[0, 0] for _ in range(ranks)]
    for stage in report["stages"]:
        for entry in stage["communication"]["per_rank"]:
            for table in (entry["volume"]["steps"], entry["volume"]["of_evaluations"]):
                if table["checks"]:
                    sys.exit(f"{stage['name']}: rank {entry['rank']} booked bytes of checks although there are none")
                for operations in (table["training"], table["control"]):
                    for volume in operations.values():
                        totals[entry["rank"]][0] += volume["sent_intra_bytes"] + volume["sent_inter_bytes"]
                        totals[entry["rank"]][1] += volume["received_intra_bytes"] + volume["received_inter_bytes"]
    return totals


def compare(name, report, sent, messages, ranks):
    agreed = True
    harness = sum(sum(row.values()) for row in sent["I"].values())
    for rank, (ledger_sent, ledger_received) in enumerate(counted_by_ledgers(report, ranks)):
        mpi_sent = sum(sent["E"][rank].values())
        mpi_received = sum(sent["E"][source][rank] for source in range(ranks))
        equal = (mpi_sent, mpi_received) == (ledger_sent, ledger_received) and ledger_sent > 0
        agreed = agreed and equal
        print(f"{name}, rank {rank}: sent {ledger_sent} by the ledgers and {mpi_sent} by MPI, received "
              f"{ledger_received} and {mpi_received}{'' if equal else '  <-- DIFFERENT'}")
    print(f"{name}: {messages} messages of zerolab's transport; "
          f"the harness gathered {harness} bytes in MPI's collectives")
    return agreed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zerolab", required=True)
    parser.add_argument("--mpirun", default="")
    parser.add_argument("--ranks", type=int, default=3)
    arguments = parser.parse_args()
    require_monitoring(arguments.mpirun)
    agreed = True
    for name, options in RUNS.items():
        with tempfile.TemporaryDirectory() as directory:
            report = run(arguments, options, pathlib.Path(directory))
            sent, messages = counted_by_mpi(pathlib.Path(directory), arguments.ranks)
            agreed = compare(name, report, sent, messages, arguments.ranks) and agreed
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
