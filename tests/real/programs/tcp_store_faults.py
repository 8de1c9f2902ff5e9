"""The training of torch_training.py in a program that has never heard of Coxswain (env://)."""

import torch.distributed as dist

from torch_training import run

dist.init_process_group("gloo")
print(run(dist.distributed_c10d._get_default_store(), dist.get_rank(), dist.get_world_size()), flush=True)
