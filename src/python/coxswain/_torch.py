"""A coxswain.store.Store as a torch.distributed.Store, whose methods torch's own C++ calls."""

from __future__ import annotations

import contextlib
import datetime

import torch.distributed

from coxswain._errors import DeadlineExceeded, Unavailable

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
    """The coordinator is lost permanently. Also torch's own error; the cause is ours."""


class QueueEmpty(_QueueEmptyError, TimeoutError):
    """There is no item. Also torch's own error; the cause is ours."""


def _keys_of(keys) -> list[str]:
    if isinstance(keys, (str, bytes)):
        raise TypeError(f"keys are a list of str, not {type(keys).__name__}")
    return list(keys)


class TorchStore(torch.distributed.Store):
    """Its timeout is that of the C++ half, which a PrefixStore sets, too. Torch's C++ looks for
    methods by the names of its own: deleteKey, getNumKeys and, where torch has it, clone. It has no
    such names for queues and lists of keys: behind a PrefixStore they raise NotImplementedError.
    """

    def __init__(self, store, timeout=None):
        super().__init__()
        self._store = store
        self.set_timeout(store.timeout if timeout is None else timeout)
        _made.append(self)

    @contextlib.contextmanager
    def _as_torch(self, keys=(), timeout=None):
        try:
            yield
        except DeadlineExceeded as problem:
            limit = self.timeout if timeout is None else timeout
            what = "Socket Timeout: wait" if _TorchError is RuntimeError else "wait"
            raise StoreTimeout(f"{what} timeout after {limit / _MILLISECOND:.0f}ms, keys: "
                               f"{', '.join(keys)} ({problem})") from problem
        except Unavailable as problem:
            raise StoreUnavailable(str(problem)) from problem

    def set(self, key, value):
        with self._as_torch([key]):
            self._store.set(key, value)

    def get(self, key):
        with self._as_torch([key]):
            return self._store._get(key, self.timeout.total_seconds())

    def add(self, key, amount):
        with self._as_torch([key]):
            return self._store.add(key, amount)

    def compare_set(self, key, expected_value, desired_value):
        with self._as_torch([key]):
            return self._store.compare_set(key, expected_value, desired_value)

    def delete_key(self, key):
        with self._as_torch([key]):
            return self._store.delete_key(key)

    deleteKey = delete_key

    def num_keys(self):
        with self._as_torch():
            return self._store.num_keys()

    getNumKeys = num_keys

    def check(self, keys):
        keys = _keys_of(keys)
        with self._as_torch(keys):
            return self._store.check(keys)

    def wait(self, keys, timeout=None):
        """As torch's: ``timeout`` is a timedelta or a float."""
        if isinstance(timeout, float):
            timeout = datetime.timedelta(seconds=timeout)
        elif not isinstance(timeout, (datetime.timedelta, type(None))):
            raise TypeError(f"a timeout is a timedelta or a float, not {type(timeout).__name__}")
        keys = _keys_of(keys)
        with self._as_torch(keys, timeout):
            self._store.wait(keys, self.timeout if timeout is None else timeout)

    def append(self, key, value):
        with self._as_torch([key]):
            self._store.append(key, value)

    def multi_get(self, keys):
        keys = _keys_of(keys)
        with self._as_torch(keys):
            return self._store._multi_get(keys, self.timeout.total_seconds())

    def multi_set(self, keys, values):
        if len(keys) != len(values):
            raise _TorchError(f"multi_set: {len(keys)} keys, but {len(values)} values")
        with self._as_torch(keys):
            self._store.multi_set(keys, values)

    def has_extended_api(self):
        return True

    def list_keys(self):
        with self._as_torch():
            return self._store.list_keys()

    def queue_push(self, key, value):
        with self._as_torch([key]):
            self._store.queue_push(key, value)

    def queue_pop(self, key, block=True):
        try:
            with self._as_torch([key]):
                return self._store._queue_pop(key, self.timeout.total_seconds() if block else 0)
        except StoreTimeout as problem:
            if block:
                raise
            raise QueueEmpty("queue is empty") from problem.__cause__

    def clone(self):
        return TorchStore(self._store, self.timeout)
