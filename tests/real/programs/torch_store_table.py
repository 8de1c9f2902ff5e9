"""Makes each call of a table at torch's TCPStore and at Coxswain's store, or at a TCPStore whose server is the
coordinator, direct and behind PrefixStores, and compares results, types, exception classes and times; of TCPStores
also the texts of exceptions. Prints what differs though the table does not say so.

usage: torch_store_table.py store|tcp_store HOST:PORT
"""

import datetime
import os
import sys
import threading
import time

import torch.distributed as dist
from torch.distributed.elastic.utils import store as elastic

import coxswain
from coxswain import torch_extension

KIND, ADDRESS = sys.argv[1:]
SLOWNESS = float(os.environ.get("COXSWAIN_SLOWNESS", "1"))
TIMEOUT = datetime.timedelta(seconds=0.3)
SHORT = datetime.timedelta(seconds=0.1)
FASTER_MAX, SLOWER_MAX = 0.1, 0.25 * SLOWNESS  # s
EVERYWHERE, PREFIXED = ("direct", "prefixed", "prefixed twice"), ("prefixed", "prefixed twice")

HAS_QUEUES = hasattr(dist.Store, "queue_push")
# What torch's own base class does for methods that its C++ cannot call.
WITHOUT_EXTENSION = NotImplementedError if torch_extension.base() is dist.Store else None
HAS_CLONE = hasattr(dist.Store, "clone")
HAS_SETS = HAS_CLONE  # torch's conversions take sets as lists from then on

ROWS = []  # (methods, name, function of a store and a key)

# What ours does instead, by the row's name: where, and the result or the exception's class. The README of the
# Python package has each.
DIFFERENT = {}


def row(methods, name, call, *, ours=None, where=EVERYWHERE, only_if=True):
    if not only_if:
        return
    ROWS.append((methods.split(), name, call))
    if ours is not None:
        DIFFERENT[name] = where, ours


def several(*calls):
    """The outcome of each call, of which some raise."""
    return [result_of(call) for call in calls]


def result_of(call):
    try:
        return call()
    except Exception as problem:
        return problem


def counted(store, keys):
    """How many keys were added."""
    before = store.num_keys()
    keys()
    return store.num_keys() - before


def in_parallel(call, *arguments):
    """For a store of its own: the calls of one TCPStore wait for each other."""
    threading.Timer(0.02, call, arguments).start()


def elastic_timeout(store, key):
    with elastic.store_timeout(store, 0.1):
        store.get(key)


def all_of(store, key):
    for rank in range(2):
        store.set(f"{key}{rank}", str(rank))
    return elastic.get_all(store, 1, key, 2)


row("set get", "str", lambda s, k: (s.set(k, "v"), s.get(k)))
row("set get", "bytes", lambda s, k: (s.set(k, b"\0\xff"), s.get(k)))
row("set get", "bytearray", lambda s, k: (s.set(k, bytearray(b"v")), s.get(k)))
row("set get", "an empty value", lambda s, k: (s.set(k, ""), s.get(k)))
row("set get", "an empty key", lambda s, k: (s.set("", k), s.get("") == k.encode(), s.delete_key("")))
row("set get", "not ASCII", lambda s, k: (s.set(k + "ü", "ü"), s.get(k + "ü")))
row("set get", "3 MiB", lambda s, k: (s.set(k, "x" * (3 << 20)), s.get(k) == b"x" * (3 << 20)))
row("set get", "slashes", lambda s, k: [(s.set(k + one, one), s.get(k + one)) for one in ("/", "//a", "%2F", "%")])
row("set get", "keys as bytes", lambda s, k: (s.set(k.encode(), "v"), s.get(k), s.get(k.encode())))
row("set get", "a key as bytearray", lambda s, k: (s.set(bytearray(k.encode()), "v"), s.get(k)))
row("set", "no arguments", lambda s, k: s.set())
row("set", "types of values", lambda s, k: several(
    *(lambda value=value: s.set(k, value) for value in (1, None, 1.5, memoryview(b"v"), ["v"], "\ud800"))))
row("set get", "types of keys", lambda s, k: several(
    *(lambda key=key: s.set(key, "v") for key in (1, None, "\ud800")), lambda: s.get(3), lambda: s.get(key=k)))
