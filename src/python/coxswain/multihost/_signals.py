"""Signals that the steps of one operation, a checkpoint being saved say, give each other: who
waits is told by whom it may be kept waiting, and goes on once that has happened."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence

from coxswain.multihost._signaling import get_signaling_client

_SUCCESS = "signal_action_success"


class HandlerAwaitableSignal(enum.Enum):
    """What can be waited for. The first one is the list of those that an operation will give."""

    AWAITABLE_SIGNALS_CONTRACT = "awaitable_signals_contract"
    STEP_DIRECTORY_CREATION = "step_directory_creation"
    ITEM_DIRECTORY_CREATION = "item_directory_creation"


class OperationIdGenerator:
    """Numbers the operations of this process. All processes begin the same ones in the same order,
    so they agree on the numbers."""

    _numbers = itertools.count(1)
    _current = 0

    @classmethod
    def next_operation_id(cls) -> str:
        """Begins the next operation; gives its id."""
        cls._current = next(cls._numbers)
        return cls.get_current_operation_id()

    @classmethod
    def get_current_operation_id(cls) -> str:
        """The id of the operation that was begun last; "0" before the first one."""
        return str(cls._current)


def _directory(operation_id: str | None) -> str:
    if operation_id is None:
        operation_id = OperationIdGenerator.get_current_operation_id()
    return f"awaitable_signals_contract_{operation_id}/"


def _key(signal: HandlerAwaitableSignal, operation_id: str | None) -> str:
    return _directory(operation_id) + signal.value


class AwaitableSignalsContract:
    """Which signals the processes may wait for in an operation, the current one unless its id is
    given."""

    @classmethod
    def get_awaitable_signals_from_contract(cls, operation_id: str | None = None
                                            ) -> list[HandlerAwaitableSignal]:
        """Those that have been added; none if nobody has added any."""
        key = _key(HandlerAwaitableSignal.AWAITABLE_SIGNALS_CONTRACT, operation_id)
        names = get_signaling_client().key_value_try_get(key)
        return [HandlerAwaitableSignal(name) for name in names.split(",")] if names else []

    @classmethod
    def add_to_awaitable_signals_contract(cls, signals: Sequence[HandlerAwaitableSignal],
                                          operation_id: str | None = None) -> None:
        """By one process at a time."""
        if not signals:
            return
        known = cls.get_awaitable_signals_from_contract(operation_id)
        names = dict.fromkeys(signal.value for signal in [*known, *signals])
        key = _key(HandlerAwaitableSignal.AWAITABLE_SIGNALS_CONTRACT, operation_id)
        get_signaling_client().key_value_set(key, ",".join(names), allow_overwrite=True)

    @classmethod
    def remove_all_awaitable_signals(cls, operation_id: str | None = None) -> None:
        """The contract and the signals that have been given; once all have been waited for."""
        get_signaling_client().key_value_delete(_directory(operation_id))


def set_signals(send_signals: Sequence[HandlerAwaitableSignal],
                operation_id: str | None = None) -> None:
    """Gives these, once or again; of the current operation unless its id is given."""
    for signal in send_signals:
        get_signaling_client().key_value_set(_key(signal, operation_id), _SUCCESS,
                                             allow_overwrite=True)


def wait_for_signals(receive_signals: Sequence[HandlerAwaitableSignal], *, timeout_secs: float,
                     operation_id: str | None = None) -> None:
    """Waits until all of these have been given, each for at most ``timeout_secs``; of the current
    operation unless its id is given. TimeoutError, which is a DeadlineExceeded where there is a
    client, says which one has not."""
    for signal in receive_signals:
        get_signaling_client().blocking_key_value_get(_key(signal, operation_id), timeout_secs)
