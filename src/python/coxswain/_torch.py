"""A coxswain.store.Store as a torch.distributed.Store, whose methods torch's own C++ calls."""

from __future__ import annotations

import contextlib
import datetime

import torch.distributed

from coxswain._errors import DeadlineExceeded

# Torch's error for a missing key: from version 2 on a class of its own.
_TorchError = getattr(torch.distributed, "DistStoreError", RuntimeError)

_MILLISECOND = datetime.timedelta(milliseconds=1)

# torch's C++ objects, such as a PrefixStore or a process group, keep the C++ half of a store alive
# but not its Python half, and calls of one without the other fail. So stores live until exit.
_made: list[TorchStore] = []


class StoreTimeout(_TorchError, TimeoutError):
    """A key was not set in time. Also torch's own error; the cause is ours."""


class TorchStore(torch.distributed.Store):
    def __init__(self, store):
        super().__init__()
        self._store = store
        _made.append(self)

    @contextlib.contextmanager
    def _timed(self, keys, timeout=None):
        try:
            yield
        except DeadlineExceeded as problem:
            limit = self._store.timeout if timeout is None else timeout
            what = "Socket Timeout: wait" if _TorchError is RuntimeError else "wait"
            raise StoreTimeout(f"{what} timeout after {limit / _MILLISECOND:.0f}ms, keys: "
                               f"{', '.join(keys)} ({problem})") from problem

    def set(self, key, value):
        self._store.set(key, value)

    def get(self, key):
        with self._timed([key]):
            return self._store.get(key)

    def add(self, key, amount):
        return self._store.add(key, amount)

    def compare_set(self, key, expected_value, desired_value):
        return self._store.compare_set(key, expected_value, desired_value)

    def delete_key(self, key):
        return self._store.delete_key(key)

    def num_keys(self):
        return self._store.num_keys()

    def check(self, keys):
        return self._store.check(keys)

    def wait(self, keys, timeout=None):
        """As torch's: ``timeout`` is a timedelta."""
        with self._timed(keys, timeout):
            self._store.wait(keys, timeout)

    def append(self, key, value):
        self._store.append(key, value)

    def multi_get(self, keys):
        with self._timed(keys):
            return self._store.multi_get(keys)

    def multi_set(self, keys, values):
        self._store.multi_set(keys, values)

    def has_extended_api(self):
        return True

    def set_timeout(self, timeout):
        self._store.set_timeout(timeout)

    @property
    def timeout(self):
        return self._store.timeout
