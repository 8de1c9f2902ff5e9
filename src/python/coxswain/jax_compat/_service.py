"""The coordination service of jaxlib: our coordinator."""

from __future__ import annotations

import os

from coxswain._coordinator import Coordinator
from coxswain._errors import Error
from coxswain.jax_compat._client import text_of
from coxswain.jax_compat._errors import failed

# jaxlib's own, in seconds.
HEARTBEAT_TIMEOUT = 100


class DistributedRuntimeService:
    """Made by get_distributed_runtime_service."""

    def __init__(self, coordinator: Coordinator):
        self._coordinator = coordinator

    @property
    def address(self) -> str:
        """Where it listens; jaxlib has no such thing."""
        return self._coordinator.address

    def shutdown(self) -> None:
        """Stops it. Calls that are open fail."""
        self._coordinator.stop("the service was shut down")


def get_distributed_runtime_service(
        address: str, num_nodes: int, heartbeat_timeout: int | None = None,
        cluster_register_timeout: int | None = None, shutdown_timeout: int | None = None,
        recoverable: bool | None = None) -> DistributedRuntimeService:
    """Starts the coordinator of a job in this process. Times are whole seconds.

    As jaxlib's it takes anybody in, unless ``COXSWAIN_TOKEN`` is set. ``cluster_register_timeout``
    is the clients' to say; with a ``shutdown_timeout`` of 0 each task leaves alone, and otherwise
    the clients say how long to wait. UNKNOWN: it cannot listen there.
    """
    host, _, port = text_of(address, "address").rpartition(":")
    token = os.environ.get("COXSWAIN_TOKEN")
    try:
        return DistributedRuntimeService(Coordinator(
            num_nodes, listen=f":{port}" if host == "[::]" else address, token=token or None,
            insecure=not token, recoverable=bool(recoverable),
            leave_barrier=shutdown_timeout != 0 and not recoverable,
            heartbeat_timeout=heartbeat_timeout or HEARTBEAT_TIMEOUT))
    except Error as problem:
        raise failed("UNKNOWN", f"cannot start server at {address}: {problem}") from problem
