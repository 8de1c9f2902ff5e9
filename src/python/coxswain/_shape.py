"""The functions of coxswain._types, which is imported on first use: dataclasses take longer to
import than the rest of the package."""

from __future__ import annotations

from types import CoroutineType

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEFAULT_TIMEOUT = 300.0


def apply(function: Callable[[Any], Any], result: Any) -> Any:
    """Applies a function to the result of a native call; for asyncio, where the call has returned a
    coroutine, once that has been awaited."""
    return _apply_later(function, result) if type(result) is CoroutineType else function(result)


async def _apply_later(function: Callable[[Any], Any], result: Any) -> Any:
    return function(await result)


class _Shape:
    def __getattr__(self, name: str):
        from coxswain import _types
        made = getattr(_types, name)
        setattr(self, name, made)  # so that this runs once
        return made


shape = _Shape()
