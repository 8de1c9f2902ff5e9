"""What a plain `jax.distributed.initialize()` does: the address from JAX's variable, the process's numbers from
the first launcher that JAX knows, then the agent of this directory. Says what it found, and leaves.
"""

import os
import sys

from jax_agent import Agent

NEEDED = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")

environment = os.environ
address = environment["JAX_COORDINATOR_ADDRESS"]
bound = environment.get("JAX_COORDINATOR_BIND_ADDRESS") or "[::]:" + address.rsplit(":", 1)[1]
if "OMPI_MCA_orte_hnp_uri" in environment:
    sys.exit("JAX would believe that this is Open MPI")
if not all(name in environment for name in NEEDED):
    sys.exit("Number of processes must be defined.")
task, count = int(environment["SLURM_PROCID"]), int(environment["SLURM_NTASKS"])

agent = Agent(address, task)
agent.connect()
met = agent.barrier("b")
agent.insert(f"k{task}", b"v")
agent.get(f"k{(task + 1) % count}")
print(f"process {task} of {count}, devices [{environment['SLURM_LOCALID']}], bound at {bound}, "
      f"met in round {met}, at {address}", flush=True)
agent.shutdown()
agent.close()
