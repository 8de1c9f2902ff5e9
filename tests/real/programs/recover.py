"""Data-parallel training in which any process may die and come back: fits y = 2 x - 1, of which each process has a
part of the data. Before each step the live processes agree on who they are (live_devices). If all have the same
weights they make the step with the mean of their gradients; else each takes the newest weights. These travel through
keys of the coordination service, since collectives on CPUs do not survive the loss of a process.

Appends to a file of REPORTS, named by the process: "in", once it has initialized, and "live" whenever the live
processes have changed and they have made a step; "end" when a file "stop" was seen by one of them. Each line is
JSON, with the devices as this process sees them.
"""

import contextlib
import json
import os
import pathlib

import jax
import jax.numpy as jnp
from jax._src import distributed
from jax.experimental import multihost_utils

REPORTS = pathlib.Path(os.environ["REPORTS"])
LIMIT_MS = 120_000

if hasattr(jax.config, "jax_enable_recoverability"):
    jax.config.update("jax_enable_recoverability", True)
jax.distributed.initialize()

ME = jax.process_index()
client = distributed.global_state.client


@contextlib.contextmanager
def live_devices():
    """JAX 0.8's shows at its end whether somebody has died meanwhile; that of older versions is a function."""
    live = multihost_utils.live_devices(jax.devices())
    if hasattr(live, "__enter__"):
        with live as devices:
            yield devices
    else:
        yield live


def report(what, **more):
    devices = [(d.id, d.process_index) for d in jax.devices()]
    with open(REPORTS / str(ME), "a") as file:
        file.write(json.dumps({"what": what, "pid": os.getpid(), "devices": devices, **more}) + "\n")


@jax.jit
def gradient(weights, x):
    return jax.grad(lambda w: jnp.mean((w[0] * x + w[1] - (2 * x - 1))**2))(weights)


class Training:
    x = jnp.linspace(-1, 1, 8) + ME

    def __init__(self):
        self.is_over, self.entries = False, {}
        self.begin(0, [0.0, 0.0])

    def begin(self, step, weights):
        """The entry of the step before stays: another process may not have read it yet."""
        self.step, self.weights = step, weights
        entry = weights, gradient(jnp.array(weights), self.x).tolist(), (REPORTS / "stop").exists()
        self.entries = {str(step): entry} | {s: e for s, e in self.entries.items() if s == str(step - 1)}
        client.key_value_set(f"state/{ME}", json.dumps(self.entries), allow_overwrite=True)

    def go_on(self, processes):
        """Returns whether they have made a step."""
        states = [json.loads(client.blocking_key_value_get(f"state/{i}", LIMIT_MS)) for i in processes]
        entries = [state.get(str(self.step)) for state in states]
        if None in entries:
            newest = max(int(step) for state in states for step in state)
            if newest > self.step:
                self.begin(newest, next(state[str(newest)][0] for state in states if str(newest) in state))
            return False
        mean = [sum(g) / len(g) for g in zip(*(gradients for _, gradients, _ in entries))]
        self.is_over = any(stops for _, _, stops in entries)
        self.begin(self.step + 1, [w - 0.02 * g for w, g in zip(self.weights, mean)])
        return True


training = Training()
report("in")
seen = None
while not training.is_over:
    try:
        with live_devices() as devices:
            processes = sorted({d.process_index for d in devices})
            has_stepped = training.go_on(processes)
    except Exception as problem:  # somebody has died meanwhile
        report("again", why=str(problem))
        continue
    if has_stepped and processes != seen:
        report("live", processes=processes, step=training.step)
        seen = processes
report("end", step=training.step, weights=training.weights)
