"""SIGTERM to one process: all stop after the same step."""

import os
import signal
import time

import jax
from jax.experimental import multihost_utils


def main():
    for step in range(1000):
        if step == 20 and jax.process_index() == jax.process_count() - 1:
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        multihost_utils.sync_global_devices(f"step {step} before preemption")
        if multihost_utils.reached_preemption_sync_point(step):
            return f"at step {step}"
    raise AssertionError("no step was agreed on")
