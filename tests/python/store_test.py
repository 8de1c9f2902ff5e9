#!/usr/bin/env python3
"""The store with torch's method names. Not here: each of its calls beside torch's own stores, and a process
group (tests/real)."""

import datetime
import importlib.util
import unittest

import coxswain
from support import LIMIT, PythonTest, main


class Store(PythonTest):
    def test_every_call(self):
        store = coxswain.Store(self.client(self.coordinator()), timeout=datetime.timedelta(seconds=LIMIT))
        store.set("a", "1")
        store.append("a", b"2")
        self.assertEqual((store.get("a"), store.add("n", -2)), (b"12", -2))
        store.multi_set(["a", ""], ["p", b"q"])
        self.assertEqual((store.multi_get(["", "a"]), store.num_keys()), ([b"q", b"p"], 3))
        with self.assertRaises(ValueError):
            store.multi_set(["a"], [])
        self.assertEqual(store.compare_set("k", "", "first"), b"first")
        self.assertTrue(store.check(["a", "k"]))
        self.assertEqual([store.delete_key("a"), store.delete_key("a"), store.check(["a", "k"])], [True, False, False])
        for key in ("k", "/k", "k/", "a//k", "%2Fk"):
            store.set(key, key)
        self.assertEqual(store.get("a//k"), b"a//k")
        store.wait(["k", "n"])
        store.queue_push("q", "1")
        self.assertEqual((store.queue_len("q"), store.queue_pop("q")), (1, b"1"))
        store.set_timeout(0.01)
        for call in (lambda: store.get("nowhere"), lambda: store.wait(["nowhere"]),
                     lambda: store.queue_pop("q", block=False)):
            with self.assertRaises(TimeoutError):
                call()
        self.assertFalse(coxswain.Store(store.client, prefix="other").check(["k"]))


PREFIXED = """
import datetime, gc, sys
import coxswain, torch.distributed as dist
job = coxswain.Client(sys.argv[1], 0)
job.join()
store = dist.PrefixStore("p", coxswain.Store(job, "t", 0.2).for_torch())
del job
gc.collect()
assert store.num_keys() == 0 and not store.delete_key("k")
store.set("k", "v")
assert store.get("k") == b"v" and store.add("n", 2) == 2 and store.num_keys() == 2
assert store.delete_key("n")
if hasattr(dist.Store, "clone"):
    assert store.clone().get("k") == b"v" and store.clone().timeout == store.timeout
for call in (lambda: store.get("never"),
             lambda: store.wait(["k", "never"], datetime.timedelta(milliseconds=30))):
    try: call()
    except TimeoutError as problem:
        assert isinstance(problem, getattr(dist, "DistStoreError", RuntimeError))
        print(problem)
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch")
class Torch(PythonTest):
    def test_a_store_lives_as_long_as_its_torch_wrappers(self):
        output = self.out_of(self.python(PREFIXED, self.coordinator().address))
        self.assertRegex(output, r"^(Socket Timeout: )?wait timeout after 200ms, keys: p/never \(.*\n"
                               r"(Socket Timeout: )?wait timeout after 30ms, keys: p/k, p/never \(")


if __name__ == "__main__":
    main()
