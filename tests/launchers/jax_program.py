"""A JAX program for the tests of launchers, as users write it: jax_program.py. All processes add up
their numbers and meet; each prints the sum.
"""

import jax

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize()

# Imported after initialize(), since they might start the backend.
import numpy  # noqa: E402
from jax.experimental import multihost_utils  # noqa: E402

numbers = multihost_utils.process_allgather(numpy.array([jax.process_index() + 1]))
multihost_utils.sync_global_devices("done")
print(f"sum {numbers.sum()}", flush=True)
jax.distributed.shutdown()
