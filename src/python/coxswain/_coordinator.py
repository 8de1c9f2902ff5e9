"""The coordinator in this process."""

from __future__ import annotations

from coxswain import _native
from coxswain._errors import DeadlineExceeded, Unavailable
from coxswain._options import options_of
from coxswain._shape import shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Literal

    from typing_extensions import Self

    from coxswain._coordinator_options import CoordinatorOptions
    from coxswain._types import JobError, JobStatus, Timeout

__all__ = ["Coordinator"]

# How long a listener may take to identify itself as a coordinator, in seconds.
_ANSWER_TIMEOUT = 5.0


class Coordinator:
    """The coordinator of a job of ``num_tasks`` tasks, on its own native thread::

        with coxswain.Coordinator(2, http="8477") as coordinator:
            start_workers(coordinator.address)
            coordinator.wait_done()

    The options may also be a :class:`CoordinatorOptions`, whose documentation explains each; a
    keyword overrides it. Times are seconds or timedeltas, sizes are bytes. None means the default
    of ``coxswain serve``, which has the same options.

    Where others can reach ``listen``, it needs a token, certificates of its clients (``tls_ca``),
    or ``insecure=True``. With ``journal``, a process that is started with the same one, address and
    options after this one was killed continues the job; only this user may read it, because it has
    values and secrets. A recording (``record``, :meth:`recording`) has neither.
    """

    # Made of the program's options by `tests/python/coordinator_test.py --update`.
    def __init__(self, num_tasks: int | CoordinatorOptions, *,
                 listen: str | Sequence[str] | None = None, insecure: bool | None = None,
                 linger: Timeout = None, spin: Timeout = None, queued_bytes_max: int | None = None,
                 connections_max: int | None = None, strangers_per_host_max: int | None = None,
                 handshakes_per_second_max: int | None = None, record_bytes_max: int | None = None,
                 job: str | None = None, attempt: int | None = None,
                 heartbeat_timeout: Timeout = None, reconnect_grace: Timeout = None,
                 coordinator_return: Timeout = None, hosted_by_task: int | None = None,
                 hello_timeout: Timeout = None, stalled_reader_timeout: Timeout = None,
                 join_barrier: bool | None = None, join_timeout_max: Timeout = None,
                 leave_barrier: bool | None = None, leave_timeout_max: Timeout = None,
                 leave_together: bool | None = None, return_timeout: Timeout = None,
                 recoverable: bool | None = None, progress_timeout: Timeout = None,
                 fail_without_progress: bool | None = None, preemption_lead: Timeout = None,
                 preemption_timeout: Timeout = None, key_bytes_max: int | None = None,
                 value_bytes_max: int | None = None, gather_bytes_max: int | None = None,
                 memory_bytes_max: int | None = None, open_requests_max: int | None = None,
                 open_requests_max_per_task: int | None = None, changes_max: int | None = None,
                 change_bytes_max: int | None = None, relay_grace: Timeout = None,
                 spares: int | None = None, last_call: Timeout = None,
                 assign: Literal["order", "member", "placement"] | None = None,
                 come_back: Timeout = None, elastic: bool | None = None,
                 min_tasks: int | None = None,
                 grow: Literal["boundary", "now", "never"] | None = None,
                 ranks: Literal["keep", "member"] | None = None, epoch_timeout: Timeout = None,
                 min_wait: Timeout = None, epochs_max: int | None = None,
                 xla_reconnect_grace: Timeout = None,
                 tls_cert: str | os.PathLike[str] | None = None,
                 tls_key: str | os.PathLike[str] | None = None,
                 tls_ca: str | os.PathLike[str] | None = None,
                 tls_peer_uri_prefix: str | None = None,
                 tls_min: Literal["1.2", "1.3"] | None = None, tls_reload_period: Timeout = None,
                 journal: str | os.PathLike[str] | None = None,
                 durability: Literal["process", "disk"] | None = None,
                 journal_bytes_max: int | None = None, restart_grace: Timeout = None,
                 restart_within: Timeout = None, xla_listen: str | Sequence[str] | None = None,
                 xla_allow: str | Sequence[str] | None = None, xla_insecure: bool | None = None,
                 xla_strict: bool | None = None, xla_alive_timeout: Timeout = None,
                 http: str | int | None = None, http_connections_max: int | None = None,
                 token: str | None = None, tokens: Sequence[tuple[str, str]] | None = None,
                 record: str | os.PathLike[str] | None = None):
    # End of what is made.
        given = locals()
        settings = {name: given[name] for name in ("num_tasks", *_SETTINGS)}
        if hasattr(num_tasks, "__dataclass_fields__"):
            overriding = {name: value for name, value in settings.items() if value is not None}
            settings = {**vars(num_tasks), **overriding, "num_tasks": num_tasks.num_tasks}
        options = _apply(_native.CoordinatorOptions(), settings)
        if settings["tls_min"] is not None and settings["tls_cert"] is None:
            raise ValueError("tls_min needs tls_cert and tls_key")
        self._native = _native.Coordinator(options)

    @classmethod
    def of_task_0(cls, **settings) -> Self | None:
        """The coordinator of the environment's job, in the process of its task 0::

            coordinator = coxswain.Coordinator.of_task_0()   # None in all other processes
            with coxswain.Client.from_environment() as job:
                ...

        Also None if a coordinator exists already, started by ``coxswain run``, ``coxswain task`` or
        ``coxswain serve``. Create it before the client and keep it until the client has left; the
        job loses its coordinator when this process ends.

        The job, its number of tasks, the token and the TLS files are the client's, from the
        environment: see ``Client.from_environment``. It listens at ``COXSWAIN_LISTEN``, else at
        the port of the coordinator's address. Further settings are those of ``Coordinator``, and
        ``address``. Raises ``Unavailable``: it cannot listen there, for example because another
        program does.
        """
        unknown = settings.keys() - {*_SETTINGS, *_OF_CLIENTS}
        if unknown:
            raise TypeError(f"Coordinator has no option {', '.join(sorted(unknown))}")
        ours = {name: value for name, value in settings.items() if name in _OF_CLIENTS}
        client = options_of(None, ours)
        if client.task != 0:
            return None
        rest = {name: value for name, value in settings.items() if name not in _OF_CLIENTS}

        def start() -> Self:
            self = cls.__new__(cls)
            options = _apply(_native.CoordinatorOptions.hosting(client), rest)
            self._native = _native.Coordinator(options)
            return self

        return started_unless_there(start, lambda: options_of(None, ours))

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

    @property
    def http_address(self) -> str | None:
        """"host:port" of the status page, if enabled."""
        return self._native.http_address

    def status(self) -> JobStatus:
        """A snapshot of the whole job; also after :meth:`stop`."""
        return shape.status_of(self._native.look())

    @property
    def error(self) -> JobError | None:
        """Why the job failed, if it did."""
        return shape.job_error_of(self._native.error())

    def recording(self) -> bytes:
        """Its latest inputs, as a file for ``coxswain replay``; also after :meth:`stop`."""
        return self._native.recording()

    def task_ended(self, task: int, code: int, message: str) -> None:
        """For a launcher that detects the end of a task's process: with code OK the task has
        finished, with any other it has failed, without a grace."""
        self._native.task_ended(task, int(code), message)

    def wait_done(self, timeout: Timeout = None) -> bool:
        """Waits until all tasks have left, the job has failed and its tasks have ended, or the
        coordinator was stopped; false if none of these happens in time."""
        return self._native.wait_done(timeout)

    def stop(self, reason: str = "stopped by its program") -> None:
        """An orderly stop: returns when every peer has read its goodbye, or ``linger`` has passed.
        ``Unavailable``: not all of the recording could be written."""
        self._native.stop(reason)


