"""live_devices: everybody is alive."""

import jax
from jax.experimental import multihost_utils


def main():
    if not hasattr(multihost_utils, "live_devices"):
        return "lacks"  # 0.4.36
    live = multihost_utils.live_devices(jax.devices())
    if not isinstance(live, list):  # a list until 0.7, a context since 0.8
        with live as live:
            pass
    assert set(live) == set(jax.devices()), live
