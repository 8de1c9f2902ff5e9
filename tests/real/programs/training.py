"""Data-parallel training whose checkpoints meet at barriers. It ends, in all processes, after the step in which
the first one sees the file STOP; its result is that of `weights_after`. Each step is counted, in each process.
"""

import os
import time

RATE = 0.01


def gradient(task, step):
    return float(task + step % 7)


def weights_after(steps, tasks):
    weights = 0.0
    for step in range(steps):
        weights -= RATE * sum(gradient(task, step) for task in range(tasks)) / tasks
    return weights


def main():
    import jax
    import numpy as np
    from jax.experimental import multihost_utils

    from support import LIMIT_MS, client, say

    me, count, weights, step, stops = jax.process_index(), jax.process_count(), 0.0, 0, False
    while not stops:
        stops = me == 0 and os.path.exists(os.environ["STOP"])
        gathered = multihost_utils.process_allgather(np.array([gradient(me, step), float(stops)]))
        weights -= RATE * float(gathered[:, 0].mean())
        stops = bool(gathered[:, 1].any())
        client().key_value_increment("steps", 1)
        if step % 5 == 0:
            client().key_value_set(f"checkpoint/{step}/{me}", "done")
            assert client().blocking_key_value_get(f"checkpoint/{step}/{(me + 1) % count}", LIMIT_MS) == "done"
            client().wait_at_barrier(f"checkpoint {step}", LIMIT_MS)
            say(f"checkpoint {step} of {me}")
        step += 1
        time.sleep(0.01)
    client().wait_at_barrier("all steps are counted", LIMIT_MS)
    counted = client().key_value_try_get("steps")
    assert counted == str(count * step), counted
    return f"steps {step} weights {weights:.3f}"
