#!/usr/bin/env python3
"""Draws a plan: memory by stage, memory and largest model against ranks, traffic and time.

    plan_plots.py DIR/report.json DIR      writes DIR/plan_memory.png, DIR/plan_memory.svg, …
"""
import json
import pathlib
import sys

# The charts of a run and of a plan look alike.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "report"))
import plot_style  # noqa: E402
import plots  # noqa: E402

plt = plots.plt

BYTE_UNITS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))
TIMES = {"computing": ("#0072b2", ""), "exposed communication": ("#d55e00", "///")}
WORK = {"forward": ("#0072b2", ""), "backward": ("#009e73", ""), "update": ("#f0e442", ""),
        "all_reduce": ("#cc79a7", ""), "reduce_scatter": ("#d55e00", ""),
        "all_gather": ("#56b4e9", "")}
NODES = {"inside nodes": ("#56b4e9", ""), "between nodes": ("#d55e00", "///")}


def byte_unit(largest):
    return next((unit for unit in BYTE_UNITS if largest >= unit[0]), BYTE_UNITS[-1])


def subtitle(plan):
    recipe, cluster = plan["recipe"], plan["cluster"]
    device = f' on {cluster["device"]}' if cluster["device"] else ""
    return (f'{plan["model"]}, {cluster["ranks"]:,} ranks{device}, {recipe["precision"]}, '
            f'{recipe["optimizer"]}, {recipe["micro_batch"]} x {recipe["sequence"]} tokens')


def bars(plan, parts_of, palette, factor, ylabel, title, limit=None):
    """One stacked bar a stage; `limit`: a line to stay below, (height, label)."""
    figure, axes = plt.subplots(figsize=(8.2, 5.0), constrained_layout=True)
    stages = plan["stages"]
    top = max(sum(parts_of(s).values()) for s in stages) / factor
    names = set()
    for i, stage in enumerate(stages):
        parts = {k: v for k, v in parts_of(stage).items() if v}
        names |= set(parts)
        height = plots.stacked(axes, i, 0.6, parts, palette, factor, False, top)
        plots.total_label(axes, i, height, top, bold=True)
    if limit and limit[0] / factor < 20 * top:
        axes.axhline(limit[0] / factor, color=plots.INK, linestyle="--", linewidth=1.2)
        axes.annotate(limit[1], (len(stages) - 0.45, limit[0] / factor), xytext=(0, 3), ha="right",
                      textcoords="offset points", fontsize=8.5)
        top = max(top, limit[0] / factor)
    axes.set_xticks(range(len(stages)), [s["stage"] for s in stages])
    axes.set_xlim(-0.6, len(stages) - 0.4)
    axes.set_ylim(0, top * 1.1 or 1)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel(ylabel)
    axes.set_title(f"{title}\n{subtitle(plan)}")
    axes.legend(handles=plots.legend_of(names, palette)[::-1], loc="center left",
                bbox_to_anchor=(1.01, 0.5))
    return figure


def plot_memory(plan):
    factor, unit = byte_unit(max(s["memory"]["peak_bytes"] for s in plan["stages"]))
    memory = plan["cluster"]["memory_bytes"]
    limit = (memory, f"the device's {memory / 1e9:g} GB") if memory else None
    return bars(plan, lambda s: s["memory"]["at_peak"], plots.CATEGORY, factor,
                f"held by one rank at its largest total, {unit}", "Planned memory", limit)


def plot_traffic(plan):
    factor, unit = byte_unit(max(s["traffic"]["sent_bytes"] for s in plan["stages"]))

    def parts(stage):
        return {o["operation"]: o["sent_intra_bytes"] + o["sent_inter_bytes"]
                for o in stage["traffic"]["collectives"] if o["traffic"] == "training"}

    return bars(plan, parts, plots.OPERATION, factor, f"sent by one rank in a step, {unit}",
                "Planned traffic")


def plot_nodes(plan):
    factor, unit = byte_unit(max(s["traffic"]["sent_bytes"] for s in plan["stages"]))

    def parts(stage):
        inter = stage["traffic"]["mean_sent_inter_bytes"]
        return {"inside nodes": stage["traffic"]["sent_bytes"] - inter, "between nodes": inter}

    return bars(plan, parts, NODES, factor, f"sent by the mean rank in a step, {unit}",
                "Planned traffic, inside and between nodes")


def plot_time(plan):
    longest = max(s["time"]["step_seconds"] for s in plan["stages"])
    factor, unit = (1, "seconds") if longest >= 1 else (1e-3, "milliseconds")

    def parts(stage):
        time = stage["time"]
        return {"computing": time["step_seconds"] - time["exposed_communication_seconds"],
                "exposed communication": time["exposed_communication_seconds"]}

    return bars(plan, parts, TIMES, factor, f"one step, {unit}", "Planned time of a step")


