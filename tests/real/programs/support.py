"""What the JAX programs here have in common, in each version of JAX."""

import os
import time

import jax

# Seconds and milliseconds that only something broken takes.
LIMIT = 120
LIMIT_MS = LIMIT * 1000


def initialize(**settings):
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    began = time.monotonic()
    jax.distributed.initialize(**settings)
    return time.monotonic() - began


def client():
    """The client of the distributed runtime, which libraries use although JAX keeps it to itself."""
    from jax._src import distributed
    return distributed.global_state.client


def task():
    """The number of this process, also before and without initialize()."""
    return int(os.environ["SLURM_PROCID"])


def tasks():
    return int(os.environ["SLURM_NTASKS"])


def failure_of(call, *arguments):
    """The text of the exception of a call that must fail."""
    try:
        result = call(*arguments)
    except Exception as problem:  # XlaRuntimeError or JaxRuntimeError: it has moved
        return str(problem)
    raise AssertionError(f"{call} has succeeded: {result!r}")


def say(*words):
    print(*words, flush=True)
