"""What a client holds until it gives it back: an item taken from a queue, and a lock. Context
managers; those of asyncio are in coxswain.aio."""

from __future__ import annotations

from coxswain._shape import apply

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from coxswain._types import Timeout

__all__ = ["HeldLock", "TakenItem"]


class Held:
    """Something that is held until it is given back. An object that is dropped gives it back at
    once, without waiting; one in a forked child, or of a closed client, does nothing."""

    _is_held = False

    def _drop(self) -> None:
        """Gives it back without waiting."""
        raise NotImplementedError

    def __del__(self) -> None:
        if self._is_held:
            self._drop()


class _HeldInBlock(Held):
    """Gives back at the end of a ``with`` block what is still held: `_done`, or `_drop` if the
    block raises. Does nothing in a forked child, since it is held by its parent."""

    _native: Any

    def _done(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind, problem, traceback) -> None:
        if not self._is_held or self._native.is_forked:
            return
        if kind is None:
            return self._done()
        self._is_held = False
        self._drop()


class Item:
    """``value``: its bytes. ``number`` increases with every push. ``redeliveries``: how often it
    was taken before and came back."""

    def __init__(self, native: Any, raw: tuple[bytes, int, int]):
        self._native = native
        self.value, self.number, self.redeliveries = raw
        self._is_held = True

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(number={self.number}, redeliveries={self.redeliveries}, "
                f"value={self.value!r})")

    def _which(self) -> tuple[int, int]:
        return self.number, self.redeliveries

    def _let_go(self, _: None) -> None:
        self._is_held = False

    def _drop(self) -> None:
        self._native.drop_item(*self._which())


class TakenItem(Item, _HeldInBlock):
    """An item under a lease: ``with job.take("jobs") as item`` finishes it at the end of the block,
    and hands it back if the block raises. An object that is dropped unfinished hands it back."""

    def finish(self) -> None:
        """The item is done, and gone. FailedPrecondition: the lease was over before, so another
        consumer may have got it."""
        return apply(self._let_go, self._native.finish(*self._which()))

    def release(self) -> None:
        """Hands the item back: it returns to its place in the queue."""
        return apply(self._let_go, self._native.release(*self._which()))

    def extend(self, lease: Timeout = 60.0) -> None:
        """The lease expires this much later than now. FailedPrecondition: it is over."""
        return self._native.extend(*self._which(), lease)

    _done = finish


class HeldLock(_HeldInBlock):
    """``with job.locked("name") as lock`` holds the lock during the block. ``token``: the fencing
    token. An object that is dropped unlocks."""

    def __init__(self, native: Any, name: str, token: int):
        self._native = native
        self.name = name
        self.token = token
        self._is_held = True

    def unlock(self) -> None:
        self._native.unlock(self.name, self.token)
        self._is_held = False

    def _drop(self) -> None:
        self._native.drop_lock(self.name, self.token)

    _done = unlock
