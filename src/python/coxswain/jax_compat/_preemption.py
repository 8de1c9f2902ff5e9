"""jaxlib's preemption sync manager: SIGTERM is a preemption notice for this process."""

from __future__ import annotations

import signal

from coxswain import _native
from coxswain.jax_compat._client import DistributedRuntimeClient
from coxswain.jax_compat._errors import as_jax, failed


class PreemptionSyncManager:
    """Made by create_preemption_sync_manager.

    While it is in use SIGTERM does not end the process. The client's native thread handles the
    signal, whatever Python does meanwhile.
    """

    def __init__(self):
        self._native: _native.Session | None = None
        self._notice: _native.Call | None = None

    def initialize(self, distributed_client: DistributedRuntimeClient) -> None:
        """Catches SIGTERM from now on, for this client. FAILED_PRECONDITION: it already does, the
        client is not connected, or the process was forked from one that does."""
        if self._native is not None:
            raise failed("FAILED_PRECONDITION", "The preemption sync manager is initialised.")
        self._native = distributed_client._session
        with as_jax():
            self._notice = self._native.preempt_at_signal(signal.SIGTERM, 0.0)

    def reached_sync_point(self, step_counter: int) -> bool:
        """All tasks call this with each step; true at the one where all save their state."""
        if self._native is None or self._notice is None:
            raise failed("FAILED_PRECONDITION", "The preemption sync manager is not initialised.")
        with as_jax():
            return self._native.reached_sync_point(step_counter)

    def shutdown(self) -> None:
        """SIGTERM ends the process again."""
        if self._native is not None and self._notice is not None:
            self._native.cancel(self._notice)
        self._notice = None


def create_preemption_sync_manager() -> PreemptionSyncManager:
    """A manager to be initialized."""
    return PreemptionSyncManager()
