"""Keys with the interface of ``torch.distributed.Store``.

``Store`` is usable alone; ``Store.for_torch`` converts it for ``init_process_group``.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Sequence

from coxswain._client import Client
from coxswain._errors import DeadlineExceeded
from coxswain._replies import ask, ask_now, is_unanswered
from coxswain._shape import shape

__all__ = ["Store"]

# torch's own, in seconds.
_TIMEOUT = 300.0


def _seconds(timeout: datetime.timedelta | float) -> float:
    return timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else float(timeout)


class Store:
    """A key-value store with the method names of ``torch.distributed.Store``::

        store = coxswain.Store(job, prefix="run-7")
        store.set("address", "10.0.0.7:5000")
        store.wait(["ready/0", "ready/1"], datetime.timedelta(seconds=30))

    Values are bytes; a wait that times out raises a TimeoutError that names the key, and so does
    every call to which the coordinator does not reply in time. An observer can have a store, too.
    Keys are below ``prefix``.
    """

    def __init__(self, client: Client, prefix: str = "torch",
                 timeout: datetime.timedelta | float = _TIMEOUT):
        self.client = client
        self.prefix = prefix
        self._timeout = _seconds(timeout)
        self._of_torch = None

    @property
    def timeout(self) -> datetime.timedelta:
        """The timeout of get and wait by default, and of every reply of the coordinator."""
        return datetime.timedelta(seconds=self._timeout)

    def set_timeout(self, timeout: datetime.timedelta | float) -> None:
        """Sets the default timeout."""
        self._timeout = _seconds(timeout)

    def _ask(self, name: str, *arguments):
        return ask(self.client._native, self._timeout, name, *arguments)

    def _key(self, key: str) -> str:
        # Extra slashes and an empty key are distinct keys for torch, but not for the coordinator.
        return f"{self.prefix}/{key.replace('%', '%25').replace('/', '%2F') or '%'}"

    def set(self, key: str, value: str | bytes) -> None:
        """Stores a value; overwrites an earlier one."""
        self._ask("put", self._key(key), value, True, False)

    def get(self, key: str) -> bytes:
        """Waits for a value."""
        return self.client.get(self._key(key), self._timeout)

    def add(self, key: str, amount: int) -> int:
        """Adds to a decimal counter, zero if the key is missing; returns the sum."""
        return self._ask("increment", self._key(key), amount)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all the keys have values."""
        try:
            names = list(map(self._key, keys))
            ask_now(self._timeout, lambda limit: self.client.get_all(names, limit))
        except DeadlineExceeded as problem:
            if is_unanswered(problem):
                raise
            return False
        return True

    def wait(self, keys: Sequence[str], timeout: datetime.timedelta | float | None = None) -> None:
        """Waits until all the keys have values."""
        limit = self._timeout if timeout is None else _seconds(timeout)
        self.client.get_all(list(map(self._key, keys)), limit)

    def delete_key(self, key: str) -> bool:
        """Removes a key; returns whether it existed."""
        return self._ask("remove", self._key(key))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes
                    ) -> bytes:
        """Stores a value if the key has the expected one, or is missing and "" is expected; returns
        the key's value afterwards, or the expected one if the key is missing."""
        expected = expected_value or None  # "" stands for a missing key, too
        swap = self._swap(key, desired_value, expected)
        if not swap and expected is None and not swap.found:
            swap = self._swap(key, desired_value, b"")
        if swap:
            return _bytes(desired_value)
        return _bytes(expected_value) if swap.found is None else swap.found

    def _swap(self, key: str, value: str | bytes, expected: str | bytes | None):
        return shape.swap_of(
            self._ask("compare_and_set", self._key(key), value, None, expected, False))

    def append(self, key: str, value: str | bytes) -> None:
        """Appends to a value, empty if the key is missing."""
        self._ask("append", self._key(key), value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Waits until all the keys have values; returns them in this order."""
        found = self.client.get_all(list(map(self._key, keys)), self._timeout)
        return [one.value for one in found]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Stores all the values, or none."""
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys, but {len(values)} values")
        self._ask("put_all", list(dict(zip(map(self._key, keys), values)).items()), True)

    def num_keys(self) -> int:
        """The number of keys with values."""
        return self._ask("count", self.prefix)

    def list_keys(self) -> list[str]:
        """The keys with values."""
        begin = len(self.prefix) + 1
        return [_unescaped(one.key[begin:]) for one in shape.keys_of(self._ask("list", self.prefix))
                if len(one.key) > begin]

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Adds an item at the end of a queue."""
        self._ask("push", self._key(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Takes the first item; if there is none, waits unless ``block`` is false."""
        if block:
            return self.client.pop(self._key(key), self._timeout).value
        return ask_now(self._timeout, lambda limit: self.client.pop(self._key(key), limit)).value

    def queue_len(self, key: str) -> int:
        """The number of items of a queue."""
        return self._ask("queue_length", self._key(key))

    def for_torch(self):
        """This store as a ``torch.distributed.Store``; the same object each time. Imports torch.

        It lives until the process ends, and keeps the client alive, because torch's own objects may
        use it until then. A timeout raises torch's error, which is also a TimeoutError.
        """
        if self._of_torch is None:
            from coxswain._torch import TorchStore
            self._of_torch = TorchStore(copy.copy(self))
        return self._of_torch


def _unescaped(key: str) -> str:
    return "" if key == "%" else key.replace("%2F", "/").replace("%25", "%")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
