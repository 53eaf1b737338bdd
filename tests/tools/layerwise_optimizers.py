"""LAMB and Muon once more, from the papers, in fp64 on whole tensors.

    python3 layerwise_optimizers.py RUN.json...

RUN.json: settings, and for each tensor its start, its gradients and where the run ended. Weights
are (in, out). Exit code: 0 all agree, 1 some do not, 77 there is no PyTorch.
"""

import json
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed (Debian: python3-torch)")
    sys.exit(77)


def tensor(values, shape):
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def adam_direction(gradients, betas, epsilon):
    """Yields m̂ / (√v̂ + ε) after each gradient."""
    m = v = torch.zeros_like(gradients[0])
    for step, g in enumerate(gradients, 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        yield m / (1 - betas[0] ** step) / ((v / (1 - betas[1] ** step)).sqrt() + epsilon)


def adamw(w, gradients, lr, decay, run):
    """The library's own, so that what Muon leaves to it is checked as well."""
    w = torch.nn.Parameter(w.clone())
    optimizer = torch.optim.AdamW([w], lr=lr, betas=run["betas"], eps=run["epsilon"],
                                  weight_decay=decay)
    for g in gradients:
        w.grad = g
        optimizer.step()
    return w.detach()


def lamb(w, gradients, lr, decay, run):
    for direction in adam_direction(gradients, run["betas"], run["epsilon"]):
        u = direction + decay * w
        ratio = w.norm() / u.norm() if w.norm() > 0 and u.norm() > 0 else 1.0
        w = w - lr * ratio * u
    return w


def newton_schulz(u):
    """Of Jordan's (out, in) weights: rows are outputs."""
    x = u / (u.norm() + 1e-7)
    if x.shape[0] > x.shape[1]:
        return newton_schulz(u.T).T
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def muon(w, gradients, lr, decay, run):
    w = w.T
    momentum = torch.zeros_like(w)
    for g in gradients:
        momentum = run["momentum"] * momentum + g.T
        o = newton_schulz(g.T + run["momentum"] * momentum)
        singular = torch.linalg.svdvals(o)
        # A random square matrix has a few singular values that five iterations cannot lift.
        assert 0.6 < singular.median() < 1.25 and singular.max() < 1.25, singular
        w = w * (1 - lr * decay) - lr * max(1, w.shape[0] / w.shape[1]) ** 0.5 * o
    return w.T


def expected(t, run):
    w = tensor(t["start"], t["shape"])
    gradients = [tensor(g, t["shape"]) * run["factor"] for g in t["gradients"]]
    decay = run["weight_decay"] if t["decay"] else 0.0
    if run["optimizer"] == "lamb":
        return lamb(w, gradients, run["lr"], decay, run)
    if t["hidden"]:
        return muon(w, gradients, run["lr"], decay, run)
    return adamw(w, gradients, run["lr"] * run["adamw_rate"], decay, run)


def differing(run):
    """How many tensors of a run did not end where they should."""
    failures = 0
    for t in run["tensors"]:
        value, actual = expected(t, run), tensor(t["result"], t["shape"])
        error = ((actual - value).abs() / (1 + value.abs())).max().item()
        moved = (value - tensor(t["start"], t["shape"])).abs().max() > 1e-3
        agrees = moved and error < 1e-5  # a NaN is not less
        print(f"{run['optimizer']} {t['name']}: largest error {error:.2e}",
              "" if agrees else "DIFFERS")
        failures += not agrees
    return failures


def main():
    torch.set_num_threads(1)
    failures = sum(differing(json.load(open(path))) for path in sys.argv[1:])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
