"""Colours, hatches, lines and words that all plots of a run share."""

import matplotlib

matplotlib.use("Agg")  # before pyplot is imported by anybody

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
