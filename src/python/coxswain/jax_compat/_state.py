"""jax.distributed: initialize, shutdown and is_initialized, and their state."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import warnings
from collections.abc import Sequence

from coxswain._options import detect
from coxswain.jax_compat._client import (
    DistributedRuntimeClient, get_distributed_runtime_client)
from coxswain.jax_compat._preemption import PreemptionSyncManager, create_preemption_sync_manager
from coxswain.jax_compat._service import (
    HEARTBEAT_TIMEOUT, DistributedRuntimeService, service_unless_there)

_log = logging.getLogger("coxswain.jax_compat")

# Launchers that give the task's number on its machine; it then has one device.
_WITH_LOCAL_TASK = ("slurm", "ompi", "pmi")


def _setting(name: str, default: bool) -> bool:
    """A setting of JAX: its configuration if JAX is imported, else its environment variable."""
    config = getattr(sys.modules.get("jax"), "config", None)
    if hasattr(config, name):
        return bool(getattr(config, name))
    given = os.environ.get(name.upper())
    return default if given is None else given.lower() in ("1", "true", "t", "yes", "y", "on")


def _whole(value, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} is an int, not {type(value).__name__}: {value!r}")
    return value


def _local_devices(given: int | Sequence[int] | None) -> list[int] | None:
    if given is None:
        text = os.environ.get("JAX_LOCAL_DEVICE_IDS")
        return [int(one) for one in text.split(",")] if text else None
    return [given] if isinstance(given, int) else list(given)


def _partition(partition_index: int | None, slice_index: int | None) -> int | None:
    if slice_index is not None:
        warnings.warn("slice_index is now called partition_index", DeprecationWarning, stacklevel=4)
        if partition_index is None:
            partition_index = slice_index
    if partition_index is None:
        text = os.environ.get("JAX_PARTITION_INDEX") or os.environ.get("JAX_SLICE_INDEX")
        partition_index = int(text) if text else None
    return partition_index


class State:
    """The fields and methods of jax._src.distributed.State."""

    _FIELDS = ("process_id", "num_processes", "service", "client", "preemption_sync_manager",
               "coordinator_address", "partition_index")
    _METHODS = ("initialize", "initialize_preemption_sync_manager", "shutdown")

    def __init__(self):
        self._mirror = None
        self._forget()

    def _forget(self) -> None:
        self.process_id: int = 0
        self.num_processes: int = 1
        self.service: DistributedRuntimeService | None = None
        self.client: DistributedRuntimeClient | None = None
        self.preemption_sync_manager: PreemptionSyncManager | None = None
        self.coordinator_address: str | None = None
        self.partition_index: int | None = None

    def __setattr__(self, name: str, value) -> None:
        super().__setattr__(name, value)
        if name in self._FIELDS and self._mirror is not None:
            setattr(self._mirror, name, value)

    def mirror_to(self, other) -> None:
        """From now on the other object, JAX's own state, mirrors this one's fields and methods."""
        self._mirror = other
        for name in (*self._FIELDS, *self._METHODS):
            setattr(other, name, getattr(self, name))

    @property
    def has_client(self) -> bool:
        """Also if one was set in JAX's own state."""
        return any(state is not None and state.client is not None for state in (self, self._mirror))

    def initialize(self, coordinator_address: str | None = None, num_processes: int | None = None,
                   process_id: int | None = None,
                   local_device_ids: int | Sequence[int] | None = None,
                   cluster_detection_method: str | None = None, initialization_timeout: int = 300,
                   heartbeat_timeout_seconds: int = 100, shutdown_timeout_seconds: int = 300,
                   coordinator_bind_address: str | None = None, partition_index: int | None = None,
                   slice_index: int | None = None) -> None:
        """See jax_compat.initialize."""
        if heartbeat_timeout_seconds is None or isinstance(heartbeat_timeout_seconds, str):
            # JAX before 0.7 has the bind address in this position, and no such timeout.
            coordinator_bind_address = heartbeat_timeout_seconds or coordinator_bind_address
            heartbeat_timeout_seconds = HEARTBEAT_TIMEOUT
        _refuse_late()
        if self.client is not None or self.service is not None:
            raise RuntimeError("distributed.initialize should only be called once. Until "
                               "shutdown() it may be called only once.")
        # JAX's variable may name an address for unmodified programs, which only speak gRPC.
        address = (coordinator_address or os.environ.get("COXSWAIN_ADDRESS")
                   or os.environ.get("JAX_COORDINATOR_ADDRESS"))
        devices = _local_devices(local_device_ids)
        missing = {}
        self.partition_index = _partition(partition_index, slice_index)
        if (None in (address, num_processes, process_id, devices)
                and cluster_detection_method != "deactivate"):
            found = _detected(cluster_detection_method)
            missing = found.missing
            address = address or found.address
            num_processes = found.num_tasks if num_processes is None else num_processes
            process_id = found.task if process_id is None else process_id
            if devices is None and found.launcher in _WITH_LOCAL_TASK:
                devices = None if found.local_task is None else [found.local_task]
        address, num_processes, process_id = _checked(address, num_processes, process_id, missing)
        bind = coordinator_bind_address or os.environ.get("JAX_COORDINATOR_BIND_ADDRESS")
        if not bind:
            is_tcp = not address.startswith("unix:")
            bind = "[::]:" + address.rsplit(":", 1)[1] if is_tcp else address
        _restrict_devices(devices)

        self.coordinator_address, self.num_processes = address, num_processes
        self.process_id = process_id

        def host() -> None:  # before each attempt: an existing coordinator may be about to stop
            if process_id == 0 and self.service is None:
                self.service = service_unless_there(
                    bind, num_processes, address, heartbeat_timeout_seconds,
                    shutdown_timeout_seconds, _setting("jax_enable_recoverability", False))

        try:
            client = get_distributed_runtime_client(
                address, process_id, init_timeout=initialization_timeout,
                shutdown_timeout=shutdown_timeout_seconds,
                heartbeat_timeout=heartbeat_timeout_seconds, use_compression=True)
            client.connect_with(host)
            self.client = client
            if _setting("jax_enable_preemption_service", True):
                self.initialize_preemption_sync_manager()
        except BaseException:
            if self.client is None and self.service is not None:
                self.service.shutdown()
                self._forget()
            raise

    def initialize_preemption_sync_manager(self) -> None:
        """Makes SIGTERM a preemption notice; once."""
        if self.preemption_sync_manager is not None:
            raise RuntimeError("Preemption sync manager should only be initialized once.")
        if self.client is None:
            raise RuntimeError("initialize() comes before the preemption sync manager.")
        manager = create_preemption_sync_manager()
        manager.initialize(self.client)
        self.preemption_sync_manager = manager

    def shutdown(self) -> None:
        """Shuts down the preemption manager, the client, then the service. If the client raises,
        the rest is left unchanged, as in JAX."""
        if self.preemption_sync_manager is not None:
            self.preemption_sync_manager.shutdown()
            self.preemption_sync_manager = None
        if self.client is not None:
            self.client.shutdown()
            self.client = None
        if self.service is not None:
            self.service.shutdown()
            self.service = None


