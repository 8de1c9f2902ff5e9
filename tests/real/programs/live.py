"""live_devices: everybody is alive."""

import jax
from jax.experimental import multihost_utils


def main():
    if not hasattr(multihost_utils, "live_devices"):
        return "lacks"  # versions before 0.7
    with multihost_utils.live_devices(jax.devices()) as live:
        assert set(live) == set(jax.devices()), live
