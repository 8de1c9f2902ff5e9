"""The training of training.py with torch: DistributedDataParallel on a store, whose keys and whose process groups,
a new one for each checkpoint, are made while coordinators are replaced.
"""

import os
import time

import torch
import torch.distributed as dist

from training import RATE, gradient

CHECKPOINT_EVERY = 5  # steps


def checkpoint(store, step, rank, world):
    """All meet by keys, and in a group of their own."""
    store.set(f"checkpoint/{step}/{rank}", "done")
    store.wait([f"checkpoint/{step}/{other}" for other in range(world)])
    assert store.get(f"checkpoint/{step}/{(rank + 1) % world}") == b"done"
    store.add("checkpoints", 1)
    group = dist.new_group(range(world))
    ones = torch.ones(1)
    dist.all_reduce(ones, group=group)
    assert ones.item() == world
    dist.destroy_process_group(group)
    print(f"checkpoint {step} of {rank}", flush=True)


def train(store, rank, world):
    """The number of steps, and the weight after them."""
    layer = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    model = torch.nn.parallel.DistributedDataParallel(layer)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    step, stops = 0, False
    while not stops:
        stopping = torch.tensor(float(rank == 0 and os.path.exists(os.environ["STOP"])))
        dist.all_reduce(stopping)
        stops = bool(stopping)
        optimizer.zero_grad()
        model(torch.tensor([[gradient(rank, step)]], dtype=torch.float64)).sum().backward()
        optimizer.step()
        if step % CHECKPOINT_EVERY == 0:
            checkpoint(store, step, rank, world)
        step += 1
        time.sleep(0.01)
    return step, layer.weight.item()


def run(store, rank, world):
    """Its result, in the process group that there is."""
    steps, weight = train(store, rank, world)
    dist.barrier()
    assert store.add("checkpoints", 0) == -(-steps // CHECKPOINT_EVERY) * world
    dist.destroy_process_group()
    return f"passed training {rank} steps {steps} weights {weight:.3f}"
