"""The functions of coxswain._types, which is imported on first use: dataclasses take longer to
import than the rest of the package."""

from __future__ import annotations

DEFAULT_TIMEOUT = 300.0


class _Shape:
    def __getattr__(self, name: str):
        from coxswain import _types
        made = getattr(_types, name)
        setattr(self, name, made)  # so that this runs once
        return made


shape = _Shape()
