"""The options of a coordinator as a dataclass, imported on first use."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coxswain import _native

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Literal

    from coxswain._types import Timeout

__all__ = ["CoordinatorOptions"]


@dataclass
class CoordinatorOptions:
    num_tasks: int
    # Made of the program's options by `tests/python/coordinator_test.py --update`.
    listen: str | Sequence[str] | None = None
    insecure: bool | None = None
    linger: Timeout = None
    spin: Timeout = None
    queued_bytes_max: int | None = None
    connections_max: int | None = None
    strangers_per_host_max: int | None = None
    handshakes_per_second_max: int | None = None
    record_bytes_max: int | None = None
    job: str | None = None
    attempt: int | None = None
    heartbeat_timeout: Timeout = None
    reconnect_grace: Timeout = None
    coordinator_return: Timeout = None
    hosted_by_task: int | None = None
    hello_timeout: Timeout = None
    stalled_reader_timeout: Timeout = None
    join_barrier: bool | None = None
    join_timeout_max: Timeout = None
    leave_barrier: bool | None = None
    leave_timeout_max: Timeout = None
    leave_together: bool | None = None
    return_timeout: Timeout = None
    recoverable: bool | None = None
    progress_timeout: Timeout = None
    fail_without_progress: bool | None = None
    preemption_lead: Timeout = None
    preemption_timeout: Timeout = None
    key_bytes_max: int | None = None
    value_bytes_max: int | None = None
    gather_bytes_max: int | None = None
    memory_bytes_max: int | None = None
    open_requests_max: int | None = None
    open_requests_max_per_task: int | None = None
    changes_max: int | None = None
    change_bytes_max: int | None = None
    relay_grace: Timeout = None
    spares: int | None = None
    last_call: Timeout = None
    assign: Literal["order", "member", "placement"] | None = None
    come_back: Timeout = None
    elastic: bool | None = None
    min_tasks: int | None = None
    grow: Literal["boundary", "now", "never"] | None = None
    ranks: Literal["keep", "member"] | None = None
    epoch_timeout: Timeout = None
    min_wait: Timeout = None
    epochs_max: int | None = None
    xla_reconnect_grace: Timeout = None
    tls_cert: str | os.PathLike[str] | None = None
    tls_key: str | os.PathLike[str] | None = None
    tls_ca: str | os.PathLike[str] | None = None
    tls_peer_uri_prefix: str | None = None
    tls_min: Literal["1.2", "1.3"] | None = None
    tls_reload_period: Timeout = None
    journal: str | os.PathLike[str] | None = None
    durability: Literal["process", "disk"] | None = None
    journal_bytes_max: int | None = None
    restart_grace: Timeout = None
    restart_within: Timeout = None
    xla_listen: str | Sequence[str] | None = None
    xla_allow: str | Sequence[str] | None = None
    xla_insecure: bool | None = None
    xla_strict: bool | None = None
    xla_alive_timeout: Timeout = None
    http: str | int | None = None
    http_connections_max: int | None = None
    token: str | None = None
    tokens: Sequence[tuple[str, str]] | None = None
    record: str | os.PathLike[str] | None = None
    # End of what is made.


def _documentation() -> str:
    rows = _native.CoordinatorOptions.rows()
    names = {flag: name for name, _, _, _, flag in rows if flag}

    def named(flag: re.Match[str]) -> str:
        return f"``{names.get(flag[1], flag[1].replace('-', '_'))}``"

    lines = ["Options of a :class:`Coordinator`; None means the default, in parentheses.", "",
             "``token``: the one secret, which gives the role of a worker.",
             "``tokens``: pairs of a role (\"reader\", \"operator\", \"worker\") and a secret.",
             "``record``: write all inputs to this file, for ``coxswain replay``."]
    for name, _, text, default, _ in rows:
        if isinstance(default, float) and default > 1e9:
            default = "no limit"
        is_shown = default not in (None, "", [], False) and "default" not in text
        lines.append(f"``{name}{'=False' if default is True else ''}``: "
                     + re.sub(r"--([a-z-]+)", named, text)
                     + (f" ({default})" if is_shown and default is not True else ""))
    return "\n".join(lines)


CoordinatorOptions.__doc__ = _documentation()
