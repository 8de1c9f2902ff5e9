"""Signals that the steps of one operation, a checkpoint being saved say, give each other: who
waits is told by whom it may be kept waiting, and goes on once that has happened."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from coxswain.multihost._signaling import get_signaling_client

_SUCCESS = "signal_action_success"


class HandlerAwaitableSignal(enum.Enum):
    """What can be waited for. The first one is the list of those that an operation will give."""

    AWAITABLE_SIGNALS_CONTRACT = "awaitable_signals_contract"
    STEP_DIRECTORY_CREATION = "step_directory_creation"
    ITEM_DIRECTORY_CREATION = "item_directory_creation"


def _directory(operation_id: str) -> str:
    return f"awaitable_signals_contract_{operation_id}/"


def _key(signal: HandlerAwaitableSignal, operation_id: str) -> str:
    return _directory(operation_id) + signal.value


class AwaitableSignalsContract:
    """Which signals the processes may wait for in an operation."""

    @classmethod
    def get_awaitable_signals_from_contract(cls, operation_id: str
                                            ) -> list[HandlerAwaitableSignal]:
        """Those that have been added; none if nobody has added any."""
        key = _key(HandlerAwaitableSignal.AWAITABLE_SIGNALS_CONTRACT, operation_id)
        names = get_signaling_client().key_value_try_get(key)
        return [HandlerAwaitableSignal(name) for name in names.split(",")] if names else []

    @classmethod
    def add_to_awaitable_signals_contract(cls, signals: Sequence[HandlerAwaitableSignal],
                                          operation_id: str) -> None:
        """By one process at a time."""
        if not signals:
            return
        known = cls.get_awaitable_signals_from_contract(operation_id)
        names = dict.fromkeys(signal.value for signal in [*known, *signals])
        key = _key(HandlerAwaitableSignal.AWAITABLE_SIGNALS_CONTRACT, operation_id)
        get_signaling_client().key_value_set(key, ",".join(names), allow_overwrite=True)

    @classmethod
    def remove_all_awaitable_signals(cls, operation_id: str) -> None:
        """The contract and the signals that have been given; once all have been waited for."""
        get_signaling_client().key_value_delete(_directory(operation_id))


def set_signals(signals: Sequence[HandlerAwaitableSignal], operation_id: str) -> None:
    """Gives these, once or again."""
    for signal in signals:
        get_signaling_client().key_value_set(_key(signal, operation_id), _SUCCESS,
                                             allow_overwrite=True)


def wait_for_signals(signals: Sequence[HandlerAwaitableSignal], *, timeout_secs: float,
                     operation_id: str) -> None:
    """Waits until all of these have been given, each for so long at most. TimeoutError, which is a
    DeadlineExceeded where there is a client, says which one has not."""
    for signal in signals:
        get_signaling_client().blocking_key_value_get(_key(signal, operation_id), timeout_secs)
