"""XLA's own coordination service, out of an installed jaxlib: xla_service.py ADDRESS NUM_TASKS."""

import signal
import sys

from jaxlib import _jax

address, num_tasks = sys.argv[1:]
# Heartbeats are not what is measured.
service = _jax.get_distributed_runtime_service(address, int(num_tasks), heartbeat_timeout=1_000)
signal.pause()
