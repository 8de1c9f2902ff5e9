"""A coxswain.store.Store as a torch.distributed.Store, whose methods torch's own C++ calls."""

from __future__ import annotations

import contextlib
import copy
import datetime
import operator
from collections import abc

import torch.distributed

from coxswain import torch_extension
from coxswain._errors import DeadlineExceeded, Unavailable
from coxswain._replies import is_unanswered

# Torch's error for a missing key: from version 2 on a class of its own.
_TorchError = getattr(torch.distributed, "DistStoreError", RuntimeError)

_NetworkError = getattr(torch.distributed, "DistNetworkError", RuntimeError)
_QueueEmptyError = getattr(torch.distributed, "QueueEmptyError", _TorchError)

_MILLISECOND = datetime.timedelta(milliseconds=1)

# torch's C++ objects, such as a PrefixStore or a process group, keep the C++ half of a store alive
# but not its Python half, and calls of one without the other fail. So stores live until exit.
_made: list[TorchStore] = []


class StoreTimeout(_TorchError, TimeoutError):
    """A key was not set in time. Also torch's own error; the cause is ours."""


class StoreUnavailable(_NetworkError, ConnectionError):
    """The coordinator is lost or late. Also torch's own error; the cause is ours."""


class QueueEmpty(_QueueEmptyError, TimeoutError):
    """There is no item. Also torch's own error; the cause is ours."""


# As torch's own conversions, for the same exceptions.
def _text(key) -> str:
    if isinstance(key, (bytes, bytearray)):
        return key.decode()
    if not isinstance(key, str):
        raise TypeError(f"a key is str or bytes, not {type(key).__name__}")
    _data(key)
    return key


def _data(value) -> bytes:
    if not isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"a value is str or bytes, not {type(value).__name__}")
    try:
        return value.encode() if isinstance(value, str) else bytes(value)
    except UnicodeEncodeError as problem:
        raise TypeError(str(problem)) from problem


def _list(of) -> list:
    if (not isinstance(of, (abc.Sequence, abc.Set, abc.Generator))
            or isinstance(of, (str, bytes, bytearray))):
        raise TypeError(f"a list of str is needed, not {type(of).__name__}")
    return list(of)


def _keys(of) -> list[str]:
    return [_text(one) for one in _list(of)]


def _amount(of) -> int:
    amount = operator.index(of)
    if not -2**63 <= amount < 2**63:
        raise TypeError("an amount has 64 bits")
    return amount


class TorchStore(torch_extension.base()):
    """Its timeout is that of the C++ half, which a PrefixStore sets, too. Torch's own base looks
    for methods by its own names: deleteKey, getNumKeys and, where torch has it, clone.
    """

    def __init__(self, store):
        """``store`` is used by nobody else."""
        super().__init__()
        self._own = store
        self.set_timeout(store.timeout)
        _made.append(self)

    @property
    def _store(self):
        self._own.set_timeout(self.timeout)
        return self._own

    @contextlib.contextmanager
    def _as_torch(self, keys=(), timeout=None):
        try:
            yield
        except DeadlineExceeded as problem:
            if is_unanswered(problem):
                raise StoreUnavailable(str(problem)) from problem
            limit = self.timeout if timeout is None else timeout
            what = "Socket Timeout: wait" if _TorchError is RuntimeError else "wait"
            raise StoreTimeout(f"{what} timeout after {limit / _MILLISECOND:.0f}ms, keys: "
                               f"{', '.join(keys)} ({problem})") from problem
        except Unavailable as problem:
            raise StoreUnavailable(str(problem)) from problem

    def set(self, key, value, /):
        key, value = _text(key), _data(value)
        with self._as_torch([key]):
            self._store.set(key, value)

    def get(self, key, /):
        key = _text(key)
        with self._as_torch([key]):
            return self._store.get(key)

    def add(self, key, amount, /):
        key, amount = _text(key), _amount(amount)
        with self._as_torch([key]):
            return self._store.add(key, amount)

    def compare_set(self, key, expected_value, desired_value, /):
        key, expected, desired = _text(key), _data(expected_value), _data(desired_value)
        with self._as_torch([key]):
            return self._store.compare_set(key, expected, desired)

    def delete_key(self, key, /):
        key = _text(key)
        with self._as_torch([key]):
            return self._store.delete_key(key)

    deleteKey = delete_key

    def num_keys(self):
        with self._as_torch():
            return self._store.num_keys()

    getNumKeys = num_keys

    def check(self, keys, /):
        keys = _keys(keys)
        with self._as_torch(keys):
            return self._store.check(keys)

    def wait(self, keys, /, *timeout):
        """As torch's: wait(keys) or wait(keys, timeout) with a timedelta or a float."""
        if len(timeout) > 1 or not all(isinstance(one, (datetime.timedelta, float))
                                       for one in timeout):
            raise TypeError("a timeout is a timedelta or a float")
        limit = timeout[0] if timeout else self.timeout
        if isinstance(limit, float):
            limit = datetime.timedelta(seconds=limit)
        keys = _keys(keys)
        with self._as_torch(keys, limit):
            self._store.wait(keys, limit)

    def append(self, key, value, /):
        key, value = _text(key), _data(value)
        with self._as_torch([key]):
            self._store.append(key, value)

    def multi_get(self, keys, /):
        keys = _keys(keys)
        with self._as_torch(keys):
            return self._store.multi_get(keys)

    def multi_set(self, keys, values, /):
        keys, values = _keys(keys), [_data(one) for one in _list(values)]
        if len(keys) != len(values):
            raise _TorchError(f"multi_set: {len(keys)} keys, but {len(values)} values")
        with self._as_torch(keys):
            self._store.multi_set(keys, values)

    def has_extended_api(self):
        return True

    def list_keys(self):
        with self._as_torch():
            return self._store.list_keys()

    def queue_push(self, key, value, /):
        key, value = _text(key), _data(value)
        with self._as_torch([key]):
            self._store.queue_push(key, value)

    def queue_pop(self, key, block=True):
        if block is not None and not hasattr(type(block), "__bool__"):
            raise TypeError(f"block is a bool, not {type(block).__name__}")
        key = _text(key)
        try:
            with self._as_torch([key]):
                return self._store.queue_pop(key, bool(block))
        except StoreTimeout as problem:
            if block:
                raise
            raise QueueEmpty("queue is empty") from problem.__cause__

    def queue_len(self, key):
        key = _text(key)
        with self._as_torch([key]):
            return self._store.queue_len(key)

    def clone(self):
        return TorchStore(copy.copy(self._store))
