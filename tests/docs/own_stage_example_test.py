"""Builds docs/own_stage_example as a project of its own and runs its three programs."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What each program must end with and must have said: the detector and the place.
EXPECTED = [
    (["check_unit_by_unit"], 0, ["Clean: ddp-unit-by-unit"]),
    (["check_unit_by_unit", "--reference", "ddp", "--ranks", "4", "--accumulate", "3"], 0,
     ["ddp-unit-by-unit trained the same model as ddp, to the last bit"]),
    (["forgotten_wait"], 1, ["ORD, order of gradients", "all_reduce (all-reduce gradients, ln_f)",
                             "no event orders the two"]),
    (["forgotten_unit"], 1, ["INV, step 1, gradients of ln_f.weight", "PROV, gradients of ln_f.weight",
                             "rank 1's micro-batch 0 and rank 2's micro-batch 0 are missing from"]),
]


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, text=True, capture_output=True)


def must(result, what):
    if result.returncode != 0:
        sys.exit(f"{what}:\n{result.stdout[-4000:]}{result.stderr[-4000:]}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--cmake", "--build-dir", "--compiler"):
        parser.add_argument(option, required=True)
    parser.add_argument("--launcher", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        build = pathlib.Path(scratch) / "build"
        must(run(arguments.cmake, "-S", str(ROOT / "docs" / "own_stage_example"), "-B", str(build), "-G", "Ninja",
                 f"-Dzerolab_DIR={arguments.build_dir}", f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
                 f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}"), "CMake does not configure the example")
        must(run(arguments.cmake, "--build", str(build)), "the example does not compile")
        for (program, *options), code, sentences in EXPECTED:
            result = run(str(build / program), *options, "--quiet", cwd=scratch)
            command = " ".join([program, *options])
            print(f"{result.returncode}  {command}", flush=True)
            missing = [sentence for sentence in sentences if sentence not in result.stdout]
            if result.returncode != code or missing:
                sys.exit(f"{command} ended with {result.returncode}, expected {code}; not said: {missing}\n"
                         f"{result.stdout[-6000:]}{result.stderr}")


if __name__ == "__main__":
    os.environ.pop("ZEROLAB_BUILD_DIR", None)
    main()
