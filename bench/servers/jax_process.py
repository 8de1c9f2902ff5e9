"""A process of a JAX job: jax_process.py ADDRESS NUM_PROCESSES PROCESS HEARTBEAT_TIMEOUT BIND [live]. It
joins and waits for its end, which JAX brings about when another process has failed. With `live` the job is
recoverable. Prints a line of JSON, with the time of the monotonic clock in nanoseconds, when it has imported
JAX, when it has joined and, with `live`, at each change of the live processes.
"""

import json
import sys
import time

import jax
from jax.experimental import multihost_utils

address, num_processes, process, heartbeat_timeout, bind, *mode = sys.argv[1:]
is_recoverable = mode == ["live"]


def say(**what):
    print(json.dumps({"at": time.monotonic_ns(), **what}), flush=True)


say(imported=True)
if is_recoverable:
    jax.config.update("jax_enable_recoverability", True)
jax.distributed.initialize(address, int(num_processes), int(process), coordinator_bind_address=bind,
                           heartbeat_timeout_seconds=int(heartbeat_timeout))
jax.devices()
say(joined=True)
last = None
while True:
    time.sleep(0.01)
    if not is_recoverable:
        continue
    try:
        with multihost_utils.live_devices(jax.devices()) as devices:
            live = sorted({device.process_index for device in devices})
    except multihost_utils.ProcessFailureError:
        continue  # the next round is without it
    if live != last:
        say(live=live)
    last = live
