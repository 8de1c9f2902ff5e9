"""Errors as JAX and Orbax expect them: RuntimeError with a text that begins with the code's
name."""

from __future__ import annotations

import contextlib
import functools
import sys

from coxswain._code import Code
from coxswain._errors import AlreadyExists, Error, InvalidArgument


class JaxRuntimeError(RuntimeError):
    """The error of all calls."""

    @property
    def error_code(self) -> int:
        """The status code's number; 2, UNKNOWN, if the text does not begin with a code."""
        return int(Code.__members__.get(str(self).partition(":")[0], Code.UNKNOWN))

    @property
    def error_code_string(self) -> str:
        """The status code's name, for example "DEADLINE_EXCEEDED"."""
        return Code(self.error_code).name

    def __reduce__(self):
        return _remade, (str(self),)


def error_class() -> type[RuntimeError]:
    """If JAX is imported, a class that also derives from JAX's own, so that ``except
    jax.errors.JaxRuntimeError`` matches."""
    theirs = getattr(getattr(sys.modules.get("jax"), "errors", None), "JaxRuntimeError", None)
    return JaxRuntimeError if theirs is None else _both(theirs)


@functools.cache
def _both(theirs: type[RuntimeError]) -> type[RuntimeError]:
    if issubclass(theirs, JaxRuntimeError):
        return theirs
    return type("JaxRuntimeError", (JaxRuntimeError, theirs), {"__doc__": theirs.__doc__})


def _remade(text: str) -> RuntimeError:
    return error_class()(text)


def failed(code: str, message: str) -> RuntimeError:
    return error_class()(f"{code}: {message}")


@contextlib.contextmanager
def as_jax():
    """Turns our errors into JAX's; ours is the cause."""
    try:
        yield
    except AlreadyExists as problem:
        raise error_class()(f"{problem}.") from problem
    except Error as problem:
        raise error_class()(str(problem)) from problem


__all__ = ["AlreadyExists", "Error", "InvalidArgument", "JaxRuntimeError", "as_jax", "error_class",
           "failed"]
