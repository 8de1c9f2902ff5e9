"""A program of torch that has never heard of Coxswain: env://, collectives, DistributedDataParallel, subgroups.
With an argument, the process of that rank ends with status 7 before it has begun.
"""

import datetime
import os
import sys
import time

import torch
import torch.distributed as dist


def train(model, rank):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        torch.manual_seed(step * 100 + rank)
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
    return [parameter.detach().sum().item() for parameter in model.parameters()]


def main():
    if os.environ["RANK"] in sys.argv[1:]:
        sys.exit(7)
    begin = time.monotonic()
    try:
        dist.init_process_group("gloo")
    except dist.DistNetworkError:
        print(f"told after {time.monotonic() - begin:.1f} s", flush=True)
        sys.exit(0)
    rank, world = dist.get_rank(), dist.get_world_size()
    ones = torch.ones(4) * (rank + 1)
    dist.all_reduce(ones)
    assert ones[0] == world * (world + 1) / 2
    weights = [None] * world
    dist.all_gather_object(weights, train(torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8)), rank))
    assert all(one == weights[0] for one in weights)
    dist.new_group([0, world - 1])
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=60))
    dist.destroy_process_group()
    print(f"trained {rank} of {world}", flush=True)


main()
