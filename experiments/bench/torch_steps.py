"""Trains a GPT-2 with PyTorch, a few steps at a time, for `zerolab bench steps`.

Answers line by line on standard output. The first line is "PyTorch VERSION" once the model is ready; after that, each
line of input is a number of steps, answered by the seconds they took. A line that begins with "error: " ends it.
"""

import argparse
import math
import sys
import time


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("layers", "channels", "heads", "max-time", "vocabulary", "batch", "time", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--foreach", action="store_true", help="AdamW updates all tensors at once")
    return parser.parse_args(arguments)


def build(settings):
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    torch.set_num_threads(settings.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1337)
    channels, heads = settings.channels, settings.heads
    # PyTorch's products like even sizes: 50257 becomes 50304, small vocabularies stay.
    vocabulary = -(-settings.vocabulary // 64) * 64

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn = nn.Linear(channels, 3 * channels)
            self.c_proj = nn.Linear(channels, channels)
            future = torch.ones(settings.max_time, settings.max_time, dtype=torch.bool).triu(1)
            self.register_buffer("future", future)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = (
                part.view(batch, length, heads, channels // heads).transpose(1, 2)
                for part in self.c_attn(x).split(channels, dim=2)
            )
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(channels // heads))
            scores = scores.masked_fill(self.future[:length, :length], -math.inf)
            mixed = F.softmax(scores, dim=-1) @ v
            return self.c_proj(mixed.transpose(1, 2).reshape(batch, length, channels))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1 = nn.LayerNorm(channels)
            self.attn = Attention()
            self.ln_2 = nn.LayerNorm(channels)
            self.c_fc = nn.Linear(channels, 4 * channels)
            self.c_proj = nn.Linear(4 * channels, channels)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(vocabulary, channels)
            self.wpe = nn.Embedding(settings.max_time, channels)
            self.blocks = nn.ModuleList(Block() for _ in range(settings.layers))
            self.ln_f = nn.LayerNorm(channels)
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.02)

        def forward(self, inputs, targets):
            x = self.wte(inputs) + self.wpe.weight[: inputs.shape[1]]
            for block in self.blocks:
                x = block(x)
            logits = F.linear(self.ln_f(x), self.wte.weight)  # tied
            return F.cross_entropy(logits.view(-1, vocabulary), targets.view(-1))

    model = Gpt2()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
        ],
        lr=1e-3,
        betas=(0.9, 0.95),
        eps=1e-8,
        foreach=settings.foreach,
    )
    # Bytes, as in the corpus that zerolab reads, whatever the vocabulary.
    tokens = torch.randint(0, min(256, settings.vocabulary), (16, settings.batch, settings.time + 1))

    def train(first, steps):
        for step in range(first, first + steps):
            batch = tokens[step % len(tokens)]
            loss = model(batch[:, :-1].contiguous(), batch[:, 1:].contiguous())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return loss.item()

    return f"PyTorch {torch.__version__}", train


def main():
    settings = parse(sys.argv[1:])
    try:
        name, train = build(settings)
    except ImportError:
        print("error: PyTorch is not installed (Debian: python3-torch)", flush=True)
        return 77
    trained = 2
    train(0, trained)  # allocates states, grows the heap
    print(name, flush=True)
    for line in sys.stdin:
        steps = int(line)
        start = time.perf_counter()
        loss = train(trained, steps)
        seconds = time.perf_counter() - start
        trained += steps
        print(seconds if math.isfinite(loss) else "error: PyTorch's loss is not finite", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as error:  # whoever waits for an answer gets one
        print(f"error: PyTorch failed: {type(error).__name__}: {error}".replace("\n", " "), flush=True)
        sys.exit(1)
