"""The training of torch_training.py on a coxswain.Store."""

import coxswain
import torch.distributed as dist

from torch_training import run


def main():
    job = coxswain.Client.from_environment()
    rank, world = job.task, job.num_tasks
    store = coxswain.Store(job).for_torch()
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
    result = run(store, rank, world)
    job.leave()
    print(result, flush=True)


main()
