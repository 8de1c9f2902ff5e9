"""Global devices, collectives on them and the utilities of multihost_utils."""

import jax
import numpy as np
from jax.experimental import multihost_utils


def main():
    me, count = jax.process_index(), jax.process_count()
    assert len(jax.devices()) == count * len(jax.local_devices()), jax.devices()
    assert [device.process_index for device in jax.devices()] == list(range(count)), jax.devices()
    assert multihost_utils.process_allgather(np.array([me + 1])).sum() == count * (count + 1) // 2
    assert int(multihost_utils.broadcast_one_to_all(np.array(me + 7))) == 7
    multihost_utils.assert_equal(np.array(3))
    for step in range(5):
        multihost_utils.sync_global_devices(f"step {step}")
