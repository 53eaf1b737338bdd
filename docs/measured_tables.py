"""Fills in the measured tables and the picture of the documentation, or checks that they are current.

A table stands between `<!-- measured: KIND STAGE -->` and `<!-- end -->`; KIND says which run it is from.

    measured_tables.py --zerolab build/zerolab           rewrites the tables and docs/images/memory.svg
    measured_tables.py --zerolab build/zerolab --check   fails where one is out of date

Needs a Python with matplotlib: /usr/bin/python3 on Debian.
"""

import argparse
import importlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "memory.svg"
MARK = re.compile(r"(<!-- measured: (\w+)((?: [\w.-]+)*) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

TABLES = 9  # the README's, and two in each lesson

MAIN_JOB = "compare"
TWO_RANKS = "compare --ranks 2 --steps 1"
# Bytes are the same in every step, so one step measures what the whole main job would.
SHORTER = {MAIN_JOB: "compare --steps 1", TWO_RANKS: TWO_RANKS}

STATES = ["parameters", "gradients", "accumulators", "master_weights", "first_moments", "second_moments"]
PASSING = ["gathered_parameters", "gradient_buckets", "unit_gradients"]


def spaced(number):
    return f"{number:,}".replace(",", " ")


def megabytes(number):
    return f"{number / 1e6:.2f}"


def words(category):
    return category.replace("_", " ")


def stage_of(report, name):
    return next(stage for stage in report["stages"] if stage["name"] == name)


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
    return lines


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
    return lines


def stages(report):
    """One line a stage: what rank 0 holds and sends, in MB."""
    lines = ["| stage | verdict | parameters | gradients | optimizer states | passing through | largest total | "
             "sent in a step | = formula |", "|---|---|--:|--:|--:|--:|--:|--:|---|"]
    for stage in report["stages"]:
        memory = stage["memory"]["per_rank"][0]
        held = memory["by_category"]
        sent = stage["communication"]["per_rank"][0]["sent_bytes_per_step"]
        exact = stage["memory"]["as_predicted"] and stage["communication"]["as_predicted"]
        cells = [stage["name"], "reference" if stage["name"] == report["reference"] else stage["verdict"],
                 megabytes(held["parameters"]), megabytes(held["gradients"]),
                 megabytes(held["first_moments"] + held["second_moments"]),
                 megabytes(sum(held[category] for category in PASSING)), megabytes(memory["peak_bytes"]),
                 f"{sent / 1e6:.3f}", "to the byte" if exact else "**no**"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


KINDS = {"holds": (holds, TWO_RANKS), "sends": (sends, TWO_RANKS), "stages": (stages, MAIN_JOB)}


def run(zerolab, command):
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "run"
        subprocess.run([zerolab, *command.split(), "--quiet", "--out", str(out)], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads((out / "report.json").read_text())


def load_plots():
    """The module that draws the report's plots; it imports the others beside it."""
    sys.path.insert(0, str(ROOT / "experiments" / "report"))
    return importlib.import_module("plots")


def picture(plots, report):
    """The report's memory plot, with text as text, so that it can be compared, and small."""
    with plots.plt.rc_context({**plots.STYLE, "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = plots.plot_memory(report)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zerolab", required=True, help="the binary")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if out of date")
    arguments = parser.parse_args()
    plots = load_plots()
    reports = {command: run(arguments.zerolab, shorter) for command, shorter in SHORTER.items()}

    def current(match):
        table, command = KINDS[match.group(2)]
        lines = table(reports[command], *match.group(3).split())
        unit = "In MB, on rank 0" if table is stages else "On rank 0"
        lines += ["", f"{unit} of `./zerolab {command}`; the same in every step."]
        return match.group(1) + "\n".join(lines) + "\n" + match.group(5)

    stale, tables = [], 0
    for page in [ROOT / "README.md", *sorted(ROOT.glob("*/*.md"))]:
        text = page.read_text()
        found = len(MARK.findall(text))
        if found != text.count("<!-- measured:"):
            sys.exit(f"{page.relative_to(ROOT)} has a mark without its <!-- end -->, or of another form")
        tables += found
        fresh = MARK.sub(current, text)
        if fresh != text:
            stale.append(page)
            if not arguments.check:
                page.write_text(fresh)
    if tables != TABLES:
        sys.exit(f"found {tables} measured tables where {TABLES} are expected; put the lost one back, or count anew")
    svg = picture(plots, reports[MAIN_JOB])
    if not PICTURE.exists() or texts(PICTURE.read_text()) != texts(svg):
        stale.append(PICTURE)
        if not arguments.check:
            PICTURE.parent.mkdir(exist_ok=True)
            PICTURE.write_text(svg)

    names = ", ".join(str(page.relative_to(ROOT)) for page in stale)
    if arguments.check and stale:
        sys.exit(f"out of date: {names}; run {sys.executable} docs/measured_tables.py --zerolab build/zerolab")
    print(f"{tables} measured tables and a picture" + (f"; rewritten: {names}" if stale else ", all current"))


if __name__ == "__main__":
    main()
