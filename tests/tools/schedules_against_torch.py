"""Compares learning rates with those of PyTorch's schedulers.

    python3 schedules_against_torch.py FILE

FILE is a JSON list of schedules: peak, warmup_steps (at least 2), warmup_from, total_steps, decay,
final_fraction, and "rates", one a step. Exit code: 0 all agree, 1 some do not, 77 there is no
PyTorch.
"""

import json
import sys

try:
    import torch
    from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LinearLR, SequentialLR
except ImportError:
    print("PyTorch is not installed (Debian: python3-torch)")
    sys.exit(77)

TOLERANCE = 1e-12  # PyTorch multiplies its way from step to step


def torch_rates(s):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=s["peak"])
    warmup, falling = s["warmup_steps"], s["total_steps"] - s["warmup_steps"]
    # The first step already is one step above the rate that warm-up rises from.
    start = s["warmup_from"] / s["peak"]
    first = start + (1 - start) / warmup
    rise = LinearLR(optimizer, start_factor=first, end_factor=1.0, total_iters=warmup - 1)
    if s["decay"] == "cosine":
        fall = CosineAnnealingLR(optimizer, T_max=falling, eta_min=s["final_fraction"] * s["peak"])
    elif s["decay"] == "linear":
        fall = LinearLR(optimizer, start_factor=1.0, end_factor=s["final_fraction"], total_iters=falling)
    else:
        fall = ConstantLR(optimizer, factor=1.0)
    both = SequentialLR(optimizer, [rise, fall], milestones=[warmup - 1])
    rates = []
    for _ in s["rates"]:
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        both.step()
    return rates


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schedules = json.load(file)
    wrong = []
    for s in schedules:
        for step, (ours, torchs) in enumerate(zip(s["rates"], torch_rates(s)), 1):
            if not abs(ours - torchs) <= TOLERANCE * s["peak"]:
                wrong.append(f"{s['decay']}, step {step}: {ours!r}, PyTorch has {torchs!r}")
    if wrong or not schedules:
        sys.exit("\n".join(wrong) or "there is nothing to compare")
    print(f"{len(schedules)} schedules agree with PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
