"""The curves of a run over its steps, each with the differences to the reference below."""

import math

from plot_style import INK, PAPER, RULE, line_of, numbers, subtitle

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator


def reference_of(report):
    stages = report["stages"]
    return next((s for s in stages if s["name"] == report["reference"]), stages[0])


def look(report, index, narrowest, step):
    """How stage number `index` is drawn. Curves that coincide stay visible: wide lines below, and
    markers at different steps."""
    stages = report["stages"]
    stage = stages[index]
    color, style, marker = line_of(index, stage is reference_of(report))
    every = max(1, len(stage["loss"]) // 8)
    return {"color": color, "linestyle": style, "marker": marker, "label": stage["name"],
            "markevery": (index * every // max(1, len(stages)), every),
            "linewidth": narrowest + step * (len(stages) - 1 - index)}


def draw_curves(axes, report, key):
    for index, stage in enumerate(report["stages"]):
        values = numbers(stage[key])
        axes.plot(range(1, len(values) + 1), values, markersize=5, alpha=0.9,
                  **look(report, index, 1.4, 1.3))


def draw_noise_floor(axes, report, key):
    """The band around zero in which a right run stays; returns its half-widths."""
    floor = report["noise_floor"]
    allowed = numbers(floor[key]) if floor else []
    if not any(allowed):
        return []
    # Half a step more on either side, so that a single step can be seen, too.
    steps = [0.5, *range(1, len(allowed) + 1), len(allowed) + 0.5]
    edge = [allowed[0], *allowed, allowed[-1]]
    axes.fill_between(steps, [-x for x in edge], edge, step="mid", facecolor=RULE, alpha=0.6,
                      linewidth=0,
                      label=f'{floor["clean_runs"]} clean runs in other orders, '
                            f'×{floor["factor"]:g}')
    return allowed


def draw_bound(axes, report, key):
    """How far sums that are off by their whole rounding bound lead; returns the half-widths."""
    floor = report["noise_floor"]
    bound = numbers(floor[key + "_bound"]) if floor else []
    if not any(bound):
        return []
    steps = range(1, len(bound) + 1)
    look_of = {"color": INK, "linewidth": 0.9, "linestyle": (0, (1, 2)), "drawstyle": "steps-mid"}
    axes.plot(steps, bound, label=f'sums off by their rounding bound, ×{floor["factor"]:g}',
              **look_of)
    axes.plot(steps, [-x for x in bound], label="_", **look_of)
    return bound


def scale_around_zero(axes, largest, band):
    """A symmetric axis, linear below a threshold: there a tenth of the band, so that one sees where
    in it a difference lies; without a band so small that zero can be told from tiny."""
    if band:
        threshold = 0.1 * min(x for x in [*band, largest] if x > 0)
    else:
        threshold = max(1e-12, largest * 1e-6) if largest else 1e-9
    axes.set_yscale("symlog", linthresh=threshold)
    limit = (max([largest, *band]) or threshold) * 3
    axes.set_ylim(-limit, limit)
    decades = [10.0 ** e for e in range(math.ceil(math.log10(threshold) + 0.5),
                                        math.floor(math.log10(limit)) + 1)]
    decades = decades[::-1][::max(1, (len(decades) + 2) // 3)] or [threshold]
    ticks = [-t for t in decades] + [0] + decades[::-1]
    axes.set_yticks(ticks, [f"{t:.0e}" if t else "0" for t in ticks])
    axes.minorticks_off()


def draw_differences(axes, report, key, unit):
    """Each stage's distance from the reference, step by step, and the noise floor."""
    reference = reference_of(report)
    base = numbers(reference[key])
    band = draw_noise_floor(axes, report, key)
    bound = draw_bound(axes, report, key)
    largest = 0.0
    for index, stage in enumerate(report["stages"]):
        if stage is reference:
            continue
        difference = [x - y for x, y in zip(numbers(stage[key]), base)]
        largest = max([largest] + [abs(d) for d in difference if math.isfinite(d)])
        axes.plot(range(1, len(difference) + 1), difference, markersize=4,
                  **look(report, index, 1.2, 0.9) | {"label": "_"})
    axes.axhline(0, color=INK, linewidth=0.8)
    scale_around_zero(axes, largest, [*band, *bound])
    if len(report["stages"]) > 1 and not largest:
        axes.annotate("every difference is exactly 0", (0.5, 0.72), xycoords="axes fraction",
                      ha="center", fontweight="bold", bbox={
                          "boxstyle": "round,pad=0.2", "facecolor": PAPER, "alpha": 0.85,
                          "edgecolor": "none"})
    elif len(report["stages"]) > 1:
        axes.set_title(f"largest difference {largest:.2e}", fontsize=9.5, loc="right")
    if band or bound:  # above the panel, where no curve is
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.1,
                    ncols=2)
    axes.set_ylabel(f'difference to\n{report["reference"]}{unit}')
    axes.set_xlabel("training step")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(*limits_of_steps(len(base)))


def limits_of_steps(steps):
    margin = max(0.5, 0.04 * steps)
    return 1 - margin, max(1, steps) + margin


def plot_loss(report):
    """Loss and held-out loss; below, the difference to the reference, where zero can be seen."""
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(8.2, 6.0), sharex=True, height_ratios=(2.2, 1), constrained_layout=True)
    stages = report["stages"]
    unit = "" if report["config"]["model"] == "tied-mlp" else ", nats per token"  # regression
    draw_curves(top, report, "loss")
    for index, stage in enumerate(stages):
        held_out = stage["held_out_loss"]
        if held_out:
            color, _, marker = line_of(index, stage is reference_of(report))
            top.plot([e["step"] for e in held_out], numbers([e["loss"] for e in held_out]),
                     color=color, linestyle="none", marker=marker,
                     markersize=9 + 2 * (len(stages) - index), markerfacecolor="none",
                     markeredgewidth=1.2)
    top.plot([], [], color=INK, linestyle="none", marker="o", markersize=9, markerfacecolor="none",
             label="held-out loss (hollow)")
    top.set_ylabel("mean loss" + unit)
    top.set_title("Training loss\n" + subtitle(report))
    top.legend(loc="upper right")
    draw_differences(bottom, report, "loss", unit.removesuffix(" per token"))
    return figure


def mark_skipped(axes, report):
    """A cross on the lower edge for each step that some stage skipped."""
    skipped = sorted({step for stage in report["stages"] for step in stage["skipped"]})
    if skipped:
        axes.plot(skipped, [0.03] * len(skipped), transform=axes.get_xaxis_transform(), color=INK,
                  linestyle="none", marker="x", markersize=6, markeredgewidth=1.4,
                  label=f"skipped: the gradient overflowed ({len(skipped)})")


def draw_loss_scale(axes, report):
    for index, stage in enumerate(report["stages"]):
        scale = numbers(stage["loss_scale"])
        axes.step(range(1, len(scale) + 1), scale, where="mid",
                  **look(report, index, 1.2, 0.9) | {"marker": ""})
    axes.set_yscale("log", base=2)
    axes.margins(y=0.15)
    axes.set_ylabel("loss scale")


def plot_grad_norm(report):
    """The gradient norm before clipping; below, the difference to the reference, and in fp16 the
    loss scale."""
    scaled = report["config"]["precision"] == "fp16"
    figure, panels = plt.subplots(
        3 if scaled else 2, 1, figsize=(8.2, 7.0 if scaled else 6.0), sharex=True,
        height_ratios=(2.2, 1, 0.6) if scaled else (2.2, 1), constrained_layout=True)
    top, middle = panels[:2]
    draw_curves(top, report, "grad_norm")
    clip = report["config"]["clip"]
    if clip > 0:
        top.axhline(clip, color=INK, linewidth=0.8, linestyle=(0, (6, 3)))
        top.annotate(f"clipped above {clip:g}", (1, clip), xycoords=("axes fraction", "data"),
                     xytext=(-2, 2), textcoords="offset points", ha="right", fontsize=8.5)
    mark_skipped(top, report)
    top.set_ylim(bottom=0)
    top.set_ylabel("norm of the mean gradient")
    top.set_title("Gradient norm before clipping\n" + subtitle(report))
    top.legend(loc="best")
    draw_differences(middle, report, "grad_norm", "")
    if scaled:
        middle.set_xlabel("")
        draw_loss_scale(panels[2], report)
        panels[2].set_xlabel("training step")
    return figure
