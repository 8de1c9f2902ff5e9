"""The exceptions of all calls, one class for each code.

``str(error)`` begins with the code's name: ``DEADLINE_EXCEEDED: Barrier timed out. Barrier 'x'``.
Not here: which errors a call raises, which is documented there. """

from __future__ import annotations

from coxswain import _native
from coxswain._code import Code

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from coxswain._types import BarrierFailure

__all__ = [
    "Aborted", "AlreadyExists", "Cancelled", "Code", "DataLoss", "DeadlineExceeded", "Error",
    "FailedPrecondition", "Internal", "InvalidArgument", "NotFound", "OutOfRange",
    "PermissionDenied", "ResourceExhausted", "Unauthenticated", "Unavailable", "Unimplemented",
    "Unknown",
]


class Error(RuntimeError):
    """A call failed. The subclasses below have one code each."""

    code: Code = Code.UNKNOWN

    def __init__(self, message: str = "", figures: tuple | None = None):
        super().__init__(f"{self.code.name}: {message}")
        self.message = message
        self._figures = figures  # of the native module

    @property
    def details(self) -> BarrierFailure | None:
        """The details of a failed barrier; None for other calls."""
        if self._figures is None:
            return None
        from coxswain._types import barrier_failure_of
        return barrier_failure_of(self._figures)

    @property
    def missing(self) -> tuple[int, ...]:
        """The missing tasks of a barrier, as far as the coordinator named them."""
        return () if (details := self.details) is None else _numbers(details.missing)

    def __reduce__(self):
        return _remade, (type(self), self.message, self._figures), self.__dict__


def _remade(kind: type[Error], message: str, figures: tuple | None) -> Error:
    """A user's subclass may have its own __init__, which is not called again."""
    ours = next(one for one in kind.__mro__ if one.__module__ == __name__)
    made = ours(message, figures)
    made.__class__ = kind
    return made


class Cancelled(Error):
    """The client was closed, the round cancelled, or the job failed while a key was waited for."""
    code = Code.CANCELLED


class Unknown(Error):
    """An error without a specific code."""
    code = Code.UNKNOWN


class InvalidArgument(Error, ValueError):
    """An argument is invalid; the call cannot succeed with it."""
    code = Code.INVALID_ARGUMENT


class DeadlineExceeded(Error, TimeoutError):
    """The deadline has passed. After a barrier, ``missing`` and ``details`` name who is
    missing."""
    code = Code.DEADLINE_EXCEEDED


class NotFound(Error, LookupError):
    """The key or task does not exist."""
    code = Code.NOT_FOUND


class AlreadyExists(Error):
    """The key has a value, or a newer process of the task exists."""
    code = Code.ALREADY_EXISTS


class PermissionDenied(Error, PermissionError):
    """The token's role does not suffice."""
    code = Code.PERMISSION_DENIED


class ResourceExhausted(Error):
    """A limit of the coordinator, which the text names."""
    code = Code.RESOURCE_EXHAUSTED


class FailedPrecondition(Error):
    """Not now: not joined, left already, the job has failed, or after fork."""
    code = Code.FAILED_PRECONDITION


class Aborted(Error):
    """Another process of the task has replaced it."""
    code = Code.ABORTED


class OutOfRange(Error, OverflowError):
    """A sum that does not fit, or changes that are no longer kept."""
    code = Code.OUT_OF_RANGE


class Unimplemented(Error, NotImplementedError):
    """The coordinator is older than the client."""
    code = Code.UNIMPLEMENTED


class Internal(Error):
    """A participant died, failed or left."""
    code = Code.INTERNAL


class Unavailable(Error, ConnectionError):
    """The coordinator is lost permanently."""
    code = Code.UNAVAILABLE


class DataLoss(Error):
    """Stored data cannot be read."""
    code = Code.DATA_LOSS


class Unauthenticated(Error):
    """The token or a certificate was refused."""
    code = Code.UNAUTHENTICATED


_CLASSES: dict[int, type[Error]] = {one.code: one for one in Error.__subclasses__()}


def _numbers(ranges: str) -> tuple[int, ...]:
    """The numbers of "3,17-24,900"."""
    found: list[int] = []
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def _error(code: int, message: str, figures: tuple | None = None) -> Error:
    return _CLASSES.get(code, Unknown)(message, figures)


_native.set_error_factory(_error)
