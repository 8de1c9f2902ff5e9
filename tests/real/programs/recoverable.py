"""A fault tolerant job, as JAX documents it: each round asks who lives, and goes on with those. It ends after a
round in which the file STOP exists.
"""

import os
import time

import jax


def main():
    from jax.experimental import multihost_utils

    from support import say

    before, me = None, jax.process_index()
    while not os.path.exists(os.environ["STOP"]):
        try:
            with multihost_utils.live_devices(jax.devices()) as live:
                now = sorted(device.process_index for device in live)
        except Exception as problem:  # somebody died within the round
            say(f"round of {me}: {str(problem).splitlines()[0]}")
            continue
        if now != before:
            say(f"live {me} {os.getpid()} {now}")
        before = now
        time.sleep(0.05)
    say("ends", me)
    os._exit(0)  # nobody is waited for
