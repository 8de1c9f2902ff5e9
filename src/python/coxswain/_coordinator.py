"""The coordinator in this process."""

from __future__ import annotations

from coxswain import _native
from coxswain._options import options_of
from coxswain._shape import shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from coxswain._types import JobError, JobStatus, Timeout

__all__ = ["Coordinator"]

_SETTINGS = ("job", "attempt", "recoverable", "insecure", "join_barrier", "leave_barrier",
             "fail_without_progress", "memory_bytes_max", "value_bytes_max", "gather_bytes_max",
             "heartbeat_timeout", "reconnect_grace", "progress_timeout", "preemption_lead",
             "preemption_timeout")


class Coordinator:
    """The coordinator of a job of ``num_tasks`` tasks, on a native thread of its own::

        with coxswain.Coordinator(2) as coordinator:
            start_workers(coordinator.address)
            coordinator.wait_done()

    ``listen``: "host:port" (port 0: any), ":port" (all addresses) or "unix:/path", or several.
    Where others can reach it, it needs a token, certificates of its clients (``tls_ca``), or
    ``insecure=True``. ``token`` gives the role of a worker; ``tokens`` are pairs of a role
    ("reader", "operator", "worker") and a token. Times are seconds or timedeltas. The other options
    are those of ``coxswain serve``.
    """

    def __init__(self, num_tasks: int, *, listen: str | Sequence[str] = "127.0.0.1:0",
                 token: str | None = None, tokens: Sequence[tuple[str, str]] = (),
                 tls_ca: str | None = None, tls_cert: str | None = None,
                 tls_key: str | None = None, tls_peer_uri_prefix: str | None = None,
                 job: str | None = None, attempt: int | None = None,
                 recoverable: bool | None = None, insecure: bool | None = None,
                 join_barrier: bool | None = None, leave_barrier: bool | None = None,
                 heartbeat_timeout: Timeout = None, reconnect_grace: Timeout = None,
                 progress_timeout: Timeout = None, fail_without_progress: bool | None = None,
                 preemption_lead: Timeout = None, preemption_timeout: Timeout = None,
                 memory_bytes_max: int | None = None, value_bytes_max: int | None = None,
                 gather_bytes_max: int | None = None):
        said = locals()
        options = _native.ServerOptions()
        options.num_tasks = num_tasks
        options.listen = [listen] if isinstance(listen, str) else list(listen)
        for name in _SETTINGS:
            if said[name] is not None:
                setattr(options, name, said[name])
        for role, secret in (*tokens, *([("worker", token)] if token else ())):
            options.add_token(role, secret)
        if any((tls_ca, tls_cert, tls_key, tls_peer_uri_prefix)):
            options.use_tls(*(str(one or "") for one in
                              (tls_ca, tls_cert, tls_key, tls_peer_uri_prefix)))
        self._native = _native.Coordinator(options)

    @classmethod
    def of_task_0(cls, **settings) -> Self | None:
        """The coordinator that the environment's job wants to meet, if this process is its task 0;
        else None. To be made before the client, and to be stopped after it. It listens where
        ``COXSWAIN_LISTEN`` says, else at the port of the coordinator's address."""
        client = options_of(None, settings)
        if client.task != 0:
            return None
        self = cls.__new__(cls)
        self._native = _native.Coordinator(_native.ServerOptions.hosting(client))
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind, problem, trace) -> None:
        self.stop()

    @property
    def addresses(self) -> list[str]:
        """Where it listens."""
        return self._native.addresses

    @property
    def address(self) -> str:
        """The first of :attr:`addresses`."""
        return self.addresses[0]

    def status(self) -> JobStatus:
        """What the whole job is doing; also after :meth:`stop`."""
        return shape.status_of(self._native.look())

    @property
    def error(self) -> JobError | None:
        """Why the job failed, if it did."""
        return shape.job_error_of(self._native.error())

    def task_ended(self, task: int, code: int, message: str) -> None:
        """For who has started a task and saw it end: it has failed, without a grace."""
        self._native.task_ended(task, int(code), message)

    def wait_done(self, timeout: Timeout = None) -> bool:
        """Waits until all tasks have left, the job has failed and its tasks are gone, or the
        coordinator was stopped; false if the time passes without."""
        return self._native.wait_done(timeout)

    def stop(self, reason: str = "stopped by its program") -> None:
        """An orderly stop: returns when every peer has read its goodbye, or 2 s have passed."""
        self._native.stop(reason)
