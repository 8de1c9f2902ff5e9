"""Signals between the steps of one operation, such as saving a checkpoint: a contract lists the
signals that may be awaited, and a waiting step continues once they are given."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence

from coxswain.multihost._signaling import get_signaling_client

_SUCCESS = "signal_action_success"


class HandlerAwaitableSignal(enum.Enum):
    """The signals that can be awaited. The first is the list of those that an operation will
    give."""

    AWAITABLE_SIGNALS_CONTRACT = "awaitable_signals_contract"
    STEP_DIRECTORY_CREATION = "step_directory_creation"
    ITEM_DIRECTORY_CREATION = "item_directory_creation"


class OperationIdGenerator:
    """Numbers the operations of this process. All processes begin the same ones in the same order,
    so the numbers agree."""

    _numbers = itertools.count(1)
    _current = 0

    @classmethod
    def next_operation_id(cls) -> str:
        """Begins the next operation; returns its id."""
        cls._current = next(cls._numbers)
        return cls.get_current_operation_id()

    @classmethod
    def get_current_operation_id(cls) -> str:
        """The id of the current operation; "0" before the first one."""
        return str(cls._current)


def _directory(operation_id: str | None) -> str:
    if operation_id is None:
        operation_id = OperationIdGenerator.get_current_operation_id()
    return f"awaitable_signals_contract_{operation_id}/"


def _key(signal: HandlerAwaitableSignal, operation_id: str | None) -> str:
    return _directory(operation_id) + signal.value


class AwaitableSignalsContract:
    """The signals that may be awaited in an operation, by default the current one."""

    @classmethod
    def get_awaitable_signals_from_contract(cls, operation_id: str | None = None
                                            ) -> list[HandlerAwaitableSignal]:
        """The added signals; none if no process added any."""
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
        """Removes the contract and the given signals; call it after all waits."""
        get_signaling_client().key_value_delete(_directory(operation_id))


def set_signals(send_signals: Sequence[HandlerAwaitableSignal],
                operation_id: str | None = None) -> None:
    """Gives these signals; may be repeated; by default of the current operation."""
    for signal in send_signals:
        get_signaling_client().key_value_set(_key(signal, operation_id), _SUCCESS,
                                             allow_overwrite=True)


def wait_for_signals(receive_signals: Sequence[HandlerAwaitableSignal], *, timeout_secs: float,
                     operation_id: str | None = None) -> None:
    """Waits until all of these signals are given, each for at most ``timeout_secs``; by default of
    the current operation. TimeoutError (with a client, a DeadlineExceeded) names the missing
    one."""
    for signal in receive_signals:
        get_signaling_client().blocking_key_value_get(_key(signal, operation_id), timeout_secs)
