"""The functions of Orbax's multihost module, on Coxswain and without JAX::

    from coxswain import multihost
    with coxswain.Client.from_environment() as job:
        multihost.use(job)
        multihost.sync_global_processes("saved")

Where Orbax uses collectives of devices (``broadcast_one_to_all``, ``global_max`` and
``sync_global_processes`` without a subset) this uses a barrier that gathers data. Barrier ids can
be reused.
"""

from __future__ import annotations

from coxswain.multihost._collectives import broadcast_one_to_all, global_max
from coxswain.multihost._identity import (
    coordination_timeout, distributed_to_device_ids, get_client, get_jax_distributed_client,
    initialize_distributed_to_device_ids, initialize_runtime_to_distributed_ids,
    is_distributed_to_device_ids_initialized, is_initialized,
    is_jax_distributed_client_initialized, is_primary_host,
    is_runtime_to_distributed_ids_initialized, process_count, process_index,
    process_index_from_device, runtime_to_distributed_ids, runtime_to_distributed_process_id,
    unique_processes_from_devices, use)
from coxswain.multihost._signaling import (
    CoordinatorSignalingClient, InProcessSignalingClient, SignalingClient, get_signaling_client)
from coxswain.multihost._signals import (
    AwaitableSignalsContract, HandlerAwaitableSignal, OperationIdGenerator, set_signals,
    wait_for_signals)
from coxswain.multihost._sync import (
    MultihostSynchronizedValue, get_barrier_sync_fn, reached_preemption, should_skip_process_sync,
    sync_global_processes, unique_barrier_key)

__all__ = [
    "AwaitableSignalsContract", "CoordinatorSignalingClient", "HandlerAwaitableSignal",
    "InProcessSignalingClient", "MultihostSynchronizedValue", "OperationIdGenerator",
    "SignalingClient",
    "broadcast_one_to_all", "coordination_timeout", "distributed_to_device_ids",
    "get_barrier_sync_fn", "get_client", "get_jax_distributed_client", "get_signaling_client",
    "global_max", "initialize_distributed_to_device_ids",
    "initialize_runtime_to_distributed_ids", "is_distributed_to_device_ids_initialized",
    "is_initialized", "is_jax_distributed_client_initialized", "is_primary_host",
    "is_runtime_to_distributed_ids_initialized", "process_count", "process_index",
    "process_index_from_device", "reached_preemption", "runtime_to_distributed_ids",
    "runtime_to_distributed_process_id", "set_signals", "should_skip_process_sync",
    "sync_global_processes", "unique_barrier_key", "unique_processes_from_devices", "use",
    "wait_for_signals",
]
