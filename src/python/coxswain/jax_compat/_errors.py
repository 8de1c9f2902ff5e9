"""Errors as JAX and Orbax match them: RuntimeError, whose text begins with the code's name."""

from __future__ import annotations

import contextlib
import sys

from coxswain._errors import AlreadyExists, Error, InvalidArgument


class JaxRuntimeError(RuntimeError):
    """What calls raise in a process that has not imported JAX."""


def error_class() -> type[RuntimeError]:
    """JAX's own class where JAX is imported, so that ``except jax.errors.JaxRuntimeError`` fits."""
    errors = getattr(sys.modules.get("jax"), "errors", None)
    return getattr(errors, "JaxRuntimeError", JaxRuntimeError)


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
