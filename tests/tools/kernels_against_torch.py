"""Recomputes kernels with PyTorch, an independent implementation, and compares.

    python3 kernels_against_torch.py DIR

DIR holds `manifest.txt`, one array a line (`case name dtype dim dim ...`), and each array's raw
little-endian bytes in `case.name`. Arrays whose names start with "out_" are what the kernel wrote.
Exit code: 0 all agree, 1 some do not, 77 there is no PyTorch.
"""

import math
import pathlib
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("PyTorch is not installed (Debian: python3-torch)")
    sys.exit(77)

DTYPES = {"fp32": torch.float32, "fp64": torch.float64, "int32": torch.int32}


def load(directory):
    cases = {}
    for line in (directory / "manifest.txt").read_text().splitlines():
        case, name, dtype, *shape = line.split()
        raw = bytearray((directory / f"{case}.{name}").read_bytes())
        array = torch.frombuffer(raw, dtype=DTYPES[dtype]).reshape([int(d) for d in shape])
        cases.setdefault(case, {})[name] = array.long() if dtype == "int32" else array.double()
    return cases


def leaf(x):
    return x.clone().requires_grad_(True)


def layer_norm(c):
    x, w, b = leaf(c["x"]), leaf(c["w"]), leaf(c["b"])
    y = F.layer_norm(x, x.shape[-1:], w, b, 1e-5)
    y.backward(c["dy"])
    return {"y": y, "dx": x.grad, "dw": w.grad, "db": b.grad}


def linear_gelu(c):
    x, w, b = leaf(c["x"]), leaf(c["w"]), leaf(c["b"])
    pre = x @ w + b
    pre.retain_grad()
    y = F.gelu(pre, approximate="tanh")
    y.backward(c["dy"])
    return {"pre": pre, "y": y, "dx": x.grad, "dw": w.grad, "db": b.grad}


def attention(c):
    qkv = leaf(c["qkv"])
    batch, time, channels3 = qkv.shape
    heads = int(c["heads"].item())
    size = channels3 // 3 // heads
    q, k, v = (t.view(batch, time, heads, size).transpose(1, 2) for t in qkv.chunk(3, dim=2))
    scores = q @ k.transpose(2, 3) / math.sqrt(size)
    future = torch.ones(time, time, dtype=torch.bool).triu(1)
    p = scores.masked_fill(future, -math.inf).softmax(-1)
    y = (p @ v).transpose(1, 2).reshape(batch, time, -1)
    y.backward(c["dy"])
    return {"y": y, "dqkv": qkv.grad}


def cross_entropy(c):
    logits = leaf(c["logits"])
    loss = F.cross_entropy(logits, c["targets"], ignore_index=-1, reduction="sum")
    (loss * c["scale"].item()).backward()
    return {"loss": loss.reshape(1), "dlogits": logits.grad}


def optimizer(c, make):
    """Two groups, as trainers make them: the first half of p decays, the second does not."""
    half = c["p"].numel() // 2
    parts = [leaf(c["p"][:half]), leaf(c["p"][half:])]
    decay = c["rule"][-1].item()
    steps = make([{"params": parts[:1], "weight_decay": decay},
                  {"params": parts[1:], "weight_decay": 0.0}], c["rule"])
    for gradient in c["gradients"] * c["factor"].item():
        parts[0].grad, parts[1].grad = gradient[:half].clone(), gradient[half:].clone()
        steps.step()
    return {"p": torch.cat(parts)}


def adamw(c):
    return optimizer(c, lambda groups, r: torch.optim.AdamW(
        groups, lr=r[0].item(), betas=(r[1].item(), r[2].item()), eps=r[3].item()))


def sgd(c):
    return optimizer(c, lambda groups, r: torch.optim.SGD(
        groups, lr=r[0].item(), momentum=r[1].item()))


ORACLES = [layer_norm, linear_gelu, attention, cross_entropy, adamw, sgd]


def main():
    torch.set_num_threads(1)  # the arrays are tiny, and tests run side by side
    cases = load(pathlib.Path(sys.argv[1]))
    failures = 0
    for oracle in ORACLES:
        case = cases[oracle.__name__]
        expected = oracle(case)
        names = {name[4:] for name in case if name.startswith("out_")}
        assert names == set(expected), (oracle.__name__, names, set(expected))
        for name, value in expected.items():
            actual = case["out_" + name]
            error = ((actual - value).abs() / (1 + value.abs())).max().item()
            # Written so that NaN fails; an all-zero expectation would prove nothing.
            agrees = error < 1e-5 and value.abs().max().item() > 0
            print(f"{oracle.__name__}.{name}: largest error {error:.2e}",
                  "" if agrees else "DIFFERS")
            failures += not agrees
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
