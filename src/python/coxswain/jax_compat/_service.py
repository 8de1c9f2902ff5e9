"""jaxlib's coordination service, on our coordinator."""

from __future__ import annotations

from coxswain._coordinator import Coordinator, started_unless_there
from coxswain._errors import Error, FailedPrecondition
from coxswain._options import options_of, settings_of_environment
from coxswain.jax_compat._client import SHUTDOWN_TIMEOUT, text_of
from coxswain.jax_compat._errors import failed

# jaxlib's defaults, in seconds.
HEARTBEAT_TIMEOUT = 100


class DistributedRuntimeService:
    """Made by get_distributed_runtime_service."""

    def __init__(self, coordinator: Coordinator):
        self._coordinator = coordinator

    @property
    def address(self) -> str:
        """Where it listens. Not in jaxlib."""
        return self._coordinator.address

    def shutdown(self) -> None:
        """Stops it. Open calls fail."""
        self._coordinator.stop("the service was shut down")


def get_distributed_runtime_service(
        address: str, num_nodes: int, heartbeat_timeout: int | None = None,
        cluster_register_timeout: int | None = None, shutdown_timeout: int | None = None,
        recoverable: bool | None = None) -> DistributedRuntimeService:
    """Starts the coordinator of a job in this process. Times are integral seconds.

    Like jaxlib's it accepts every client, unless ``COXSWAIN_TOKEN`` or the TLS files are set.
    A connecting client waits for the others at most ``cluster_register_timeout`` (no limit), even
    if its ``init_timeout`` is longer. A shutdown waits at most ``shutdown_timeout`` (300); with 0
    each task leaves alone. UNKNOWN: it cannot listen there.
    """
    try:
        return DistributedRuntimeService(
            _coordinator(address, num_nodes, heartbeat_timeout, shutdown_timeout, recoverable,
                         join_timeout_max=cluster_register_timeout))
    except Error as problem:
        raise failed("UNKNOWN", f"cannot start server at {address}: {problem}") from problem


def service_unless_there(bind: str, num_nodes: int, address: str, heartbeat_timeout: int,
                         shutdown_timeout: int, recoverable: bool
                         ) -> DistributedRuntimeService | None:
    """As get_distributed_runtime_service, but None if the coordinator of this job is already at the
    address. UNKNOWN: it is not, and cannot be started."""
    def client():
        return options_of(address, {**settings_of_environment(), "num_tasks": num_nodes})

    def start():
        return _coordinator(bind, num_nodes, heartbeat_timeout, shutdown_timeout, recoverable)

    try:
        started = started_unless_there(start, client)
    except FailedPrecondition as problem:  # the coordinator there refuses this job
        raise failed(problem.code.name, problem.message) from problem
    except Error as problem:
        raise failed("UNKNOWN", f"cannot start server at {bind}: {problem}") from problem
    return None if started is None else DistributedRuntimeService(started)


def _coordinator(address: str, num_nodes: int, heartbeat_timeout: int | None,
                 shutdown_timeout: int | None, recoverable: bool | None,
                 join_timeout_max: int | None = None) -> Coordinator:
    host, _, port = text_of(address, "address").rpartition(":")
    given = settings_of_environment()
    is_guarded = "token" in given or ("tls_ca" in given and "tls_cert" in given)
    return Coordinator(
        num_nodes, listen=f":{port}" if host == "[::]" else address, insecure=not is_guarded,
        hosted_by_task=0, recoverable=bool(recoverable), join_timeout_max=join_timeout_max,
        leave_timeout_max=SHUTDOWN_TIMEOUT if shutdown_timeout is None else shutdown_timeout,
        heartbeat_timeout=heartbeat_timeout or HEARTBEAT_TIMEOUT, **given)

