"""Epochs of elastic jobs. The calls of coxswain.aio are made from these."""

from __future__ import annotations

from coxswain._errors import Aborted, Cancelled
from coxswain._shape import DEFAULT_TIMEOUT, apply, shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, List  # for `list` is a method

    from coxswain._types import EpochEnd, EpochMember, Timeout

__all__ = ["Epoch"]


class Epoch:
    """A numbered membership of an elastic job: ``number``, ``size`` (tasks), ``rank`` (the number
    of this process), ``address`` (where the coordinator sees task 0), and how many members of the
    epoch before are ``lost`` and have ``joined``.

    As a context manager it ends the block silently when a call in it raises Aborted, as all calls
    do once the epoch is over.
    """

    def __init__(self, number: int, size: int, rank: int, address: str, lost: int, joined: int):
        self.number, self.size, self.rank = number, size, rank
        self.address, self.lost, self.joined = address, lost, joined
        self._is_finished = False

    @property
    def prefix(self) -> str:
        """Keys below it vanish when the epoch after the next begins."""
        return f"epoch/{self.number}/"

    def finish(self) -> None:
        """The work of this process is done: it leaves the job when the others do, unless the epoch
        ends before."""
        self._is_finished = True

    def __enter__(self) -> Epoch:
        return self

    def __exit__(self, kind, problem, trace) -> bool:
        return isinstance(problem, Aborted)

    def __repr__(self) -> str:
        return f"<epoch {self.number}: task {self.rank} of {self.size}>"


def _epoch_of(raw) -> Epoch | None:
    return Epoch(*raw) if raw[0] else None


class EpochCalls:
    if TYPE_CHECKING:
        _native: Any
        leave: Any

    def next_epoch(self, timeout: Timeout = DEFAULT_TIMEOUT, *, shrink_only: bool = False) -> Epoch:
        """Waits until the next epoch begins: when all members have called this, or have failed or
        left, and there are enough. Until then this process takes part in nothing. ``shrink_only``:
        nobody new joins.

        Cancelled: this process is not in it, and has left. DeadlineExceeded names those that have
        not called. Aborted: this process is no member any more (join again), or the job has failed.
        FailedPrecondition: the job is not elastic.
        """
        return apply(_epoch_of, self._native.next_epoch(timeout, shrink_only))

    def present_epoch(self) -> Epoch | None:
        """The epoch of an elastic job that this process was given last."""
        return apply(_epoch_of, self._native.present_epoch())

    def epoch_wanted(self) -> EpochEnd | None:
        """Why the present epoch is to end, or has ended; None: it goes on. Does not wait."""
        return apply(shape.epoch_end_of, self._native.epoch_wanted())

    def epoch_members(self) -> List[EpochMember]:
        """The members of the present epoch, by task."""
        return apply(shape.epoch_members_of, self._native.epoch_members())

    def resize(self, num_tasks: int) -> None:
        """The most tasks of the next epochs, within the limits of the job."""
        return self._native.resize(num_tasks)

    def epochs(self, timeout: Timeout = DEFAULT_TIMEOUT) -> Iterator[Epoch]:
        """The present epoch, and then each next one, until :meth:`Epoch.finish`::

            for epoch in job.epochs():
                with epoch:                           # ends when a member is lost
                    while step < steps and not job.epoch_wanted():
                        ...
                    if step == steps:
                        epoch.finish()

        Ends also when this process is not in the next epoch, such as after :meth:`resize`. Then it
        has left the job. FailedPrecondition: it has not joined, or the job is not elastic.
        """
        epoch = self.present_epoch() or self.next_epoch(timeout)
        while epoch is not None:
            yield epoch
            if epoch._is_finished:
                try:
                    self.leave(timeout)
                    return
                except Aborted:
                    pass  # another member did not finish
            try:
                epoch = self.next_epoch(timeout)
            except Cancelled:
                return
