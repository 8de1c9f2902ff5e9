"""Calls that end when the coordinator has not replied in time, also those that have no timeout."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from coxswain._errors import DeadlineExceeded

__all__ = ["ask", "ask_now", "is_unanswered"]

# So long, in seconds, the coordinator may take to reply, however short the timeout is.
_REPLY_MIN = 1.0


def ask(native, timeout: float, name: str, *arguments):
    """The result of a native call that has no timeout of its own. It may take effect after
    this has raised DeadlineExceeded, if it was sent."""
    return getattr(native, name)(*arguments, within=max(timeout, _REPLY_MIN))


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
