"""A coxswain.store.Store as a torch.distributed.Store, whose methods torch's own C++ calls."""

from __future__ import annotations

import torch.distributed


class TorchStore(torch.distributed.Store):
    def __init__(self, store):
        super().__init__()
        self._store = store  # keeps the client alive as long as a process group has this

    def set(self, key, value):
        self._store.set(key, value)

    def get(self, key):
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
        self._store.wait(keys, timeout)

    def set_timeout(self, timeout):
        self._store.set_timeout(timeout)

    @property
    def timeout(self):
        return self._store.timeout