row("set get", "a long key", lambda s, k: (s.set(k + "x" * 1000, "v"), s.get(k + "x" * 1000)))
row("set", "a key of 5000 bytes", lambda s, k: s.set(k + "x" * 5000, "v"), ours=coxswain.ResourceExhausted)
row("set", "NUL in a key", lambda s, k: s.set(k + "\0", "v"), ours=coxswain.InvalidArgument)
row("set", "a key that is not UTF-8", lambda s, k: (s.set(b"\xff", "v"), s.delete_key(b"\xff")),
    ours=UnicodeDecodeError)
row("get", "get in vain", lambda s, k: s.get(k))
row("get", "get of another's", lambda s, k: (
    in_parallel(s.clone().set, k, "v"), s.get(k)), only_if=HAS_CLONE)

row("add get", "add", lambda s, k: ([s.add(k, by) for by in (5, -7, 0, True)], s.get(k)))
row("add", "add of zero makes a key", lambda s, k: (s.add(k, 0), s.check([k])))
row("add set", "add to a number", lambda s, k: (s.set(k, "41"), s.add(k, 1)))
row("add", "types of amounts", lambda s, k: several(
    *(lambda by=by: s.add(k, by) for by in (1.5, "1", None, 2**63)), lambda: s.add(1, 1)))
row("add", "the least amount", lambda s, k: s.add(k, -2**63))
row("add", "add to a text", lambda s, k: (s.set(k, "text"), s.clone().add(k, 1)),  # at a TCPStore the clone is lost
    ours=coxswain.FailedPrecondition, only_if=HAS_CLONE)
row("append", "append", lambda s, k: (s.append(k, "a"), s.append(k, b"\xff"), s.get(k), result_of(lambda: s.append(k, 1))))
row("compare_set", "compare_set", lambda s, k: [s.compare_set(k, *pair) for pair in (
    ("x", "y"), ("", "y"), ("x", "z"), (b"y", b"z"), ("", "q"))])
row("compare_set", "compare_set of a missing key", lambda s, k: (s.compare_set(k, "x", "y"), s.check([k])))
row("compare_set", "compare_set of an empty value", lambda s, k: (s.set(k, ""), s.compare_set(k, "", "q"), s.get(k)))
row("compare_set", "types of compare_set", lambda s, k: several(
    lambda: s.compare_set(k, 1, "v"), lambda: s.compare_set(k, "v", None), lambda: s.compare_set(k, "v")))

row("check", "check", lambda s, k: (s.set(k, ""), [s.check(keys) for keys in ([k], (k,), [], [k, k + "n"], [k.encode()])]))
row("check", "types of lists", lambda s, k: several(
    *(lambda keys=keys: s.check(keys) for keys in (k, k.encode(), bytearray(b"k"), {k: 1}, iter([k]), None, [1]))))
row("check", "sets as lists", lambda s, k: (s.check({k}), s.check({k: 1}.keys()), s.check(one for one in [k])),
    only_if=HAS_SETS)
row("wait", "wait", lambda s, k: (s.set(k, "v"), s.wait([k]), s.wait([]), s.wait([k], SHORT), s.wait([k], 0.5)))
row("wait", "wait in vain", lambda s, k: s.wait([k]))
row("wait", "wait for several in vain", lambda s, k: (s.set(k, "v"), s.wait([k, k + "n"], SHORT)))
row("wait", "wait with a float", lambda s, k: s.wait([k], 0.1))
row("wait", "wait of no time", lambda s, k: s.wait([k], datetime.timedelta(0)))
row("wait", "wait of no time for a value", lambda s, k: (s.set(k, "v"), s.wait([k], datetime.timedelta(0))),
    ours=(None, None))
row("wait", "types of timeouts", lambda s, k: several(
    *(lambda limit=limit: s.wait([k], limit) for limit in (1, True, None, "1")),
    lambda: s.wait(k), lambda: s.wait(keys=[k]), lambda: s.wait([k], timeout=SHORT)))
row("multi_set multi_get", "several", lambda s, k: (
    s.multi_set([k, k + "b"], ["1", b"2"]), s.multi_get([k + "b", k]), s.multi_get([]), s.multi_set([], [])))
