"""Orbax: all processes save a sharded array asynchronously, keep the last two steps, and restore it."""

import os

import jax
import numpy as np
import orbax.checkpoint
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def main():
    size = len(jax.devices()) * 4
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("all",)), PartitionSpec("all"))
    array = jax.make_array_from_callback((size,), sharding, lambda place: np.arange(size, dtype=np.float32)[place])
    options = orbax.checkpoint.CheckpointManagerOptions(max_to_keep=2, create=True, enable_async_checkpointing=True)
    with orbax.checkpoint.CheckpointManager(os.environ["CHECKPOINTS"], options=options) as manager:
        for step in range(4):
            manager.save(step, args=orbax.checkpoint.args.StandardSave({"array": array + step}))
        manager.wait_until_finished()
        assert sorted(manager.all_steps()) == [2, 3], manager.all_steps()
        restored = manager.restore(3, args=orbax.checkpoint.args.StandardRestore({"array": array}))["array"]
        for shard in restored.addressable_shards:
            assert (np.asarray(shard.data) == np.arange(size, dtype=np.float32)[shard.index] + 3).all()
