#!/usr/bin/env python3
"""The store with torch's method names, also passed to torch where it is installed."""

import datetime
import importlib.util
import threading
import unittest

import coxswain
from support import LIMIT, PythonTest, main

TORCH = """
import datetime, sys
import coxswain, torch, torch.distributed as dist
me = int(sys.argv[2])
job = coxswain.Client(sys.argv[1], me)
job.join()
store = coxswain.Store(job)
dist.init_process_group("gloo", store=store.for_torch(), rank=me, world_size=4,
                        timeout=datetime.timedelta(seconds=60))
numbers = torch.full((1000,), float(me))
dist.all_reduce(numbers)
assert (numbers == 6).all(), numbers
dist.barrier()
others = [None] * 4
dist.all_gather_object(others, {"rank": me})
assert others == [{"rank": i} for i in range(4)]
dist.destroy_process_group()
job.leave()
print("reduced")
"""


class Store(PythonTest):
    def setUp(self):
        super().setUp()
        self.at = self.coordinator()
        self.store = coxswain.Store(self.client(self.at), timeout=datetime.timedelta(seconds=LIMIT))

    def test_values(self):
        self.store.set("a", "1")
        self.store.set("a", b"2")
        self.assertEqual(self.store.get("a"), b"2")
        self.store.append("a", "3")
        self.store.append("new", "x")
        self.assertEqual(self.store.multi_get(["new", "a"]), [b"x", b"23"])
        self.store.multi_set(["a", "b"], ["p", b"q"])
        self.assertEqual(self.store.num_keys(), 3)
        with self.assertRaises(ValueError):
            self.store.multi_set(["a"], [])

    def test_an_empty_key_is_a_valid_key(self):
        self.store.multi_set(["a", "b/c"], ["1", "2"])
        self.assertFalse(self.store.delete_key(""))
        self.store.set("", "root")
        self.assertEqual(self.store.get(""), b"root")
        self.assertTrue(self.store.delete_key(""))
        self.assertEqual(self.store.num_keys(), 2)

    def test_counters(self):
        self.assertEqual(self.store.add("n", 2), 2)
        self.assertEqual(self.store.add("n", -5), -3)
        self.assertEqual(self.store.get("n"), b"-3")

    def test_delete_key_and_check(self):
        self.assertFalse(self.store.check(["a"]))
        self.store.set("a", "")
        self.store.set("a/b", "below")
        self.assertTrue(self.store.check(["a", "a/b"]))
        self.assertFalse(self.store.check(["a", "c"]))
        self.assertTrue(self.store.delete_key("a"))
        self.assertFalse(self.store.delete_key("a"))
        self.assertTrue(self.store.check(["a/b"]))

    def test_keys_that_differ_by_slashes(self):
        for key in ("k", "/k", "k/", "a//k", "%2Fk"):
            self.store.set(key, key)
        for key in ("k", "/k", "k/", "a//k", "%2Fk"):
            self.assertEqual(self.store.get(key), key.encode())

    def test_compare_set(self):
        self.assertEqual(self.store.compare_set("k", "old", "new"), b"old")
        self.assertFalse(self.store.check(["k"]))
        self.assertEqual(self.store.compare_set("k", "", "first"), b"first")
        self.assertEqual(self.store.compare_set("k", "wrong", "second"), b"first")
        self.store.set("empty", "")
        self.assertEqual(self.store.compare_set("empty", "", "full"), b"full")
        self.assertEqual(self.store.get("empty"), b"full")
        self.assertEqual(self.store.compare_set("k", b"first", b"second"), b"second")

    def test_waiting(self):
        with self.assertRaisesRegex(TimeoutError, "nowhere"):
            self.store.wait(["nowhere"], datetime.timedelta(milliseconds=10))
        waiting = threading.Thread(target=lambda: self.store.wait(["x", "y"]))
        waiting.start()
        self.store.set("x", "1")
        self.store.set("y", "1")
        waiting.join(LIMIT)
        self.assertFalse(waiting.is_alive())
        self.store.set_timeout(0.01)
        self.assertEqual(self.store.timeout, datetime.timedelta(seconds=0.01))
        with self.assertRaises(TimeoutError):
            self.store.get("nowhere")

    def test_queues(self):
        self.store.queue_push("q", "1")
        self.store.queue_push("q", b"2")
        self.assertEqual(self.store.queue_len("q"), 2)
        self.assertEqual([self.store.queue_pop("q"), self.store.queue_pop("q", block=False)],
                         [b"1", b"2"])
        with self.assertRaises(TimeoutError):
            self.store.queue_pop("q", block=False)

    def test_prefixes_separate_stores(self):
        other = coxswain.Store(self.store.client, prefix="other")
        other.set("a", "1")
        self.assertFalse(self.store.check(["a"]))


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

# Features of later torch versions, which the installed one may lack.
STANDIN = """
import datetime, sys, types
import coxswain
torch = sys.modules["torch"] = types.ModuleType("torch")
dist = torch.distributed = sys.modules["torch.distributed"] = types.ModuleType("torch.distributed")
class Half:
    def set_timeout(self, timeout): self.timeout = timeout
dist.Store = Half
dist.DistStoreError = type("DistStoreError", (RuntimeError,), {})
job = coxswain.Client(sys.argv[1], 0)
job.join()
store = coxswain.Store(job, timeout=0.2)
same = store.for_torch()
assert store.for_torch() is same and same.has_extended_api()
same.multi_set(["a", "b"], ["1", b"2"])
same.append("a", "x")
assert same.multi_get(["b", "a"]) == [b"2", b"1x"]
for call in (lambda: same.get("k"), lambda: same.wait(["a", "k", "l"], datetime.timedelta(seconds=0.03)),
             lambda: same.multi_get(["a", "k"])):
    try: call()
    except dist.DistStoreError as problem: print(problem)
"""


class LaterTorch(PythonTest):
    def test_a_timeout_raises_the_torch_error(self):
        output = self.out_of(self.python(STANDIN, self.coordinator().address)).splitlines()
        for line, begins in zip(output, ("wait timeout after 200ms, keys: k (DEADLINE_EXCEEDED: ",
                                       "wait timeout after 30ms, keys: a, k, l (",
                                       "wait timeout after 200ms, keys: a, k (")):
            self.assertTrue(line.startswith(begins), line)
        self.assertEqual(len(output), 3)


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch")
class Torch(PythonTest):
    def test_a_store_lives_as_long_as_its_torch_wrappers(self):
        output = self.out_of(self.python(PREFIXED, self.coordinator().address))
        self.assertRegex(output, r"^(Socket Timeout: )?wait timeout after 200ms, keys: p/never \(.*\n"
                               r"(Socket Timeout: )?wait timeout after 30ms, keys: p/k, p/never \(")

    def test_a_process_group_of_four_reduces(self):
        at = self.coordinator(4)
        programs = [self.python(TORCH, at.address, task, GLOO_SOCKET_IFNAME="lo")
                    for task in range(4)]
        for program in programs:
            self.assertEqual(self.out_of(program), "reduced\n")


if __name__ == "__main__":
    main()
