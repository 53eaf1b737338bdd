"""Trains a GPT-2 in PyTorch in the three ways in which zerolab's ranks may do it.

One process that takes the whole global batch at once; DistributedDataParallel over gloo; the same
with ZeroRedundancyOptimizer. All of it is PyTorch's own but for the model's forward pass
(torch_oracle.py). Also four mistakes, which a comparison has to notice.
"""

import contextlib
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from torch_oracle import Dropout, gpt2_loss

MISTAKES = {
    "no bias correction": "Adam's moments are not corrected for having started at zero",
    "decay of vectors": "the weight decay takes biases and norm weights too",
    "L2 instead of decay": "Adam with the decay inside the gradient instead of AdamW",
    "sum instead of mean": "gradients of micro-batches are added up and not divided",
}


@dataclass
class Job:
    """What is trained: `batches[step][rank][micro-batch]` is a pair (inputs, targets) of shape (B, T)."""

    initial: dict  # fp32 tensors by name
    config: dict  # heads, layers
    optimizer: dict  # betas, eps, weight_decay
    clip: float
    rates: list  # learning rates, one a step
    batches: list


class Gpt2(torch.nn.Module):
    def __init__(self, initial, config):
        super().__init__()
        self.config = config
        self.weights = {name: torch.nn.Parameter(value.clone()) for name, value in initial.items()}
        for name, parameter in self.weights.items():
            self.register_parameter(name.replace(".", "_"), parameter)

    def forward(self, inputs, targets):
        return gpt2_loss(self.weights, self.config, inputs, targets, Dropout(0, 0, 0, 0))


def make_optimizer(job, model, sharded=False, mistake=None):
    """AdamW that decays matrices only; `sharded`: each process keeps the moments of its part."""
    rules = dict(job.optimizer)
    decay = rules.pop("weight_decay")
    decayed, others = [], []
    for p in model.weights.values():
        (decayed if p.dim() > 1 or mistake == "decay of vectors" else others).append(p)
    groups = [{"params": decayed, "weight_decay": decay}]
    if others:
        groups.append({"params": others, "weight_decay": 0.0})
    if sharded:
        return ZeroRedundancyOptimizer(groups, optimizer_class=torch.optim.AdamW, lr=0.0, **rules)
    kind = torch.optim.Adam if mistake == "L2 instead of decay" else torch.optim.AdamW
    optimizer = kind(groups, lr=0.0, **rules)
    if mistake == "no bias correction":
        for p in model.weights.values():  # after so many steps nothing is left to correct
            optimizer.state[p] = {
                "step": torch.tensor(1e6),
                "exp_avg": torch.zeros_like(p),
                "exp_avg_sq": torch.zeros_like(p),
            }
    return optimizer


def take_step(job, step, model, optimizer):
    """Clips and updates; returns the gradient's norm before clipping."""
    norm = torch.nn.utils.clip_grad_norm_(model.weights.values(), job.clip)
    for group in optimizer.param_groups:
        group["lr"] = job.rates[step]
    optimizer.step()
    return norm.item()


def finished(losses, norms, model):
    return {"losses": losses, "norms": norms, "weights": {n: p.detach() for n, p in model.weights.items()}}


def train_alone(index, job, mistakes, directory):
    """The whole global batch in one forward pass, with mistakes[index], or none if that is None;
    writes what `finished` returns to directory/`index`.pt."""
    torch.set_num_threads(1)
    mistake = mistakes[index]
    model = Gpt2(job.initial, job.config)
    optimizer = make_optimizer(job, model, mistake=mistake)
    losses, norms = [], []
    for step, ranks in enumerate(job.batches):
        micro_batches = [pair for rank in ranks for pair in rank]
        inputs, targets = (torch.cat(parts) for parts in zip(*micro_batches))
        optimizer.zero_grad()
        loss = model(inputs, targets)
        scale = len(micro_batches) if mistake == "sum instead of mean" else 1
        (scale * loss).backward()
        losses.append(loss.item())
        norms.append(take_step(job, step, model, optimizer))
    torch.save(finished(losses, norms, model), f"{directory}/{index}.pt")


def train_in_group(rank, job, ranks, sharded, directory):
    """One process of `ranks`; the first writes what `finished` returns to directory/0.pt."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{directory}/meeting", rank=rank, world_size=ranks)
    model = Gpt2(job.initial, job.config)
    parallel = DistributedDataParallel(model)
    optimizer = make_optimizer(job, model, sharded)
    losses, norms = [], []
    for step, batches in enumerate(job.batches):
        mine = batches[rank]
        optimizer.zero_grad()
        total = torch.zeros(1, dtype=torch.float64)
        for k, (inputs, targets) in enumerate(mine):
            # Gradients are averaged over the processes while the last micro-batch's come in.
            with parallel.no_sync() if k + 1 < len(mine) else contextlib.nullcontext():
                loss = parallel(inputs, targets)
                (loss / len(mine)).backward()
            total += loss.item()
        dist.all_reduce(total)
        losses.append(total.item() / (ranks * len(mine)))
        norms.append(take_step(job, step, model, optimizer))
    if rank == 0:
        torch.save(finished(losses, norms, model), f"{directory}/0.pt")
    dist.barrier()
    dist.destroy_process_group()
