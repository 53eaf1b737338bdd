"""Trains the same weights on the same batches with PyTorch and compares.

    torch_oracle.py DIRECTORY

DIRECTORY holds case.json (model, sizes, batches, optimizer, losses) and three safetensors files
written by zerolab: initial.safetensors, gradients.safetensors (summed over the first step's
micro-batches) and final.safetensors (after all steps). Everything here runs in double precision, so what differs is
zerolab's rounding, and the tolerances are a few times that.

Exit code: 0 agreement, 1 disagreement (each one printed), 77 PyTorch is not installed.
"""

import json
import math
import struct
import sys
from pathlib import Path

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("PyTorch is not installed (Debian: python3-torch)")
    sys.exit(77)

# Of the largest gradient in the tensor, plus of the largest gradient anywhere: some gradients are
# zero in exact arithmetic (the bias of the keys) and consist of rounding alone.
GRADIENT_TOLERANCE = 4e-6
GRADIENT_FLOOR = 2e-7
LOSS_TOLERANCE = 5e-7
# Of the largest change that training made to the tensor.
UPDATE_TOLERANCE = 2e-4


def read_safetensors(path):
    """All tensors of an F32 file as float64, by name; reads the format with struct and json alone."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(bytearray(body[begin:end]), dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"]).double()
    return tensors


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011): four 32-bit numbers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Dropout:
    """Masks that follow from (seed, step, sample, site, element) alone."""

    def __init__(self, probability, seed, step, first_sample):
        self.probability, self.first_sample = probability, first_sample
        self.key = (seed & 0xFFFFFFFF, ((seed >> 32) + step) & 0xFFFFFFFF)

    def __call__(self, x, layer, site):
        if self.probability == 0:
            return x
        size = x[0].numel()
        words = []
        for sample in range(self.first_sample, self.first_sample + x.shape[0]):
            row = []
            for group in range((size + 3) // 4):
                row += philox((group, 0, sample, 8 * layer + site), self.key)
            words += row[:size]
        kept = torch.tensor(words).reshape(x.shape) >= self.probability * 2**32
        return x * kept / (1 - self.probability)


def gpt2_loss(w, config, inputs, targets, drop):
    """GPT-2 from its description. Weights of linear layers are (in, out)."""
    heads = config["heads"]
    batch, time = inputs.shape

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], 1e-5)

    def attention(x, name, layer):
        q, k, v = (
            part.reshape(batch, time, heads, -1).transpose(1, 2)
            for part in linear(x, name + ".c_attn").chunk(3, dim=-1)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        future = torch.ones(time, time, dtype=torch.bool).triu(1)
        mixed = drop(scores.masked_fill(future, -math.inf).softmax(-1), layer, 1) @ v
        return linear(mixed.transpose(1, 2).reshape(batch, time, -1), name + ".c_proj")

    x = drop(w["wte.weight"][inputs] + w["wpe.weight"][:time], 0, 0)
    for layer in range(config["layers"]):
        h = f"h.{layer}"
        x = x + drop(attention(norm(x, h + ".ln_1"), h + ".attn", layer), layer, 2)
        inner = F.gelu(linear(norm(x, h + ".ln_2"), h + ".mlp.c_fc"), approximate="tanh")
        x = x + drop(linear(inner, h + ".mlp.c_proj"), layer, 3)
    logits = norm(x, "ln_f") @ w["wte.weight"].T
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def tied_mlp_loss(w, config, inputs, targets, drop):
    x = inputs
    for layer in [*range(config["layers"] - 1), 0]:
        x = x @ w[f"layers.{layer}.weight"] + w[f"layers.{layer}.bias"]
    return F.mse_loss(x, targets)


def make_optimizer(settings, parameters):
    decayed = [p for p in parameters if p.dim() > 1]
    others = [p for p in parameters if p.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": settings["weight_decay"]},
        {"params": others, "weight_decay": 0.0},
    ]
    if settings["type"] == "adamw":
        return torch.optim.AdamW(
            groups, lr=settings["lr"], betas=settings["betas"], eps=settings["epsilon"]
        )
    return torch.optim.SGD(groups, lr=settings["lr"], momentum=settings["momentum"])


class Verdict:
    def __init__(self):
        self.failures = 0
        self.worst = {}

    def check(self, kind, name, error, allowed):
        # Written so that a NaN on either side fails.
        ratio = error / allowed
        if not ratio <= 1:
            self.failures += 1
            print(f"{kind} of {name}: off by {error:.3e}, allowed {allowed:.3e}")
        if not ratio <= self.worst.get(kind, 0):
            self.worst[kind] = ratio


def as_batch(case, values):
    if case["model"] == "gpt":
        return torch.tensor(values).reshape(case["batch"], case["time"])
    return torch.tensor(values, dtype=torch.float64).reshape(case["batch"], -1)


def main(directory):
    torch.set_num_threads(1)  # the work is tiny; more threads only get into each other's way
    case = json.loads((directory / "case.json").read_text())
    loss_of = gpt2_loss if case["model"] == "gpt" else tied_mlp_loss
    initial = read_safetensors(directory / "initial.safetensors")
    weights = {name: t.clone().requires_grad_() for name, t in initial.items()}
    optimizer = make_optimizer(case["optimizer"], list(weights.values()))
    verdict = Verdict()

    def loss(batch, drop):
        inputs, targets = (as_batch(case, batch[key]) for key in ("inputs", "targets"))
        return loss_of(weights, case["config"], inputs, targets, drop)

    ours = read_safetensors(directory / "gradients.safetensors")
    assert ours.keys() == weights.keys(), "tensor names differ"
    for step, micro_batches in enumerate(case["steps"]):
        optimizer.zero_grad()
        for k, batch in enumerate(micro_batches):
            drop = Dropout(case["dropout"], case["seed"], step + 1, k * case["batch"])
            value = loss(batch, drop)
            value.backward()
            error = abs(value.item() - batch["loss"])
            verdict.check("loss", f"step {step + 1}", error, LOSS_TOLERANCE * value.item())
        if step == 0:
            overall = max(w.grad.abs().max().item() for w in weights.values())
            for name, w in weights.items():
                assert w.grad.abs().max() > 0, name
                allowed = GRADIENT_TOLERANCE * w.grad.abs().max().item() + GRADIENT_FLOOR * overall
                error = (ours[name] - w.grad).abs().max().item()
                verdict.check("gradient", name, error, allowed)
        for w in weights.values():
            w.grad /= len(micro_batches)
        optimizer.step()

    ours = read_safetensors(directory / "final.safetensors")
    assert ours.keys() == weights.keys(), "tensor names differ"
    for name, w in weights.items():
        change = (w.detach() - initial[name]).abs().max().item()
        error = (ours[name] - w.detach()).abs().max().item()
        verdict.check("update", name, error, UPDATE_TOLERANCE * change)
    with torch.no_grad():
        value = loss(case["evaluation"], Dropout(0, 0, 0, 0)).item()
    error = abs(value - case["evaluation"]["loss"])
    verdict.check("evaluation loss", "the trained model", error, LOSS_TOLERANCE * value)

    worst = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in verdict.worst.items())
    print(f"largest errors as parts of what is allowed: {worst}")
    return 1 if verdict.failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
