#!/usr/bin/env python3
"""Draws the plots of a run from its report.json: loss, memory, communication, throughput.

    plots.py DIR/report.json DIR      writes DIR/loss.png, DIR/loss.svg, …

The functions `plot_…(report)` return matplotlib figures, for notebooks.
"""
import json
import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

# Text and frames, background, grid: the HTML report exchanges these three for its own.
INK, PAPER, RULE = "#1b1b1c", "#fdfdfe", "#b7b7b8"

# Okabe and Ito's palette, which the colour-blind can tell apart; a hatch for grey print. No dots:
# in an SVG they are circles, 150 kB a pattern.
CATEGORY = {
    "parameters": ("#0072b2", ""),
    "gradients": ("#d55e00", "///"),
    "accumulators": ("#e69f00", "xx"),
    "master_weights": ("#56b4e9", "xx"),
    "first_moments": ("#009e73", "++"),
    "second_moments": ("#f0e442", "\\\\\\"),
    "gathered_parameters": ("#56b4e9", ""),
    "gradient_buckets": ("#e69f00", "//"),
    "unit_gradients": ("#cc79a7", "\\\\"),
    "activations": ("#999999", ""),
    "communication_staging": ("#555555", "--"),
    "workspace": ("#cccccc", "///"),
}
OPERATION = {
    "all_reduce": ("#0072b2", ""),
    "reduce_scatter": ("#d55e00", "///"),
    "all_gather": ("#56b4e9", "\\\\\\"),
    "broadcast": ("#009e73", "||"),
    "all_to_all": ("#cc79a7", "xx"),
    "send": ("#e69f00", "++"),
    "recv": ("#f0e442", "--"),
    "barrier": ("#999999", ""),
}
LINES = [
    ("#000000", "-", "o"),
    ("#0072b2", "--", "s"),
    ("#d55e00", "-.", "^"),
    ("#009e73", ":", "D"),
    ("#cc79a7", (0, (5, 1)), "v"),
    ("#e69f00", (0, (3, 1, 1, 1)), "P"),
    ("#56b4e9", (0, (1, 1)), "X"),
]

STYLE = {
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.facecolor": PAPER,
    "legend.edgecolor": INK,
    "legend.framealpha": 0.9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "font.size": 9.5,
    "axes.titlesize": 11,
    "legend.fontsize": 8.5,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "zerolab",
}


def spoken(name):
    return name.replace("_", " ")