def _refuse_late() -> None:
    bridge = sys.modules.get("jax._src.xla_bridge")
    is_late = getattr(bridge, "backends_are_initialized", None)
    if is_late is not None and is_late():
        raise RuntimeError("distributed.initialize() must be called before any JAX call that makes "
                           "a backend.")


# JAX's names.
_JAX_NAMES = {"k8s": "kubernetes", "mpi4py": "ompi"}


def _detected(method: str | None):
    if method is None:
        return detect()
    wanted = _JAX_NAMES.get(method.lower(), method.lower())
    found = detect(wanted)
    if wanted != found.launcher:
        _log.error("cluster_detection_method %r: there is no such launcher", method)
    return found


def _checked(address, num_processes, process_id, missing: dict[str, str]) -> tuple[str, int, int]:
    if address is None:
        raise ValueError(f"coordinator_address should be defined. {missing.get('address', '')}")
    if not isinstance(address, str):
        raise TypeError(f"coordinator_address is a str, not {type(address).__name__}")
    if num_processes is None:
        raise ValueError(f"Number of processes must be defined. {missing.get('num_tasks', '')}")
    if process_id is None:
        raise ValueError("The process id of the current process must be defined. "
                         f"{missing.get('task', '')}")
    _whole(num_processes, "num_processes")
    if not 0 <= _whole(process_id, "process_id") < num_processes:
        raise ValueError(f"process_id {process_id} is not among {num_processes} processes.")
    return address, num_processes, process_id


def _restrict_devices(devices: list[int] | None) -> None:
    update = getattr(getattr(sys.modules.get("jax"), "config", None), "update", None)
    if devices is None or update is None:
        return
    visible = ",".join(map(str, devices))
    for name in ("jax_cuda_visible_devices", "jax_rocm_visible_devices"):
        update(name, visible)


#: The state of this process.
global_state = State()


def initialize(coordinator_address: str | None = None, num_processes: int | None = None,
               process_id: int | None = None, local_device_ids: int | Sequence[int] | None = None,
               cluster_detection_method: str | None = None, initialization_timeout: int = 300,
               heartbeat_timeout_seconds: int = 100, shutdown_timeout_seconds: int = 300,
               coordinator_bind_address: str | None = None, partition_index: int | None = None,
               slice_index: int | None = None) -> None:
    """As jax.distributed.initialize: process 0 starts the coordinator, unless one is already at the
    address (``coxswain run``, ``coxswain task``, ``coxswain serve``); all processes connect, and it
    returns when all have. Arguments that are None come from the environment: JAX's variables, ours,
    or the launcher's (``coxswain detect``).

    RuntimeError: "UNKNOWN: cannot start server" if something else than this job's coordinator
    listens there."""
    global_state.initialize(**locals())


def shutdown() -> None:
    """As jax.distributed.shutdown: waits until all processes have called it."""
    global_state.shutdown()


def is_initialized() -> bool:
    """Whether this process has a client."""
    return global_state.has_client


_process = os.getpid()


@atexit.register
def _shut_down() -> None:
    # Before clients without a shutdown are shut down (jax_compat._client), and before sessions end.
    if os.getpid() != _process:
        return  # the state belongs to the parent
    try:
        shutdown()
    except Exception as problem:
        print(f"coxswain: the shutdown of process {global_state.process_id} failed: {problem}",
              file=sys.stderr)