def plot_timeline(plan):
    """What the two streams of a rank do in one step, stage by stage."""
    figure, axes = plt.subplots(figsize=(8.2, 1.2 + 1.1 * len(plan["timelines"])),
                                constrained_layout=True)
    longest = max(o["end"] for t in plan["timelines"] for o in t["operations"])
    factor, unit = (1, "seconds") if longest >= 1 else (1e-3, "milliseconds")
    names, ticks = set(), []
    for row, timeline in enumerate(plan["timelines"]):
        for stream, offset in (("compute", 0.2), ("communication", -0.2)):
            y = len(plan["timelines"]) - row + offset
            ticks.append((y, f'{timeline["stage"]}, {stream}'))
            for name, (color, _) in WORK.items():
                spans = [(o["begin"] / factor, (o["end"] - o["begin"]) / factor)
                         for o in timeline["operations"]
                         if o["stream"] == stream and o["name"] == name]
                if spans:
                    names.add(name)
                    axes.broken_barh(spans, (y - 0.17, 0.34), facecolor=color, edgecolor=plots.INK,
                                     linewidth=0.15)
    axes.set_yticks([y for y, _ in ticks], [label for _, label in ticks])
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{unit} after the update of the step before")
    axes.set_title("Planned timeline of a step\n" + subtitle(plan))
    axes.legend(handles=plots.legend_of(names, WORK), loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def against_ranks(plan, key, factor, ylabel, title, limit=None):
    figure, axes = plt.subplots(figsize=(8.2, 5.0), constrained_layout=True)
    for index, stage in enumerate([s["stage"] for s in plan["stages"]]):
        points = [p for p in plan["sweep"] if p["stage"] == stage and p[key] > 0]
        color, style, marker = plot_style.line_of(index, index == 0)
        axes.plot([p["ranks"] for p in points], [p[key] / factor for p in points], color=color,
                  linestyle=style, marker=marker, markersize=5, label=stage,
                  linewidth=1.4 + 0.8 * (len(plan["stages"]) - 1 - index))
    if limit:
        axes.axhline(limit[0] / factor, color=plots.INK, linestyle="--", linewidth=1.2)
        axes.annotate(limit[1], (max(p["ranks"] for p in plan["sweep"]), limit[0] / factor),
                      xytext=(0, 3), textcoords="offset points", ha="right", fontsize=8.5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ranks = sorted({p["ranks"] for p in plan["sweep"]})
    axes.set_xticks(ranks[::2], [f"{r:,}" for r in ranks[::2]])
    axes.minorticks_off()
    axes.set_xlabel("ranks")
    axes.set_ylabel(ylabel)
    axes.set_title(f"{title}\n{subtitle(plan)}")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def plot_memory_by_ranks(plan):
    factor, unit = byte_unit(max(p["peak_bytes"] for p in plan["sweep"]))
    memory = plan["cluster"]["memory_bytes"]
    limit = (memory, f"the device's {memory / 1e9:g} GB") if memory else None
    return against_ranks(plan, "peak_bytes", factor, f"largest total of one rank, {unit}",
                         "Memory against ranks", limit)


def plot_largest_model(plan):
    return against_ranks(plan, "largest_model_parameters", 1e9,
                         "parameters of the largest model that fits, 10⁹",
                         "The largest model by ranks, everything counted")


def wanted(plan):
    yield "plan_memory", plot_memory
    yield "plan_traffic", plot_traffic
    if any(s["traffic"]["sent_inter_bytes"] for s in plan["stages"]):
        yield "plan_nodes", plot_nodes
    if all("time" in s for s in plan["stages"]):
        yield "plan_time", plot_time
        yield "plan_timeline", plot_timeline
    yield "plan_memory_by_ranks", plot_memory_by_ranks
    if any(p["largest_model_parameters"] for p in plan["sweep"]):
        yield "plan_largest_model", plot_largest_model


def main(arguments):
    if len(arguments) != 3:
        print("usage: plan_plots.py REPORT_JSON DIRECTORY", file=sys.stderr)
        return 2
    try:
        with open(arguments[1], encoding="utf-8") as file:
            plan = json.load(file)
        with plt.rc_context(plots.STYLE):
            for name, plot in wanted(plan):
                figure = plot(plan)
                plots.save(figure, arguments[2], name)
                plt.close(figure)
    except OSError as error:
        print(f"{error.strerror or error}: {error.filename or arguments[2]}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
