"""The client, service and functions of jax.distributed, on Coxswain.

Code written for jaxlib's distributed runtime client runs on Coxswain's::

    from coxswain import jax_compat
    jax_compat.initialize("head:8476", num_processes=8, process_id=3)
    jax_compat.global_state.client.wait_at_barrier("epoch", 60_000)

and with ``jax_compat.install()`` so does code that gets the client from JAX. Only ``install()``
imports JAX. Programs that use devices keep jaxlib's own client, which the coordinator also serves.
"""

from __future__ import annotations

from coxswain.jax_compat._client import (
    DistributedRuntimeClient, get_distributed_runtime_client)
from coxswain.jax_compat._errors import JaxRuntimeError
from coxswain.jax_compat._preemption import PreemptionSyncManager, create_preemption_sync_manager
from coxswain.jax_compat._service import (
    DistributedRuntimeService, get_distributed_runtime_service)
from coxswain.jax_compat._state import (
    State, global_state, initialize, is_initialized, shutdown)

__all__ = [
    "DistributedRuntimeClient", "DistributedRuntimeService", "JaxRuntimeError",
    "PreemptionSyncManager", "State", "create_preemption_sync_manager",
    "get_distributed_runtime_client", "get_distributed_runtime_service", "global_state",
    "initialize", "install", "is_initialized", "shutdown",
]


def install() -> None:
    """Replaces JAX's functions by ours: ``jax.distributed.initialize``, ``shutdown`` and
    ``is_initialized``, and the contents and methods of ``jax._src.distributed.global_state``.

    Needs JAX, but not its native client. JAX's backends pass the client to native functions that
    accept only jaxlib's own: they raise a TypeError at the first use of a device.
    """
    import importlib
    import sys
    import types

    internal = importlib.import_module("jax._src.distributed")
    theirs = getattr(internal.global_state, "client", None)
    if theirs is not None and theirs is not global_state.client:
        raise RuntimeError("install() comes before jax.distributed.initialize().")
    global_state.mirror_to(internal.global_state)
    try:
        public = importlib.import_module("jax.distributed")
    except ImportError:
        public = sys.modules["jax.distributed"] = types.ModuleType("jax.distributed")
        sys.modules["jax"].distributed = public
    internal.State = State
    for place in (internal, public):
        for function in (initialize, shutdown, is_initialized):
            setattr(place, function.__name__, function)
