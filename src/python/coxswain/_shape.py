"""The functions of coxswain._types, which is imported when the first of them is wanted: dataclasses
take longer to import than all the rest of ours."""

from __future__ import annotations

DEFAULT_TIMEOUT = 300.0


class _Shape:
    def __getattr__(self, name: str):
        from coxswain import _types
        made = getattr(_types, name)
        setattr(self, name, made)  # so that this is asked once
        return made


shape = _Shape()