row("multi_set", "keys without values", lambda s, k: s.multi_set([k, k + "b"], ["1"]))
row("multi_set multi_get", "types of several", lambda s, k: several(
    lambda: s.multi_set("k", "v"), lambda: s.multi_set([k], "v"), lambda: s.multi_set([k], [1]), lambda: s.multi_get(k)))
row("multi_get", "several in vain", lambda s, k: s.multi_get([k]))
row("delete_key", "delete_key", lambda s, k: (
    s.set(k, "v"), s.delete_key(k), s.delete_key(k.encode()), s.check([k]), result_of(lambda: s.delete_key(1))))
row("num_keys", "keys are counted", lambda s, k: counted(s, lambda: (s.set(k, "1"), s.set(k, "2"), s.add(k + "n", 1))))
row("num_keys has_extended_api", "arguments too many", lambda s, k: several(
    lambda: s.num_keys(1), lambda: s.has_extended_api(1), lambda: s.get(k, k)))
row("has_extended_api", "has_extended_api", lambda s, k: s.has_extended_api())
row("timeout set_timeout", "set_timeout", lambda s, k: (s.set_timeout(SHORT), s.timeout, result_of(lambda: s.get(k))))
row("set_timeout", "set_timeout with a float", lambda s, k: (s.set_timeout(0.1), s.timeout))
row("set_timeout", "types of set_timeout", lambda s, k: several(lambda: s.set_timeout(2), lambda: s.set_timeout(None)))
row("get", "a helper's timeout", elastic_timeout)
row("get", "a helper gets all", all_of)
row("wait", "a helper's barrier", lambda s, k: elastic.barrier(s, 1, k, 0.1))
row("wait", "a helper's barrier in vain", lambda s, k: elastic.barrier(s, 2, k, 0.1))
row("set", "a helper synchronizes", lambda s, k: elastic.synchronize(s, b"v", 0, 1, k, 0.1))
row("clone", "clone", lambda s, k: (
    s.set(k, "v"), s.clone().get(k), s.clone().timeout, s.clone().set_timeout(SHORT), s.timeout), only_if=HAS_CLONE)
row("clone", "a clone's clone", lambda s, k: (s.clone().clone().set(k, "v"), s.get(k)), only_if=HAS_CLONE)

row("barrier", "barrier of one", lambda s, k: (s.barrier(k, 1, SHORT), s.barrier(k.encode(), 1, SHORT)),
    only_if=hasattr(dist.Store, "barrier"))
row("barrier", "barrier of two", lambda s, k: (
    in_parallel(s.clone().barrier, k, 2, TIMEOUT), s.barrier(k, 2, TIMEOUT)), only_if=hasattr(dist.Store, "barrier"))
row("barrier", "barrier in vain", lambda s, k: several(
    lambda: s.barrier(k, 2, SHORT), lambda: s.barrier(key=k + "n", world_size=2, timeout=0.1)),
    only_if=hasattr(dist.Store, "barrier"))
row("barrier", "types of barrier", lambda s, k: several(
    lambda: s.barrier(k, 1.0), lambda: s.barrier(1, 1), lambda: s.barrier(k, 1, 1)), only_if=hasattr(dist.Store, "barrier"))

row("queue_push queue_pop", "queue", lambda s, k: (
    s.queue_push(k, "1"), s.queue_push(k, b"2"), s.queue_pop(k), s.queue_pop(k.encode(), block=False)),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=HAS_QUEUES)
row("queue_push queue_pop", "an item of another's", lambda s, k: (
    in_parallel(s.clone().queue_push, k, "1"), s.queue_pop(k)),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=HAS_QUEUES)
row("queue_pop", "an empty queue", lambda s, k: s.queue_pop(k, False),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=HAS_QUEUES)
row("queue_pop", "an empty queue, in vain", lambda s, k: s.queue_pop(k),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=HAS_QUEUES)
row("queue_pop timeout", "a queue's timeout", lambda s, k: (s.set_timeout(SHORT), s.queue_pop(k)),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=HAS_QUEUES)
row("queue_push queue_pop", "types of queues", lambda s, k: several(
    lambda: s.queue_push(k, 1), lambda: s.queue_push(1, "v"), lambda: s.queue_pop(k, "x")), only_if=HAS_QUEUES)
