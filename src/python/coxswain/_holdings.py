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
    """Gives back at the end of a ``with`` block what is still held: `_done`, or `_give_back` if the
    block raises."""

    _is_held = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind, problem, traceback) -> None:
        if not self._is_held:
            return
        if kind is None:
            return self._done()
        try:
            self._give_back()
        except Exception:  # the block's exception says more; a lease expires, a lock ends with us
            pass


class _Item:
    """``value``: its bytes. ``number`` increases with every push. ``redeliveries``: how often it
    was taken before and came back."""

    def __init__(self, calls: Any, raw: tuple[bytes, int, int]):
        self._calls = calls
        self._is_held = True
        self.value, self.number, self.redeliveries = raw

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(number={self.number}, redeliveries={self.redeliveries}, "
                f"value={self.value!r})")

    def _which(self) -> tuple[int, int]:
        return self.number, self.redeliveries

    def _end(self) -> tuple[int, int]:
        self._is_held = False
        return self._which()


class TakenItem(_Held, _Item):
    """An item under a lease: ``with job.take("jobs") as item`` finishes it at the end of the block,
    and hands it back if the block raises."""

    def finish(self) -> None:
        """The item is done, and gone. FailedPrecondition: the lease was over before, so another
        consumer may have got it."""
        self._calls.finish(*self._end())

    def release(self) -> None:
        """Hands the item back: it returns to its place in the queue."""
        self._calls.release(*self._end())

    def extend(self, lease: Timeout = 60.0) -> None:
        """The lease expires this much later than now. FailedPrecondition: it is over."""
        self._calls.extend(*self._which(), lease)

    _done = finish
    _give_back = release


class HeldLock(_Held):
    """``with job.locked("name") as lock`` holds the lock during the block. ``token``: the fencing
    token."""

    def __init__(self, client: Any, name: str, token: int):
        self._client = client
        self.name = name
        self.token = token

    def unlock(self) -> None:
        self._is_held = False
        self._client.unlock(self.name, self.token)

    _done = _give_back = unlock


class AsyncTakenItem(_Item):
    """As TakenItem, with calls to await."""

    async def finish(self) -> None:
        await self._calls.ask("finish", *self._end())

    async def release(self) -> None:
        await self._calls.ask("release", *self._end())

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
        item = self._item
        if not item._is_held:
            return
        if kind is None:
            return await item.finish()
        try:
            await item.release()
        except Exception:  # the block's exception says more, and the lease expires
            pass


class AsyncLocked:
    """``async with job.locked("name") as lock``."""

    def __init__(self, client: Any, name: str, timeout: Timeout):
        self._client = client
        self._timeout = timeout
        self.name = name
        self.token = 0

    async def __aenter__(self) -> Self:
        self.token = await self._client.lock(self.name, self._timeout)
        return self

    async def __aexit__(self, kind, problem, traceback) -> None:
        try:
            await self._client.unlock(self.name, self.token)
        except Exception:
            if kind is None:
                raise
