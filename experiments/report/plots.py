#!/usr/bin/env python3
"""Draws the plots of a run from its report.json: curves, memory, communication, throughput.

    plots.py DIR/report.json DIR      writes DIR/loss.png, DIR/loss.svg, …

The functions `plot_…(report)` return matplotlib figures, for notebooks.
"""
import json
import os
import sys

from plot_style import (CATEGORY, INK, LINES, OPERATION, PAPER, STYLE, byte_unit, figure_text,
                        numbers, spoken, subtitle)
from plot_curves import plot_grad_norm, plot_loss

import matplotlib.pyplot as plt
from matplotlib.patches import Patch


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
    "grad_norm": plot_grad_norm,
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
