"""Calls every method of a TCPStore at torch's own server and at ADDRESS, and compares results, exceptions
and times.

usage: tcp_store_methods.py HOST:PORT
"""

import datetime
import os
import sys
import threading
import time

import torch.distributed as dist

TIMEOUT = datetime.timedelta(seconds=20)
SHORT = datetime.timedelta(seconds=0.3)
SLOWER_MAX = 0.25  # s
LARGE = b"x" * (3 << 20)
ODD_KEYS = "a//b", "/", "%", "%2F", "é", "a b\n", "x" * 1000


def methods(store, key):
    """Calls by name, in the order in which they are made."""
    def set_and_get(name, value):
        store.set(name, value)
        return store.get(name)

    def append(name):
        store.append(name, "a")
        store.append(name, "b")
        return store.get(name)

    def several():
        store.multi_set([key + "1", key + "2", key + "1"], ["1", "2", "3"])
        store.multi_set([], [])
        return store.multi_get([key + "2", key + "1"]), store.multi_get([])

    def timeouts():
        store.set_timeout(SHORT)
        try:
            store.get(key + "none")
        finally:
            store.set_timeout(TIMEOUT)

    def items(name):
        found = [store.queue_len(name), outcome(lambda: store.queue_pop(name, block=False))]
        for item in "1", b"", LARGE:
            store.queue_push(name, item)
        found += store.queue_len(name), store.check([name]), store.wait([name]), store.delete_key(name)
        return [*found, store.queue_pop(name), store.queue_pop(name, block=False), store.queue_pop(name) == LARGE,
                store.queue_len(name), store.check([name])]

    def pop_in_vain(name):
        store.set_timeout(SHORT)
        try:
            store.queue_pop(name)
        finally:
            store.set_timeout(TIMEOUT)

    def compare(*pairs):
        return [store.compare_set(key + "c", expected, desired) for expected, desired in pairs]

    yield "set and get", lambda: set_and_get(key, "v")
    yield "bytes", lambda: set_and_get(key, b"\x00\xff")
    yield "an empty value", lambda: set_and_get(key + "empty", "")
    yield "3 MiB", lambda: set_and_get(key + "large", LARGE) == LARGE
    yield "odd keys", lambda: [set_and_get(odd, odd) for odd in ODD_KEYS]
    yield "an empty key", lambda: set_and_get("", "e")
    yield "add", lambda: [store.add(key + "n", by) for by in (1, 5, -7, 0)]
    yield "get of a counter", lambda: store.get(key + "n")
    yield "add to a set number", lambda: (store.set(key + "m", "41"), store.add(key + "m", 1))
    yield "check", lambda: [store.check(keys) for keys in ([key], [key, key + "z"], [key + "z"], [])]
    yield "wait", lambda: (store.wait([key, key + "n"]), store.wait([]))
    yield "wait in vain", lambda: store.wait([key + "none"], SHORT)
    yield "wait for several in vain", lambda: store.wait([key, key + "none"], SHORT)
    yield "get in vain", timeouts
    yield "get after that", lambda: store.get(key)
    yield "compare_set", lambda: compare(("q", "x"), ("", "x"), ("q", "y"), ("", "y"), ("x", "y"))
    yield "compare_set of an empty value", lambda: (store.set(key + "c", ""), compare(("", "z")))
    yield "delete_key", lambda: [store.delete_key(key + "c"), store.delete_key(key + "c")]
    yield "append", lambda: append(key + "appended")
    yield "several", several
    if hasattr(store, "queue_push"):
        yield "items in their order", lambda: items(key + "q")
        yield "an item that nobody pushes", lambda: pop_in_vain(key + "q")
        yield "a value is no item", lambda: store.queue_pop(key)
    if hasattr(store, "barrier"):
        yield "barrier", lambda: [store.barrier(key + "b", 1, SHORT) for _ in range(2)]
        yield "barrier in vain", lambda: store.barrier(key + "b3", 3, SHORT)
        yield "barrier after that", lambda: [store.barrier(key + "b3", count, SHORT) for count in (2, 3, 0)]
    yield "num_keys", store.num_keys
    yield "has_extended_api", store.has_extended_api
    if hasattr(store, "clone"):
        yield "clone", lambda: store.clone().get(key)
    if hasattr(store, "list_keys") and not isinstance(store, dist.PrefixStore):
        yield "list_keys", lambda: sorted(store.list_keys())


def outcome(call):
    try:
        return call()
    except Exception as problem:
        return type(problem).__name__, str(problem)


def consumers(connect):
    """What clients that wait for items got, each item one of them, and how long it took."""
    taken = []
    threads = [threading.Thread(target=lambda store=connect(): taken.extend(store.queue_pop("shared")
                                                                           for _ in range(50)))
               for _ in range(3)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    producer = connect()
    for item in range(150):
        producer.queue_push("shared", str(item))
    for thread in threads:
        thread.join()
    return sorted(taken, key=int), time.monotonic() - begin


def results(connect):
    """What each call returned or raised, and how long it took."""
    first, second = connect(), connect()
    found = []
    for key, store in ("a", first), ("b", second), ("c", dist.PrefixStore("p", first)):
        for name, call in methods(store, key):
            begin = time.monotonic()
            found.append((f"{key}: {name}", outcome(call), time.monotonic() - begin))
    if hasattr(first, "queue_push"):
        found.append(("consumers", *consumers(connect)))
    adders = [threading.Thread(target=lambda store=store: [store.add("race", 1) for _ in range(500)])
              for store in (first, second)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    return [*found, ("race", first.add("race", 0), 0)]


def main():
    host, _, port = sys.argv[1].rpartition(":")
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    theirs = results(lambda: dist.TCPStore("127.0.0.1", server.port, is_master=False, timeout=TIMEOUT))
    ours = results(lambda: dist.TCPStore(host, int(port), is_master=False, timeout=TIMEOUT))
    differ = 0
    for (name, expected, their_time), (_, got, our_time) in zip(theirs, ours, strict=True):
        if got != expected or our_time > their_time + SLOWER_MAX:
            differ += 1
            print(f"{name}: {expected!r:.200} after {their_time:.2f} s, here {got!r:.200} after {our_time:.2f} s")
    print(f"{len(theirs)} calls compared, {differ} differ", flush=True)
    os._exit(differ != 0)


main()
