"""What a client holds until it gives it back: an item taken from a queue, and a lock. Context
managers; the calls of both clients return them."""

from __future__ import annotations

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from coxswain._types import Timeout

__all__ = ["TakenItem", "AsyncTakenItem", "AsyncTaking", "HeldLock", "AsyncLocked"]


class _Held:
    """Something that is held until it is given back. An object that is dropped gives it back at
    once, without waiting; one in a forked child, or of a closed client, does nothing."""

    _is_held = False

    def _drop(self) -> None:
        """Gives it back without waiting."""
        raise NotImplementedError

    def __del__(self) -> None:
        if self._is_held:
            self._drop()


class _HeldInBlock(_Held):
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


class _Item:
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

    def _drop(self) -> None:
        self._native.drop_item(*self._which())


class TakenItem(_Item, _HeldInBlock):
    """An item under a lease: ``with job.take("jobs") as item`` finishes it at the end of the block,
    and hands it back if the block raises. An object that is dropped unfinished hands it back."""

    def finish(self) -> None:
        """The item is done, and gone. FailedPrecondition: the lease was over before, so another
        consumer may have got it."""
        self._native.finish(*self._which())
        self._is_held = False

    def release(self) -> None:
        """Hands the item back: it returns to its place in the queue."""
        self._native.release(*self._which())
        self._is_held = False

    def extend(self, lease: Timeout = 60.0) -> None:
        """The lease expires this much later than now. FailedPrecondition: it is over."""
        self._native.extend(*self._which(), lease)

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


class AsyncTakenItem(_Item, _Held):
    """As TakenItem, with calls to await."""

    def __init__(self, calls: Any, raw: tuple[bytes, int, int]):
        self._calls = calls
        super().__init__(calls.native, raw)

    async def finish(self) -> None:
        await self._calls.ask("finish", *self._which())
        self._is_held = False

    async def release(self) -> None:
        await self._calls.ask("release", *self._which())
        self._is_held = False

    async def extend(self, lease: Timeout = 60.0) -> None:
        await self._calls.ask("extend", *self._which(), lease)


class AsyncTaking:
    """``async with job.take("jobs") as item``, or ``item = await job.take("jobs")``."""

    def __init__(self, taking):
        self._taking = taking
        self._item: AsyncTakenItem | None = None

    def __await__(self):
        return self._taking.__await__()

    async def __aenter__(self) -> AsyncTakenItem:
        self._item = await self._taking
        return self._item

    async def __aexit__(self, kind, problem, traceback) -> None:
        item, self._item = self._item, None
        if not item._is_held or item._native.is_forked:
            return
        if kind is None:
            return await item.finish()
        item._is_held = False
        item._drop()


class AsyncLocked(_Held):
    """``async with job.locked("name") as lock``."""

    def __init__(self, calls: Any, name: str, timeout: Timeout):
        self._calls = calls
        self._timeout = timeout
        self.name = name
        self.token = 0

    def _hold(self, token: int) -> Self:
        self.token = token
        self._is_held = True
        return self

    def _drop(self) -> None:
        self._calls.native.drop_lock(self.name, self.token)

    async def __aenter__(self) -> Self:
        return await self._calls.granted(self._hold, "lock", self.name, self._timeout)

    async def __aexit__(self, kind, problem, traceback) -> None:
        if self._calls.native.is_forked:
            return
        if kind is None:
            await self._calls.ask("unlock", self.name, self.token)
        else:
            self._drop()
        self._is_held = False
