"""Sums in MPI's own order: stages differ in bits, and the verdict says why, by how much, and what removes it.

    native_is_explained.py MPIEXEC ZEROLAB
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

RANKS = 3
STEPS = 6
SENTENCE = re.compile(
    r"differs because the library chooses the order of its sums; with --reduction ordered it is equal; its loss "
    rf"differs from ddp's by at most [\d.e-]+ \(step \d+\) over {STEPS} steps; the bound is [\d.e-]+ of the sum of its "
    r"terms' magnitudes for an element of the gradient, and the loss stays inside the envelope of \d clean runs")


def main():
    mpiexec, zerolab = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch, "run")
        job = ["compare", "--comm", "mpi", "--reduction", "native", "--model", "gpt-micro", "--micro-batch", "2",
               "--steps", str(STEPS), "--plots", "off", "--quiet", "--out", str(run)]
        done = subprocess.run([mpiexec, "-n", str(RANKS), zerolab, *job], capture_output=True, text=True, timeout=240)
        if done.returncode != 0:
            print(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
            return 1
        stages = json.loads((run / "report.json").read_text())["stages"]
    others = [stage for stage in stages if stage["name"] != "ddp"]
    explained = [stage for stage in others if stage["verdict"] == "explained"]
    wrong = [stage for stage in explained if not SENTENCE.search(stage["reason"])]
    wrong += [stage for stage in others if stage["verdict"] not in ("equal", "explained")]
    for stage in wrong:
        print(f"{stage['name']}: {stage['verdict']}, {stage['reason']}")
    # ZeRO-3 cuts elsewhere than DDP: a library whose sums do not notice would make this test empty.
    if not explained:
        print("no stage differs from ddp, so nothing was explained")
    return 1 if wrong or not explained else 0


if __name__ == "__main__":
    sys.exit(main())
