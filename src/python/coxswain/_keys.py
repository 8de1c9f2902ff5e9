"""Keys, queues and locks. Those of coxswain.aio are made from these."""

from __future__ import annotations

from coxswain import _native
from coxswain._holdings import HeldLock, TakenItem
from coxswain._shape import DEFAULT_TIMEOUT, apply, shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, List  # for `list` is a method

    from coxswain._types import Data, KeyValue, QueueItem, Swap, Timeout

__all__ = ["KeyCalls"]


class KeyCalls:
    if TYPE_CHECKING:
        _native: Any

    def put(self, key: str, value: Data, *, overwrite: bool = False,
            ephemeral: bool = False) -> int:
        """Stores a value and wakes calls that wait for the key; returns its version. AlreadyExists:
        the key has a value, and ``overwrite`` is false. ``ephemeral``: the key is removed when this
        task fails or leaves."""
        return self._native.put(key, value, overwrite, ephemeral)

    def put_all(self, entries: Mapping[str, Data] | Iterable[tuple[str, Data]], *,
                overwrite: bool = False) -> int:
        """Stores all values, or none of them."""
        return self._native.put_all([*dict(entries).items()], overwrite)

    def get(self, key: str, timeout: Timeout = DEFAULT_TIMEOUT) -> bytes:
        """Waits until the key has a value. Cancelled: the job failed or the coordinator stops."""
        return self._native.get(key, timeout)

    def get_all(self, keys: Sequence[str], timeout: Timeout = DEFAULT_TIMEOUT) -> List[KeyValue]:
        """Waits until all the keys have values at the same time."""
        return apply(shape.keys_of, self._native.get_all([*keys], timeout))

    def try_get(self, key: str) -> bytes | None:
        """The key's value now, if it has one."""
        return self._native.try_get(key)

    def list(self, directory: str = "") -> List[KeyValue]:
        """All keys below a directory, at any depth, in order; "" is the root."""
        return apply(shape.keys_of, self._native.list(directory))

    def count(self, directory: str = "") -> int:
        """The number of keys that :meth:`list` would return."""
        return self._native.count(directory)

    def remove(self, key: str) -> bool:
        """Removes the key and nothing below it; returns whether it existed."""
        return self._native.remove(key)

    def remove_tree(self, directory: str, *, all: bool = False) -> int:
        """Removes everything below a directory, and the key equal to it; returns the number of
        removed keys. Removing the root needs ``all``."""
        return self._native.remove_tree(directory, all)

    def increment(self, key: str, by: int = 1) -> int:
        """Adds to a decimal counter, zero if the key is missing; returns the sum. OutOfRange."""
        return self._native.increment(key, by)

    def append(self, key: str, more: Data) -> int:
        """Appends to a value, empty if the key is missing; returns the key's version."""
        return self._native.append(key, more)

    def compare_and_set(self, key: str, value: Data, *, version: int | None = None,
                        expected: Data | None = None, ephemeral: bool = False) -> Swap:
        """Stores a value if the key has this version, or this value, or, when neither is given, no
        value (also version 0). A mismatch does not raise: see Swap."""
        if version is not None and expected is not None:
            raise TypeError("give a version or a value, not both")
        return apply(shape.swap_of, self._native.compare_and_set(
            key, value, version, expected, ephemeral))

    def push(self, queue: str, value: Data) -> int:
        """Adds an item at the end of a queue; returns its new length."""
        return self._native.push(queue, value)

    def queue_length(self, queue: str) -> int:
        """How many items wait in a queue, without those that are taken and not finished yet."""
        return self._native.queue_length(queue)

    def pop(self, queue: str, timeout: Timeout = DEFAULT_TIMEOUT) -> QueueItem:
        """Takes the first item of a queue; waits if it is empty. An item goes to exactly one
        caller; if this process dies before its next message, or a signal handler raises before the
        item is returned, it goes back to its place in the queue."""
        return self._granted(shape.queue_item_of, "pop", queue, timeout)

    def take(self, queue: str, timeout: Timeout = DEFAULT_TIMEOUT, *,
             lease: Timeout = 60.0) -> TakenItem:
        """As :meth:`pop`, but the item is leased until it is finished::

            with job.take("jobs") as item:
                work(item.value)

        It returns to its place in the queue if the block raises, the object is dropped unfinished,
        the lease (None: unlimited) expires, or this client's session or process ends; so it may be
        processed twice, but is not lost."""
        return self._granted(lambda raw: TakenItem(self._native, raw), "take", queue, timeout,
                             lease)

    def locked(self, name: str, timeout: Timeout = DEFAULT_TIMEOUT) -> HeldLock:
        """As :meth:`lock`, for a block: ``with job.locked("name") as lock``; ``lock.token`` is the
        fencing token. The lock is released when the object is dropped: keep it, or use `lock`."""
        return self._granted(lambda token: HeldLock(self._native, name, token), "lock", name,
                             timeout)

    def lock(self, name: str, timeout: Timeout = DEFAULT_TIMEOUT) -> int:
        """Waits until a lock is free and takes it; returns its fencing token, a number above all
        earlier ones of any lock. This client owns it until unlock or the end of its session. If a
        signal handler raises before the token is returned, the lock is released. Not reentrant."""
        return self._granted(_as_it_is, "lock", name, timeout)

    def try_lock(self, name: str) -> int | None:
        """Takes a lock and returns its token; None if it is held."""
        return self._granted(_as_it_is, "try_lock", name)

    def unlock(self, name: str, token: int) -> None:
        """Releases a lock to the longest waiting call. PermissionDenied: another client owns it.
        FailedPrecondition: it is not held with this token."""
        return self._native.unlock(name, token)

    def _granted(self, shaped: Callable, call: str, *arguments):
        """What the call hands over goes back unless it is returned to the caller."""
        grant = _native.Grant()
        try:
            return shaped(getattr(self._native, call)(grant, *arguments))
        except BaseException:
            self._native.give_back(grant)
            raise


def _as_it_is(value):
    return value
