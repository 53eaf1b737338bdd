"""Fills in the measured tables of the documentation, or checks that they are current.

A table stands between `<!-- measured: KIND STAGE -->` and `<!-- end -->`. All of them come from one run:

    measured_tables.py --zerolab build/zerolab           rewrites the tables
    measured_tables.py --zerolab build/zerolab --check   fails where a table is out of date
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

COMMAND = "compare --model gpt-micro --ranks 2 --steps 2 --micro-batch 2 --eval-every 0 --bucket-mb 0.05"
MARK = re.compile(r"(<!-- measured: (\w+)((?: [\w.-]+)*) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
STATES = ["parameters", "gradients", "accumulators", "master_weights", "first_moments", "second_moments"]


def spaced(number):
    return f"{number:,}".replace(",", " ")


def words(category):
    return category.replace("_", " ")


def holds(report, stage):
    """Bytes that rank 0 holds, by category, at each category's own peak."""
    memory = stage_of(report, stage)["memory"]["per_rank"][0]
    lines = ["| held by rank 0 | bytes | predicted |", "|---|--:|--:|"]
    for category, count in memory["by_category"].items():
        if count and category != "checks":
            lines.append(f"| {words(category)} | {spaced(count)} | "
                         f"{spaced(memory['predicted_by_category'][category])} |")
    lines.append(f"| largest total at one moment | {spaced(memory['peak_bytes'])} | "
                 f"{spaced(memory['predicted_peak_bytes'])} |")
    return lines + source()


def sends(report, stage):
    """Bytes that rank 0 sends in one step, by operation."""
    traffic = stage_of(report, stage)["communication"]["per_rank"][0]
    lines = ["| sent by rank 0 in a step | calls | bytes | predicted |", "|---|--:|--:|--:|"]
    for group in ("training", "control"):
        for operation, volume in traffic[group]["by_operation"].items():
            if volume["calls"]:
                expected = traffic[group]["predicted_by_operation"][operation]
                lines.append(f"| {words(operation)} ({group}) | {spaced(volume['calls'])} | "
                             f"{spaced(volume['sent_bytes'])} | {spaced(expected['sent_bytes'])} |")
    return lines + source()


def stages(report):
    """One line a stage: model states, the largest total, and what a step sends."""
    lines = ["| stage | verdict | model states | largest total | sent for training in a step |",
             "|---|---|--:|--:|--:|"]
    for stage in report["stages"]:
        memory = stage["memory"]["per_rank"][0]
        traffic = stage["communication"]["per_rank"][0]["training"]["by_operation"]
        states = sum(memory["by_category"].get(state, 0) for state in STATES)
        sent = sum(volume["sent_bytes"] for volume in traffic.values())
        verdict = "reference" if stage["name"] == report["reference"] else stage["verdict"]
        lines.append(f"| {stage['name']} | {verdict} | {spaced(states)} B | "
                     f"{spaced(memory['peak_bytes'])} B | {spaced(sent)} B |")
    return lines + source()


def source():
    return ["", f"From rank 0 of `./zerolab {COMMAND}`."]


def stage_of(report, name):
    return next(stage for stage in report["stages"] if stage["name"] == name)


KINDS = {"holds": holds, "sends": sends, "stages": stages}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zerolab", required=True, help="the binary")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if out of date")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "run"
        subprocess.run([arguments.zerolab, *COMMAND.split(), "--quiet", "--out", str(out)], check=True,
                       stdout=subprocess.DEVNULL)
        report = json.loads((out / "report.json").read_text())

    def current(match):
        table = KINDS[match.group(2)](report, *match.group(3).split())
        return match.group(1) + "\n".join(table) + "\n" + match.group(5)

    stale, tables = [], 0
    for page in [root / "README.md", *sorted(root.glob("*/*.md"))]:
        if not page.exists():
            continue
        text = page.read_text()
        tables += len(MARK.findall(text))
        fresh = MARK.sub(current, text)
        if fresh != text:
            stale.append(str(page.relative_to(root)))
            if not arguments.check:
                page.write_text(fresh)
    if arguments.check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run docs/measured_tables.py --zerolab build/zerolab")
    print(f"{tables} measured tables, {len(stale)} {'out of date' if arguments.check else 'rewritten'}")


if __name__ == "__main__":
    main()
