"""A guest for the tests, with one of Python's clients: guest_program.py KIND FILE joins, dies after
creating FILE if that does not exist yet, meets the others and leaves. Without FILE (-) it does not
die."""

import asyncio
import os
import pathlib
import signal
import sys

import coxswain
from coxswain import jax_compat, multihost

KIND, FILE = sys.argv[1:]


def die_once():
    if FILE != "-" and not pathlib.Path(FILE).exists():
        pathlib.Path(FILE).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def python():
    with coxswain.Client.from_environment() as job:
        die_once()
        job.barrier("met")


async def meet():
    async with coxswain.AsyncClient.from_environment() as job:
        die_once()
        await job.barrier("met")


def store():
    with coxswain.Client.from_environment() as job:
        die_once()
        keys = coxswain.Store(job)
        keys.set(f"here/{job.task}", b"")
        keys.wait([f"here/{task}" for task in range(job.num_tasks)])


def several():
    with coxswain.Client.from_environment() as job:
        multihost.use(job)
        die_once()
        multihost.sync_global_processes("met")


def jax():
    jax_compat.initialize()
    die_once()
    jax_compat.global_state.client.wait_at_barrier("met", 60_000)
    jax_compat.shutdown()


def explicit():
    """Passes the environment's values explicitly, as programs with their own options do."""
    task = int(os.environ["COXSWAIN_TASK_ID"])
    with coxswain.Client(os.environ["COXSWAIN_ADDRESS"], task) as job:
        die_once()
        job.barrier("met")


{"python": python, "asyncio": lambda: asyncio.run(meet()), "store": store, "multihost": several,
 "jax_compat": jax, "explicit": explicit}[KIND]()
print("done", flush=True)
