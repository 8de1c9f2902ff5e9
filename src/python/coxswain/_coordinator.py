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

    from coxswain._types import JobError, JobStatus, Timeout

__all__ = ["Coordinator"]

# How long a listener may take to identify itself as a coordinator, in seconds.
_ANSWER_TIMEOUT = 5.0


class Coordinator:
    """The coordinator of a job of ``num_tasks`` tasks, on its own native thread::

        with coxswain.Coordinator(2, http="8477") as coordinator:
            start_workers(coordinator.address)
            coordinator.wait_done()

    Times are seconds or timedeltas, sizes are bytes. None means the default of ``coxswain serve``,
    which has the same options.

    Listening and admission:

    ``listen``: "host:port" (port 0: any), ":port" (all addresses) or "unix:/path", or several.
        Where others can reach it, it needs a token, certificates of its clients (``tls_ca``), or
        ``insecure=True``.
    ``token``: the one secret, which gives the role of a worker. ``tokens``: pairs of a role
        ("reader", "operator", "worker") and a secret.
    ``tls_cert``, ``tls_key``: PEM files; it speaks TLS 1.3 only, from 1.2 on with
        ``tls_min="1.2"``. ``tls_ca``: its clients need certificates of this authority.
        ``tls_peer_uri_prefix``: and these need a URI name that begins so.
    ``handshakes_per_second_max``: TLS handshakes that one host may begin (1000).
    ``connections_max``: connections at once (the limit of open files less 64).
        ``strangers_per_host_max``: those of one host before their Hello (half of them).
    ``hello_timeout``: how long a new connection may take to say Hello (10 s).
    ``xla_listen``: further addresses, as ``listen``, for unmodified JAX and torch programs, which
        send no token; without tokens and TLS those of ``listen`` serve them, too. A process that
        reaches one can act for any task: a Unix socket is for this user only, others need
        ``tls_ca``, ``xla_allow`` (hosts, such as "10.0.0.0/8", or several) or
        ``xla_insecure=True``.
    ``xla_strict``: behave like XLA's service where its tests require what our rules forbid.
        ``xla_reconnect_grace``: time before the task of such a program fails whose connection was
        closed, at most ``reconnect_grace`` (0.2 s). ``xla_alive_timeout``: time limit of
        GetAliveTasks (none).
    ``job``, ``attempt``: the job's name ("default"), and the launcher's restart count.
    ``hosted_by_task``: the task whose process this is, for clients that cannot reach it.

    How the job runs:

    ``recoverable``: a task that fails does not fail the job, unless it states otherwise.
    ``join_barrier``, ``leave_barrier``: tasks wait for each other when they join and leave (true);
        where all are recoverable, for leaving only with ``leave_together``.
    ``join_timeout_max``: a join waits for the others at most this long, even if its caller would
        wait longer (no limit).
    ``leave_timeout_max``: a leave waits at most this long, even if its caller would wait longer (no
        limit; 0: each task leaves alone).
    ``return_timeout``: a task that left to return fails if it has not joined by then (10 min).
    ``spares``: how many processes may wait to replace a recoverable task that fails (0). They join
        without a number, see ``Client``; ``assign``: how these get theirs at the start: by "order",
        "member" or "placement" ("member"), ``last_call``: how long the start waits for spares (15
        s), ``come_back``: how long the number of a failed task is kept for its own next process
        (15 s), except in an elastic job.
    ``elastic``: the number of tasks changes from epoch to epoch, between ``min_tasks`` (1) and
        ``num_tasks``; see :meth:`Client.epochs`. ``grow``: when processes that wait join: at the
        "boundary", when all members call ``next_epoch``, "now" or "never" ("boundary"), ``ranks``:
        members "keep" their numbers, or all are sorted by "member" ("keep"), ``epoch_timeout``:
        a member that does not call ``next_epoch`` this long after another one has failed (10 min;
        0: never), ``min_wait``: the job fails after this long with fewer than ``min_tasks`` (10
        min), ``epochs_max``: or instead of beginning more epochs (0: no limit).
    ``heartbeat_timeout``: a task that is silent for this long has failed (100 s).
    ``reconnect_grace``: time for a lost connection to resume before its tasks fail (2 s).
        ``relay_grace``: the same if its relay is lost (5 s). ``coordinator_return``: clients give
        up a coordinator whose host refuses connections for this long (30 s).
    ``progress_timeout``: a task whose step does not advance for this long is logged (0: off),
        and fails with ``fail_without_progress``.
    ``preemption_lead``: all tasks agree on a step this long before one is preempted (15 min).
        ``preemption_timeout``: time limit of the agreement (30 s).
    ``journal``: a directory to which all inputs are written before anything is answered (none). A
        process that is started with the same one, address and options after this one was killed
        continues the job. Only this user may read it: it has values and secrets, but no tokens.
        ``durability``: what the journal survives: "process", the end of this process, or "disk",
        that of the machine, for which each reply waits until the disk has it ("process").
        ``journal_bytes_max``: nothing more is stored while its files are larger (0: no limit).
        ``restart_grace``: tasks that have not resumed this long after a restart fail (15 s, at
        least 1 s). Clients suspect a silent connection after a third of it.
        ``restart_within``: clients wait this long for a restart (10 min).
    ``linger``: how long :meth:`stop` waits for the last bytes to be read (2 s).
    ``spin``: how long its thread polls for input after each message before it sleeps, which costs a
        core (0: not; at most 1 s).

    Limits:

    ``memory_bytes_max``: three quarters for what is stored, the rest for messages in transit (half
        of what machine, control group and ``ulimit -v`` allow).
    ``value_bytes_max`` (1 GiB), ``key_bytes_max`` (4 KiB), ``gather_bytes_max`` of one barrier
        (64 MiB).
    ``changes_max``, ``change_bytes_max``: changes of keys that are kept for watches (65,536 and
        64 MiB).
    ``open_requests_max`` of a session (4096), and ``open_requests_max_per_task`` in addition (16).
    ``queued_bytes_max``: bytes queued for one session before reading from it pauses (64 MiB).
    ``stalled_reader_timeout``: a peer that reads nothing for this long is disconnected (30 s).

    Looking at it:

    ``http``: a status page at "port", ":port" or "host:port" (port 0: any; without a host on
        127.0.0.1); see :attr:`http_address`. It asks for the same tokens and certificates.
        ``http_connections_max``: its connections at once (256).
    ``record``: a file to which all inputs are written, for ``coxswain replay``. Only this user
        may read it.
    ``record_bytes_max``: how much of that is kept in memory for :meth:`recording` (16 MiB; 0:
        none). Neither has values, tokens or secrets.
    """

    def __init__(self, num_tasks: int, *, listen: str | Sequence[str] | None = None,
                 insecure: bool | None = None, token: str | None = None,
                 tokens: Sequence[tuple[str, str]] | None = None, tls_ca: str | None = None,
                 tls_cert: str | None = None, tls_key: str | None = None,
                 tls_peer_uri_prefix: str | None = None, tls_min: str | None = None,
                 handshakes_per_second_max: int | None = None, connections_max: int | None = None,
                 strangers_per_host_max: int | None = None, hello_timeout: Timeout = None,
                 xla_listen: str | Sequence[str] | None = None,
                 xla_allow: str | Sequence[str] | None = None, xla_insecure: bool | None = None,
                 xla_strict: bool | None = None, xla_reconnect_grace: Timeout = None,
                 xla_alive_timeout: Timeout = None,
                 job: str | None = None, attempt: int | None = None,
                 hosted_by_task: int | None = None,
                 recoverable: bool | None = None, join_barrier: bool | None = None,
                 join_timeout_max: Timeout = None, leave_barrier: bool | None = None,
                 leave_timeout_max: Timeout = None,
                 leave_together: bool | None = None,
                 return_timeout: Timeout = None, spares: int | None = None,
                 assign: Literal["order", "member", "placement"] | None = None,
                 last_call: Timeout = None, come_back: Timeout = None,
                 elastic: bool | None = None, min_tasks: int | None = None,
                 grow: Literal["boundary", "now", "never"] | None = None,
                 ranks: Literal["keep", "member"] | None = None,
                 epoch_timeout: Timeout = None, min_wait: Timeout = None,
                 epochs_max: int | None = None,
                 heartbeat_timeout: Timeout = None, reconnect_grace: Timeout = None,
                 relay_grace: Timeout = None, coordinator_return: Timeout = None,
                 progress_timeout: Timeout = None,
                 fail_without_progress: bool | None = None, preemption_lead: Timeout = None,
                 preemption_timeout: Timeout = None,
                 journal: str | os.PathLike[str] | None = None,
                 durability: Literal["process", "disk"] | None = None,
                 journal_bytes_max: int | None = None,
                 restart_grace: Timeout = None, restart_within: Timeout = None,
                 linger: Timeout = None, spin: Timeout = None,
                 memory_bytes_max: int | None = None, value_bytes_max: int | None = None,
                 key_bytes_max: int | None = None, gather_bytes_max: int | None = None,
                 changes_max: int | None = None, change_bytes_max: int | None = None,
                 open_requests_max: int | None = None,
                 open_requests_max_per_task: int | None = None,
                 queued_bytes_max: int | None = None, stalled_reader_timeout: Timeout = None,
                 http: str | int | None = None, http_connections_max: int | None = None,
                 record: str | os.PathLike[str] | None = None,
                 record_bytes_max: int | None = None):
        said = locals()
        settings = {name: said[name] for name in ("num_tasks", *_SETTINGS)}
        self._native = _native.Coordinator(_apply(_native.CoordinatorOptions(), settings))

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
_CHOICES = {
    "durability": ("process", "disk"),
    "assign": ("order", "member", "placement"),
    "grow": ("boundary", "now", "never"),
    "ranks": ("keep", "member"),
}
_TLS = ("tls_ca", "tls_cert", "tls_key", "tls_peer_uri_prefix")


def _apply(options: _native.CoordinatorOptions, settings: dict) -> _native.CoordinatorOptions:
    given = {name: value for name, value in settings.items() if value is not None}
    least = given.pop("tls_min", None)
    if least not in (None, "1.2", "1.3"):
        raise ValueError(f"tls_min is '1.2' or '1.3', not {least!r}")
    files = {name: str(given.pop(name)) for name in _TLS if name in given}
    if files:
        options.use_tls(*(files.get(name, "") for name in _TLS), least == "1.2")
    elif least is not None:
        raise ValueError("tls_min needs tls_cert and tls_key")
    for role, secret in given.pop("tokens", ()):
        options.add_token(role, secret)
    if token := given.pop("token", None):
        options.add_token("worker", token)
    for name in ("listen", "xla_listen", "xla_allow"):
        if isinstance(given.get(name), str):
            given[name] = [given[name]]
    for name in ("http", "record", "journal"):
        if name in given:
            given[name] = str(given[name])
    for name, choices in _CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            listed = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
            raise ValueError(f"{name} is {listed}, not {given[name]!r}")
    for name, value in given.items():
        setattr(options, name, value)
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
