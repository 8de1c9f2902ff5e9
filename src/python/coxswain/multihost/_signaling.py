"""Signals between processes: small texts by key that can be awaited (Orbax's signaling client).
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Protocol

from coxswain._client import Client
from coxswain._errors import Error
from coxswain._options import detect
from coxswain.multihost import _identity


class SignalingClient(Protocol):
    """Keys with texts; times are seconds."""

    def key_value_set(self, key: str, value: str, *, allow_overwrite: bool = False) -> None:
        """Stores a text; an error if the key has one, unless overwriting is allowed."""

    def blocking_key_value_get(self, key: str, timeout_secs: float) -> str:
        """Waits until the key has a text. TimeoutError."""

    def key_value_try_get(self, key: str) -> str | None:
        """The key's text, if it has one."""

    def key_value_delete(self, key: str) -> None:
        """Removes the key and all below it."""

    def key_value_dir_get(self, key: str) -> list[tuple[str, str]]:
        """All keys below a directory, which ends with a slash (else ValueError), and their texts.
        """

    def wait_at_barrier(self, key: str, *, timeout_secs: float,
                        process_ids: Sequence[int] | None = None) -> None:
        """Waits for these processes, or all. TimeoutError."""


def _directory(key: str) -> str:
    if not key.endswith("/"):
        raise ValueError(f"Directory key must end with a slash: {key!r}")
    return key


class CoordinatorSignalingClient:
    """Through the coordinator, for all processes of the job."""

    def __init__(self, client: Client):
        self._client = client

    def key_value_set(self, key: str, value: str, *, allow_overwrite: bool = False) -> None:
        self._client.put(key, value, overwrite=allow_overwrite)

    def blocking_key_value_get(self, key: str, timeout_secs: float) -> str:
        return self._client.get(key, timeout_secs).decode()

    def key_value_try_get(self, key: str) -> str | None:
        """None also after an error."""
        try:
            value = self._client.try_get(key)
        except Error:
            return None
        return None if value is None else value.decode()

    def key_value_delete(self, key: str) -> None:
        self._client.remove_tree(key)

    def key_value_dir_get(self, key: str) -> list[tuple[str, str]]:
        return [(one.key, one.value.decode()) for one in self._client.list(_directory(key))]

    def wait_at_barrier(self, key: str, *, timeout_secs: float,
                        process_ids: Sequence[int] | None = None) -> None:
        """TimeoutError on any failure."""
        try:
            self._client.barrier(key, timeout_secs, process_ids)
        except Error as problem:
            raise TimeoutError(f"barrier {key!r}: {problem}") from problem


class InProcessSignalingClient:
    """For a single process: a dictionary."""

    def __init__(self):
        self._values: dict[str, str] = {}
        self._changed = threading.Condition()

    def key_value_set(self, key: str, value: str, *, allow_overwrite: bool = False) -> None:
        with self._changed:
            if key in self._values and not allow_overwrite:
                raise KeyError(f"Key '{key}' already exists and may not be overwritten.")
            self._values[key] = value
            self._changed.notify_all()

    def blocking_key_value_get(self, key: str, timeout_secs: float) -> str:
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._values, timeout_secs):
                raise TimeoutError(f"Timeout waiting for key '{key}': timed out after "
                                   f"{timeout_secs} s without a value.")
            return self._values[key]

    def key_value_try_get(self, key: str) -> str | None:
        with self._changed:
            return self._values.get(key)

    def key_value_delete(self, key: str) -> None:
        """Removes the key; if it ends with a slash, with all below it."""
        with self._changed:
            self._values.pop(key, None)
            if key.endswith("/"):
                for below in [one for one in self._values if one.startswith(key)]:
                    del self._values[below]

    def key_value_dir_get(self, key: str) -> list[tuple[str, str]]:
        """All keys with this prefix, including the key itself."""
        directory = _directory(key)
        with self._changed:
            return sorted(pair for pair in self._values.items() if pair[0].startswith(directory))

    def wait_at_barrier(self, key: str, *, timeout_secs: float,
                        process_ids: Sequence[int] | None = None) -> None:
        pass  # a single process


_in_process = InProcessSignalingClient()
_through_coordinator: weakref.WeakKeyDictionary[
    _identity.Membership, CoordinatorSignalingClient] = weakref.WeakKeyDictionary()


def get_signaling_client() -> SignalingClient:
    """Uses the coordinator if a client is set; else one local to this process. Always the same
    object. RuntimeError: the environment has other processes, but no client is set."""
    if _identity.is_initialized():
        me = _identity.membership()
        return _through_coordinator.setdefault(me, CoordinatorSignalingClient(me.client))
    if (detect().num_tasks or 1) > 1:
        raise RuntimeError("coxswain.multihost has no client yet: call use(client) first.")
    return _in_process