def byte_unit(largest):
    """The decimal unit in which `largest` has one to three digits before the point."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= factor:
            return factor, unit
    return 1, "B"


def figure_text(value, largest):
    """The same number of decimals all over a chart."""
    decimals = 0 if largest >= 100 or largest == 0 else 1 if largest >= 10 else 2
    return f"{value:,.{decimals}f}"


def line_of(index, reference):
    """The reference is black; ink, so that it can be seen on a dark page too."""
    color, style, marker = LINES[index % len(LINES)]
    return (INK if reference else color), style, marker


def numbers(values):
    return [float("nan") if value is None else value for value in values]


def subtitle(report):
    config = report["config"]
    ranks = "1 rank" if config["ranks"] == 1 else f'{config["ranks"]} ranks'
    return (f'{config["model"]}, {ranks}, {config["precision"]}, '
            f'{config["optimizer"]}, {config["reduction"]} reduction')


def plot_loss(report):
    """Loss and held-out loss; below, the difference to the reference, where zero can be seen."""
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(8.2, 6.0), sharex=True, height_ratios=(2.2, 1), constrained_layout=True)
    stages = report["stages"]
    unit = "" if report["config"]["model"] == "tied-mlp" else ", nats per token"  # regression
    reference = next((s for s in stages if s["name"] == report["reference"]), stages[0])
    base = numbers(reference["loss"])
    largest = 0.0
    for index, stage in enumerate(stages):
        color, style, marker = line_of(index, stage is reference)
        loss = numbers(stage["loss"])
        steps = range(1, len(loss) + 1)
        # Curves that coincide stay visible: wide lines below, and markers at different steps.
        every = max(1, len(loss) // 8)
        top.plot(steps, loss, color=color, linestyle=style, marker=marker, markersize=5,
                 markevery=(index * every // max(1, len(stages)), every),
                 linewidth=1.4 + 1.3 * (len(stages) - 1 - index), alpha=0.9, label=stage["name"])
        held_out = stage["held_out_loss"]
        if held_out:
            top.plot([e["step"] for e in held_out], numbers([e["loss"] for e in held_out]),
                     color=color, linestyle="none", marker=marker,
                     markersize=9 + 2 * (len(stages) - index), markerfacecolor="none",
                     markeredgewidth=1.2)
        if stage is reference:
            continue
        common = min(len(loss), len(base))
        difference = [loss[i] - base[i] for i in range(common)]
        largest = max([largest] + [abs(d) for d in difference if d == d])
        bottom.plot(range(1, common + 1), difference, color=color, linestyle=style, marker=marker,
                    markersize=4, markevery=(index * every // max(1, len(stages)), every),
                    linewidth=1.2 + 0.9 * (len(stages) - 1 - index), label=stage["name"])
    top.plot([], [], color=INK, linestyle="none", marker="o", markersize=9, markerfacecolor="none",
             label="held-out loss (hollow)")
    top.xaxis.set_major_locator(MaxNLocator(integer=True))
    top.set_ylabel("mean loss" + unit)
    top.set_title("Training loss\n" + subtitle(report))
    top.legend(loc="upper right")
    compared = len(stages) > 1
    bottom.axhline(0, color=INK, linewidth=0.8)
    # Zero must be told from tiny: below this threshold the axis is linear.
    threshold = max(1e-12, largest * 1e-6) if largest else 1e-9
    bottom.set_yscale("symlog", linthresh=threshold)
    limit = (largest or threshold) * 3
    bottom.set_ylim(-limit, limit)
    decades = [10.0 ** e for e in range(math.ceil(math.log10(threshold) + 0.5),
                                        math.floor(math.log10(limit)) + 1)]
    decades = decades[::-1][::max(1, (len(decades) + 2) // 3)] or [threshold]
    ticks = [-t for t in decades] + [0] + decades[::-1]
    bottom.set_yticks(ticks, [f"{t:.0e}" if t else "0" for t in ticks])
    bottom.minorticks_off()
    if compared and not largest:
        bottom.annotate("every difference is exactly 0", (0.5, 0.72), xycoords="axes fraction",
                        ha="center", fontweight="bold")
    elif compared:
        bottom.set_title(f"largest difference {largest:.2e}", fontsize=9.5, loc="right")
    bottom.set_ylabel(f'difference to\n{report["reference"]}' + unit.removesuffix(" per token"))
    bottom.set_xlabel("training step")
    return figure


def total_label(axes, x, height, top, bold):
    axes.annotate(figure_text(height, top), (x, height), xytext=(0, 2), ha="center",
                  textcoords="offset points", fontsize=9, fontweight="bold" if bold else "normal")


def stacked(axes, x, width, parts, palette, factor, faded, top):
    """One bar of `parts` {name: bytes}; returns its height, in units of `factor`. Parts that are
    tall enough for a number on an axis up to `top` have one, unless the bar is faded."""
    bottom = 0.0
    for name, (color, hatch) in palette.items():
        value = parts.get(name, 0) / factor
        if not value:
            continue
        axes.bar(x, value, width, bottom=bottom, color=color, hatch=hatch, edgecolor=INK,
                 linewidth=0.6, alpha=0.45 if faded else 1.0)
        if not faded and value > 0.04 * top and value < sum(parts.values()) / factor:
            axes.annotate(figure_text(value, top), (x, bottom + value / 2), ha="center",
                          va="center", fontsize=7.5, bbox={
                              "boxstyle": "round,pad=0.15", "facecolor": PAPER, "alpha": 0.85,
                              "edgecolor": "none"})
        bottom += value
    return bottom


def legend_of(names, palette):
    return [Patch(facecolor=palette[n][0], hatch=palette[n][1], edgecolor=INK, label=spoken(n))
            for n in palette if n in names]


def plot_memory(report):
    """Bytes at the largest total, by category, of the rank that holds most."""
    stages = report["stages"]
    ranks = [max(s["memory"]["per_rank"], key=lambda rank: rank["peak_bytes"]) for s in stages]
    predicted = ["predicted_at_peak" in rank for rank in ranks]
    factor, unit = byte_unit(max(rank["peak_bytes"] for rank in ranks))
    figure, axes = plt.subplots(figsize=(8.2, 5.2), constrained_layout=True)
    names = set()
    top = max(rank["peak_bytes"] for rank in ranks) / factor
    for i, rank in enumerate(ranks):
        measured = {k: v for k, v in rank["at_peak"].items() if k != "checks" and v}
        names |= set(measured)
        height = stacked(axes, i - 0.2, 0.36, measured, CATEGORY, factor, False, top)
        total_label(axes, i - 0.2, height, top, bold=True)
        if not predicted[i]:
            continue
        formula = {k: v for k, v in rank["predicted_at_peak"].items() if k != "checks" and v}
        names |= set(formula)
        height = stacked(axes, i + 0.2, 0.36, formula, CATEGORY, factor, True, top)
        total_label(axes, i + 0.2, height, top, bold=False)
    axes.set_xticks(range(len(stages)), [
        s["name"] + ("\n= predicted" if s["memory"]["as_predicted"] else
                     "\n≠ predicted" if has else "") for s, has in zip(stages, predicted)])
    if len(stages) > 4:
        axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.6, len(stages) - 0.4)
    axes.set_ylim(0, top * 1.1)
    axes.set_ylabel(f"held at the largest total, {unit}")
    axes.set_title("Memory of the rank that holds most: measured (left), predicted (right, pale);\n"
                   "= means to the byte — " + subtitle(report))
    handles = legend_of(names, CATEGORY)[::-1]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def traffic_panel(axes, report, group, title):
    """Bytes that the busiest rank sends in a step, by operation. Returns the operations drawn."""
    stages = report["stages"]
    bars, names = [], set()
    for stage in stages:
        rank = max(stage["communication"]["per_rank"], key=lambda r: r["sent_bytes_per_step"])
        sent = {op: v["sent_bytes"] for op, v in rank[group]["by_operation"].items()}
        formula = rank[group].get("predicted_by_operation")
        formula = formula and {op: v["sent_bytes"] for op, v in formula.items()}
        bars.append((sent, formula))
        names |= {op for part in (sent, formula or {}) for op, v in part.items() if v}
    largest = max([sum(part.values()) for pair in bars for part in pair if part] + [0])
    factor, unit = byte_unit(largest)
    top = largest / factor
    for i, (sent, formula) in enumerate(bars):
        measured = stacked(axes, i - 0.2, 0.36, sent, OPERATION, factor, False, top)
        if formula is None:
            total_label(axes, i - 0.2, measured, top, bold=True)
            continue
        predicted = stacked(axes, i + 0.2, 0.36, formula, OPERATION, factor, True, top)
        if measured == predicted:  # one number for both: two do not fit beside many stages
            total_label(axes, i, measured, top, bold=True)
        else:
            total_label(axes, i - 0.2, measured, top, bold=True)
            total_label(axes, i + 0.2, predicted, top, bold=False)
    axes.set_xticks(range(len(stages)), [s["name"] for s in stages])
    if len(stages) > 4:
        axes.tick_params(axis="x", labelrotation=30)
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.6, len(stages) - 0.4)
    axes.set_ylim(0, top * 1.12 or 1)
    axes.set_ylabel(f"sent, {unit}/step")
    axes.set_title(title, fontsize=10)
    return names


def plot_communication(report):
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.2, 4.8), width_ratios=(1.25, 1), constrained_layout=True)
    names = traffic_panel(left, report, "training", "training: gradients and parameters")
    names |= traffic_panel(right, report, "control", "control: losses and norms")
    figure.suptitle("Bytes sent in one step by the rank that sends most: measured (left), "
                    "predicted (right, pale);\none number where they agree — " + subtitle(report),
                    fontsize=10.5)
    if names:
        figure.get_layout_engine().set(rect=(0, 0.08, 1, 0.92))
        figure.legend(handles=legend_of(names, OPERATION), loc="lower center",
                      ncols=min(4, len(names)))
    return figure


def plot_throughput(report):
    """Tokens per second, and the spread of the step time over the steps."""
    stages = report["stages"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 4.2), constrained_layout=True)
    for i, stage in enumerate(stages):
        color, _, _ = LINES[i % len(LINES)]
        color = "#777777" if color == "#000000" else color
        speed = stage["throughput"]["tokens_per_second"]
        left.bar(i, speed, 0.6, color=color, edgecolor=INK, linewidth=0.6,
                 hatch=("", "///", "\\\\\\", "++", "xx", "||", "--")[i % 7])
        left.annotate(f"{speed:,.0f}", (i, speed), xytext=(0, 2), textcoords="offset points",
                      ha="center", fontweight="bold", fontsize=9)
        per_rank = [numbers(r["seconds"]) for r in stage["throughput"]["step_seconds_per_rank"]]
        slowest = [1000 * max(step) for step in zip(*per_rank)]
        if not slowest:
            continue
        right.boxplot([slowest], positions=[i], widths=0.5, whis=(5, 95), showfliers=False,
                      patch_artist=True,
                      boxprops={"facecolor": color, "edgecolor": INK, "alpha": 0.8},
                      medianprops={"color": INK, "linewidth": 1.6},
                      whiskerprops={"color": INK}, capprops={"color": INK})
        median = 1000 * stage["throughput"]["step_seconds_median"]
        right.annotate(figure_text(median, median), (i + 0.28, median), xytext=(2, 0), fontsize=8.5,
                       textcoords="offset points", va="center")
    names = [s["name"] for s in stages]
    for axes in (left, right):
        axes.set_xticks(range(len(stages)), names, rotation=30 if len(stages) > 4 else 0)
        axes.set_xlim(-0.6, len(stages) - 0.25)
        axes.grid(axis="x", visible=False)
    left.margins(y=0.12)
    right.set_ylim(bottom=0)
    left.set_ylabel("tokens per second, all ranks")
    right.set_ylabel("milliseconds per step, slowest rank")
    left.set_title("tokens of a step / median step", fontsize=10)
    right.set_title("median, quartiles, 5 % and 95 %", fontsize=10)
    figure.suptitle("Throughput on this machine — " + subtitle(report), fontsize=10.5)
    return figure


PLOTS = {
    "loss": plot_loss,
    "memory": plot_memory,
    "communication": plot_communication,
    "throughput": plot_throughput,
}


def save(figure, directory, name):
    """PNG and SVG, each complete or not there at all."""
    for ending, options in (("png", {"dpi": 150}), ("svg", {"metadata": {"Date": None}})):
        target = os.path.join(directory, f"{name}.{ending}")
        partial = target + ".partial"
        try:
            figure.savefig(partial, format=ending, **options)
            os.replace(partial, target)
        finally:
            if os.path.exists(partial):
                os.remove(partial)


def main(arguments):
    if len(arguments) != 3:
        print("usage: plots.py REPORT_JSON DIRECTORY", file=sys.stderr)
        return 2
    try:
        with open(arguments[1], encoding="utf-8") as file:
            report = json.load(file)
        with plt.rc_context(STYLE):
            for name, plot in PLOTS.items():
                figure = plot(report)
                save(figure, arguments[2], name)
                plt.close(figure)
    except OSError as error:
        print(f"{error.strerror or error}: {error.filename or arguments[2]}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