row("queue_push check", "a queue is no key", lambda s, k: (result_of(lambda: s.queue_push(k, "1")), s.check([k]))[1],
    ours=False, only_if=HAS_QUEUES)
row("queue_len", "queue_len", lambda s, k: (
    s.queue_len(k), s.queue_push(k, "1"), s.queue_push(k, ""), s.queue_len(k.encode()), s.queue_pop(k), s.queue_len(k)),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=hasattr(dist.Store, "queue_len"))
row("queue_len", "types of queue_len", lambda s, k: several(lambda: s.queue_len(1), lambda: s.queue_len()),
    only_if=hasattr(dist.Store, "queue_len"))
row("list_keys", "list_keys", lambda s, k: (
    s.set(k, "v"), s.set(k + "/n", "v"), sorted(one for one in s.list_keys() if k in one)),
    ours=WITHOUT_EXTENSION, where=PREFIXED, only_if=hasattr(dist.Store, "list_keys"))


def text_of(problem):
    return str(problem).partition("Invoked with: ")[0]  # the store


def is_same(expected, got):
    if isinstance(expected, Exception):
        return isinstance(got, type(expected)) and (KIND == "store" or text_of(got) == text_of(expected))
    if isinstance(expected, (tuple, list)):
        return type(got) is type(expected) and len(got) == len(expected) and all(map(is_same, expected, got))
    return type(got) is type(expected) and got == expected


def outcome(call, store, key):
    store.set_timeout(TIMEOUT)
    begin = time.monotonic()
    result = result_of(lambda: call(store, key))
    return result, time.monotonic() - begin


def is_as_quick(call, theirs, ours, key):
    """Whether a call takes as long in a second try, since a busy machine delays any call now and then."""
    (_, their_time), (_, our_time) = (outcome(call, store, f"{key} again") for store in (theirs, ours))
    return their_time - FASTER_MAX < our_time < their_time + SLOWER_MAX


def ways(store):
    prefixed = dist.PrefixStore("p", store)
    return {"direct": store, "prefixed": prefixed, "prefixed twice": dist.PrefixStore("q", prefixed)}


def compare(theirs, ours):
    """What differs, as lines."""
    for how in EVERYWHERE:
        for number, (_, name, call) in enumerate(ROWS):
            key = f"{how}{number}"
            expected, their_time = outcome(call, theirs[how], key)
            got, our_time = outcome(call, ours[how], key)
            where, instead = DIFFERENT.get(name, ((), None))
            if how in where:
                if not (isinstance(got, instead) if isinstance(instead, type) else is_same(instead, got)):
                    yield f"{how}: {name}: {got!r:.300}, not {instead!r} as documented"
            elif not is_same(expected, got):
                yield f"{how}: {name}: {got!r:.300}, at a TCPStore {expected!r:.300}"
            elif (not their_time - FASTER_MAX < our_time < their_time + SLOWER_MAX
                  and not is_as_quick(call, theirs[how], ours[how], key)):
                yield f"{how}: {name}: after {our_time:.2f} s, at a TCPStore after {their_time:.2f} s"


def stores():
    """Torch's own, and ours."""
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    if KIND == "store":
        job = coxswain.Client(ADDRESS, 0)
        job.join()
        return server, coxswain.Store(job).for_torch()
    # The others differ, and end the connection.
    ROWS[:] = [one for one in ROWS if DIFFERENT.get(one[1], (PREFIXED,))[0] == PREFIXED]
    DIFFERENT.clear()
    host, _, port = ADDRESS.rpartition(":")
    return [dist.TCPStore(*at, is_master=False) for at in (("127.0.0.1", server.port), (host, int(port)))] + [server]


def main():
    covered = {method for methods, _, _ in ROWS for method in methods}
    lines = [f"no row for {name}" for name in dir(dist.Store) if not name.startswith("_") and name not in covered]
    theirs, ours, *_kept = stores()
    lines += compare(ways(theirs), ways(ours))
    print("\n".join([*lines, f"{len(ROWS)} rows compared, {len(lines)} differ"]), flush=True)
    os._exit(bool(lines))


main()
