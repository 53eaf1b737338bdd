"""Executes the notebooks on a small model; each is committed without outputs."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def outputs(notebook):
    cells = json.loads(notebook.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"
            and (cell["outputs"] or cell["execution_count"] is not None)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--zerolab", required=True)
    arguments = parser.parse_args()
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    if not notebooks:
        sys.exit("there is no notebook")
    for notebook in notebooks:
        if outputs(notebook):
            sys.exit(f"{notebook.name} was committed with outputs; clear them")
    probe = subprocess.run([arguments.python, "-c", "import nbconvert, nbclient, ipykernel, matplotlib"],
                           capture_output=True, text=True)
    if probe.returncode != 0:
        print(f"skipped: {probe.stderr.strip().splitlines()[-1]}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        # The kernel is that Python's own, whatever others this machine offers under the same name.
        environment = {**os.environ, "ZEROLAB": arguments.zerolab, "HOME": scratch,
                       "ZEROLAB_OPTIONS": "--model gpt-micro --ranks 3 --steps 4 --bucket-mb 0.02"}
        kernel = pathlib.Path(scratch) / "jupyter"
        subprocess.run([arguments.python, "-m", "ipykernel", "install", "--prefix", str(kernel)], check=True,
                       capture_output=True, env=environment)
        environment["JUPYTER_PATH"] = str(kernel / "share" / "jupyter")
        for notebook in notebooks:
            result = subprocess.run(
                [arguments.python, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", scratch,
                 "--ExecutePreprocessor.timeout=240", str(notebook)], env=environment, text=True,
                capture_output=True)
            print(f"{result.returncode}  {notebook.name}", flush=True)
            if result.returncode != 0:
                sys.exit(result.stdout[-4000:] + result.stderr[-6000:])
            executed = json.loads((pathlib.Path(scratch) / notebook.name).read_text())
            pictures = sum("image/png" in output.get("data", {}) for cell in executed["cells"]
                           for output in cell.get("outputs", []))
            if pictures < 3:
                sys.exit(f"{notebook.name} shows {pictures} pictures; there must be at least 3")


if __name__ == "__main__":
    main()
