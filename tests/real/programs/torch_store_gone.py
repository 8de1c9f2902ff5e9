"""What each call of a store does when its coordinator has ended without a word: prints it, one line for each.

usage: torch_store_gone.py HOST:PORT; kill the coordinator when it says "joined", then send it SIGUSR1
"""

import concurrent.futures
import datetime
import os
import signal
import sys
import threading
import time

import torch.distributed as dist

import coxswain

TIMEOUT = datetime.timedelta(seconds=2)

CALLS = {
    "set": lambda store: store.set("a", "1"),
    "get": lambda store: store.get("set"),
    "add": lambda store: store.add("n", 1),
    "check": lambda store: store.check(["set"]),
    "wait": lambda store: store.wait(["set"]),
    "delete_key": lambda store: store.delete_key("set"),
    "compare_set": lambda store: store.compare_set("set", "1", "2"),
    "append": lambda store: store.append("set", "1"),
    "multi_get": lambda store: store.multi_get(["set"]),
    "multi_set": lambda store: store.multi_set(["set"], ["1"]),
    "num_keys": lambda store: store.num_keys(),
}


def outcome(call, store):
    begin = time.monotonic()
    try:
        kind = f"returned {call(store)!r}"
    except dist.DistNetworkError as problem:
        kind = "told" if isinstance(problem, ConnectionError) else "no ConnectionError"
    except Exception as problem:
        kind = repr(problem)
    return f"{time.monotonic() - begin:.2f} {kind}"


def main():
    is_gone = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: is_gone.set())
    job = coxswain.Client(sys.argv[1], 0)
    job.join()
    store = coxswain.Store(job, timeout=TIMEOUT).for_torch()
    store.set("set", "1")
    stores = {"direct": store, "prefixed": dist.PrefixStore("p", store),
              "prefixed twice": dist.PrefixStore("q", dist.PrefixStore("p", store))}
    print("joined", flush=True)
    is_gone.wait()
    # One after the other for the calls of one store would take a minute.
    with concurrent.futures.ThreadPoolExecutor(len(stores) * len(CALLS)) as threads:
        calls = {f"{how}: {name}": threads.submit(outcome, call, one)
                for how, one in stores.items() for name, call in CALLS.items()}
        for name, result in calls.items():
            print(f"{name}: {result.result()}", flush=True)
    os._exit(0)


main()