_SETTINGS = tuple(Coordinator.__init__.__kwdefaults__)
# The client variables that a coordinator uses too.
_OF_CLIENTS = ("address", "task", "num_tasks", "job", "attempt", "token", "tls_ca", "tls_cert",
               "tls_key", "tls_peer_uri_prefix")


def _apply(options: _native.CoordinatorOptions, settings: dict) -> _native.CoordinatorOptions:
    given = {name: value for name, value in settings.items() if value is not None}
    for role, secret in given.pop("tokens", ()):
        options.add_token(role, secret)
    if token := given.pop("token", None):
        options.add_token("worker", token)
    for name, value in given.items():
        is_text = name == "http" or hasattr(value, "__fspath__")
        setattr(options, name, str(value) if is_text else value)
    return options


def started_unless_there(start: Callable[[], Coordinator],
                         client: Callable[[], _native.Options]) -> Coordinator | None:
    """``start()``; but None if a coordinator already replies at the client's address. Raises its
    error if it refuses the client."""
    if not _why_nobody_answers(client()):
        return None
    try:
        return start()
    except Unavailable as problem:
        # Another process was faster; it may be the coordinator.
        why = _why_nobody_answers(client())
        if not why:
            return None
        raise Unavailable(f"{problem.message} No coordinator answers at {client().address} either: "
                          f"{why}") from problem


def _why_nobody_answers(client: _native.Options) -> str:
    import time
    client.task = None
    client.connect_timeout = _ANSWER_TIMEOUT
    until = time.monotonic() + _ANSWER_TIMEOUT
    while _is_listened_at(client.address):
        session = _native.Session()
        try:
            session.connect(client)
            return ""
        except DeadlineExceeded as problem:
            return problem.message
        except Unavailable as problem:  # it is stopping
            if time.monotonic() > until:
                return problem.message
            time.sleep(0.01)
        finally:
            session.close()
    return "nothing listens there."


def _is_listened_at(address: str) -> bool:
    """Whether anything listens there; a client would retry until its timeout."""
    import socket
    try:
        if address.startswith("unix:"):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _ANSWER_TIMEOUT).close()
    except (OSError, ValueError):
        return False
    return True
