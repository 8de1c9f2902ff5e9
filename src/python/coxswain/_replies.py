"""Calls that end when the coordinator has not replied in time, also those that have no timeout."""

from __future__ import annotations

import math
import os
import re
import select
import time
from collections.abc import Callable

from coxswain import _native
from coxswain._errors import DeadlineExceeded

__all__ = ["ask", "ask_now", "is_unanswered"]

# So long, in seconds, the coordinator may take to reply, however short the timeout is.
_REPLY_MIN = 1.0


def ask(native, timeout: float, name: str, *arguments):
    """The result of a native call that has no timeout of its own. It may take effect after
    this has raised DeadlineExceeded, if it was sent."""
    waiting = _Waiting.any()
    limit = max(timeout, _REPLY_MIN)
    call = getattr(native, "begin_" + name)(waiting.mailbox, 0, *arguments)
    try:
        ended = waiting.within(limit)
        is_late = ended is None
        if is_late:
            native.cancel(call)
            ended = waiting.within(math.inf)
    except BaseException:
        native.cancel(call)
        raise
    waiting.keep()
    _, value, problem = ended
    if is_late and problem is not None:
        raise DeadlineExceeded(f"{name}: no reply from the coordinator within {limit:g} s")
    if problem is not None:
        raise problem
    return value


def ask_now(timeout: float, call: Callable):
    """The result of a call with a timeout that is to wait for the coordinator alone."""
    end = time.monotonic() + max(timeout, _REPLY_MIN)
    limit = 0.0
    while True:
        try:
            return call(limit)
        except DeadlineExceeded as problem:
            left = end - time.monotonic()
            if not is_unanswered(problem) or left <= 0:
                raise
            limit = min(left, 0.1)


def is_unanswered(problem: DeadlineExceeded) -> bool:
    """Whether the coordinator did not reply at all, rather than that nothing came in time."""
    return bool(re.match(r"(?s)\w+( of .*)?: no reply from the coordinator ", problem.message))


class _Waiting:
    """Where one thread waits for one call. Each costs a descriptor, so they are used again."""

    _free: list[_Waiting] = []

    def __init__(self):
        self.mailbox = _native.Mailbox()
        self._ready = select.poll()
        self._ready.register(self.mailbox.fileno(), select.POLLIN)

    @classmethod
    def any(cls) -> _Waiting:
        try:
            return cls._free.pop()
        except IndexError:
            return cls()

    def keep(self) -> None:
        """For the next call; not while one is open."""
        self._free.append(self)

    def within(self, timeout: float):
        """The ended call as (number, value, exception); None: it has not ended in time."""
        end = time.monotonic() + timeout
        while True:
            left = max(end - time.monotonic(), 0)
            if self._ready.poll(min(left, 1e6) * 1000):
                if ended := self.mailbox.take():
                    return ended[0]
            elif left == 0:
                return None


# A child's would share descriptors with its parent's.
os.register_at_fork(after_in_child=_Waiting._free.clear)
