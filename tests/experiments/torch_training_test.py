"""Trains gpt-tiny with zerolab and with PyTorch and holds the runs against each other.

    torch_training_test.py ZEROLAB CORPUS

Same weights, same sequences, same learning rates; AdamW with clipping, accumulation, warm-up and
cosine decay. Losses and gradient norms of every step and the trained weights must be within what
rounding allows (docs/rounding-bound.md, sections 2 and 3); runs with a mistake must not be.

Exit code: 0 all of that holds, 1 it does not, 77 PyTorch is not installed.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from torch_oracle import read_safetensors, torch  # exits with 77 without PyTorch

from torch_training import MISTAKES, Job, train_alone, train_in_group

UNIT_ROUNDOFF = 2.0**-24  # of fp32
FACTOR, WINDOW = 4, 8  # of the envelope
PERTURBED_RUNS = 2

STEPS, RANKS, ACCUMULATE, BATCH, TIME = 20, 2, 2, 2, 64
CHANNELS, VOCABULARY = 128, 256
MODEL = {"layers": 4, "heads": 4}
CLIP = 1.0
OPTIMIZER = {"betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1}
OPTIONS = f"""--model gpt-tiny --ranks {RANKS} --micro-batch {BATCH} --accumulate {ACCUMULATE} --seq {TIME}
    --optimizer adamw --beta1 {OPTIMIZER["betas"][0]} --beta2 {OPTIMIZER["betas"][1]}
    --epsilon {OPTIMIZER["eps"]} --weight-decay {OPTIMIZER["weight_decay"]} --clip {CLIP}
    --lr 1e-3 --warmup 5 --schedule cosine --check none --eval-every 0 --plots off --quiet""".split()


def zerolab_train(program, directory, name, steps, weights=None):
    """Records of the steps and the file of the trained weights."""
    out, trained = directory / name, directory / f"{name}.safetensors"
    start = ["--load-weights", weights] if weights else []
    command = [program, "train", *OPTIONS, "--steps", str(steps), *start, "--save-weights", trained, "--out", out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    *records, end = map(json.loads, (out / "ddp" / "steps.jsonl").read_text().splitlines())
    assert end["records"] == len(records) == steps, f"{out} is incomplete"
    return records, trained


def write_perturbed(source, target, relative, seed):
    """The file `source` with weights that are off by normal numbers of the deviation `relative`
    times the tensor's root mean square: zeros stay, as they have no rounding error of their own."""
    tensors = read_safetensors(source)
    generator = torch.Generator().manual_seed(seed)
    data = bytearray(source.read_bytes())
    body = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:body])
    for name, tensor in tensors.items():
        deviation = relative * tensor.square().mean().sqrt()
        noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        begin, end = (body + offset for offset in header[name]["data_offsets"])
        data[begin:end] = (tensor + deviation * noise).float().numpy().tobytes()
    target.write_bytes(data)


def batches_of(records, corpus):
    """The sequences that zerolab read, by step, rank and micro-batch."""
    tokens = torch.tensor(list(corpus))

    def micro_batch(positions):
        windows = torch.stack([tokens[p : p + TIME + 1] for p in positions])
        return windows[:, :-1].contiguous(), windows[:, 1:].contiguous()

    return [
        [
            [micro_batch(rank[k * BATCH : (k + 1) * BATCH]) for k in range(ACCUMULATE)]
            for rank in record["positions"]
        ]
        for record in records
    ]


def distance(a, b):
    return (a.double() - b.double()).norm().item()


class Bounds:
    """What rounding allows between zerolab's run and another, from runs that are known to be right."""

    def __init__(self, runs, weights):
        self.losses = self.envelope([[r["loss"] for r in run] for run in runs])
        self.norms = self.envelope([[r["grad_norm"] for r in run] for run in runs])
        for t, record in enumerate(runs[0]):  # both norms are recorded in fp32
            self.norms[t] += 2 * UNIT_ROUNDOFF * record["grad_norm"]
        self.tensors = {
            name: FACTOR * STEPS * max(distance(a[name], b[name]) for a in weights for b in weights)
            for name in weights[0]
        }

    @staticmethod
    def envelope(curves):
        """4 t E(t); the first steps share one figure."""
        spread = [max(values) - min(values) for values in zip(*curves)]
        return [FACTOR * (t + 1) * max(spread[: max(t + 1, WINDOW)]) for t in range(len(spread))]

    def outside(self, records, trained, result):
        """For losses, gradient norms and tensors one sentence for each that is outside; a NaN is."""
        found = {"losses": [], "gradient norms": [], "tensors": []}

        def check(kind, name, error, bound):
            if not error <= bound:
                found[kind].append(f"{name} is off by {error:.3g}, {bound:.3g} is allowed")

        for t, record in enumerate(records):
            error = abs(result["losses"][t] - record["loss"])
            check("losses", f"the loss of step {t + 1}", error, self.losses[t])
            error = abs(result["norms"][t] - record["grad_norm"])
            check("gradient norms", f"the gradient norm of step {t + 1}", error, self.norms[t])
        for name, bound in self.tensors.items():
            check("tensors", name, distance(trained[name], result["weights"][name]), bound)
        return found


def print_run(name, records, trained, initial, result, bounds):
    print(f"\n{name}\nstep  zerolab    PyTorch    difference  bound     gradient norm's  bound")
    for t, record in enumerate(records):
        loss, norm = result["losses"][t], result["norms"][t]
        print(
            f"{t + 1:4}  {record['loss']:.7f}  {loss:.7f}  {abs(loss - record['loss']):.1e}     "
            f"{bounds.losses[t]:.1e}   {abs(norm - record['grad_norm']):.1e}          {bounds.norms[t]:.1e}"
        )
    print("trained weights: nearest to their bound, in 2-norms of a tensor")
    rows = []
    for tensor, bound in bounds.tensors.items():
        error = distance(trained[tensor], result["weights"][tensor])
        rows.append((error / bound, tensor, error, bound, distance(trained[tensor], initial[tensor])))
    for _, tensor, error, bound, change in sorted(rows, reverse=True)[:4]:
        print(f"  {tensor:22} difference {error:.1e}  bound {bound:.1e}  training moved it by {change:.1e}")
    loosest = max(bound / change for *_, bound, change in rows)
    print(f"no bound is larger than {loosest:.1%} of what training moved its tensor by")


def in_processes(train, count, directory, *settings):
    """Runs train(index, *settings, directory) in `count` processes and reads what they have written."""
    directory.mkdir()
    # Forked before this process has computed any gradient, which PyTorch requires.
    torch.multiprocessing.start_processes(train, (*settings, directory), nprocs=count, start_method="fork")
    return [torch.load(path) for path in sorted(directory.glob("*.pt"), key=lambda path: int(path.stem))]


def main(program, corpus):
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a host need not know its own name
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        _, start = zerolab_train(program, directory, "start", 0)
        # Terms of the longest product: 4C in the MLP, the vocabulary, all rows of a global batch.
        terms = max(4 * CHANNELS, VOCABULARY, RANKS * ACCUMULATE * BATCH * TIME)
        starts = [start]
        for i in range(1, PERTURBED_RUNS + 1):
            starts.append(directory / f"perturbed{i}.start")
            write_perturbed(start, starts[-1], FACTOR * math.sqrt(terms) * UNIT_ROUNDOFF, i)
        runs, files = zip(
            *(zerolab_train(program, directory, f"run{i}", STEPS, s) for i, s in enumerate(starts))
        )
        weights = [read_safetensors(file) for file in files]
        records, trained, initial = runs[0], weights[0], read_safetensors(start)
        bounds = Bounds(runs, weights)

        rates = [record["learning_rate"] for record in records]
        single = {name: tensor.float() for name, tensor in initial.items()}
        job = Job(single, MODEL, OPTIMIZER, CLIP, rates, batches_of(records, Path(corpus).read_bytes()))
        runs_alone = [None, *MISTAKES]
        alone, *mistaken = in_processes(
            train_alone, len(runs_alone), directory / "alone", job, runs_alone
        )
        results = {"PyTorch, one process": alone}
        for name, sharded in (("DistributedDataParallel", False), ("ZeroRedundancyOptimizer", True)):
            (result,) = in_processes(train_in_group, RANKS, directory / name, job, RANKS, sharded)
            results[f"PyTorch, {name}, {RANKS} processes"] = result

    failures = []
    for name, result in results.items():
        print_run(name, records, trained, initial, result, bounds)
        for sentences in bounds.outside(records, trained, result).values():
            failures += [f"{name}: {sentence}" for sentence in sentences]
    print("\nwith a mistake, outside are")
    for name, result in zip(MISTAKES, mistaken):
        found = bounds.outside(records, trained, result)
        print(f"  {name:20}", ", ".join(f"{len(values)} {kind}" for kind, values in found.items()))
        if not any(found.values()):
            failures.append(f"{name}: {MISTAKES[name]}, and nothing is outside its bound")
    print("\n" + "\n".join(failures or ["PyTorch agrees in every step and every tensor"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
