"""A task of ordeal.py: rounds of everything, each step written to a log, until the key "stop" exists.

    ordeal_worker.py LOG ID RESOURCES

A line of the log has the time, a verb with "?" before a call and without it after, and what came of
it. RESOURCES is a directory of files that the locks protect.
"""

import os
import pathlib
import sys
import time

import coxswain

log, name, resources = sys.argv[1:]
output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def note(verb, *rest):
    os.write(output, " ".join(map(str, (time.monotonic_ns(), verb, *rest))).encode() + b"\n")


def check(is_right, *what):
    if not is_right:
        note("wrong", *what)
        sys.exit(f"wrong: {what}")


def guarded(job, lock):
    """Increments a file and a key by reading and writing, which only the lock makes right."""
    note("guarded?", lock)
    token = job.lock(lock)
    file = pathlib.Path(resources, lock)
    before = int(file.read_text())
    check(before < token, "token", lock, before, token)
    aside = file.with_suffix(f".{name}")  # a killed task must not leave half of it
    aside.write_text(str(token))
    aside.replace(file)
    count = int(job.try_get(f"guarded/{lock}") or 0)
    job.put(f"guarded/{lock}", str(count + 1), overwrite=True)
    check(int(file.read_text()) == token, "two owners", lock, token)
    note("guarded", lock, token, count + 1)
    job.unlock(lock, token)


def live(job):
    me = job.task
    steady = [task for task in range(job.num_tasks) if task % 4]
    check(job.try_get(f"alive/{me}") is None, "an ephemeral key outlived its task")
    job.put(f"alive/{me}", name, ephemeral=True)
    mine = int(job.try_get(f"own/{me}") or 0)
    version = max((one.version for one in job.list(f"swap/{me}")), default=0)
    met, step = 0, 0
    while True:
        stop = job.try_get("stop") is not None
        note("arrive")
        both = job.reduce("round", stop << 40 | (met + 1 if met else 0), "max")
        stop, round = both >> 40, both & ((1 << 40) - 1) or 1
        check(not met or round == met + 1, "round", met, round)
        met = round
        note("released", round)
        if stop:
            return
        if me % 4:
            note("steady", job.barrier("steady", participants=steady))

        note("count?")
        note("count", job.increment("count"))
        mine += 1
        own = job.increment(f"own/{me}")
        check(own == mine, "own count", own, mine)

        note("push?", f"{name}:{step}")
        job.push(f"queue/{me % 8}", f"{name}:{step}")
        note("push", f"{name}:{step}")
        note("pop?")
        item = job.pop(f"queue/{(me + 1) % 8}")
        note("pop", item.value.decode(), item.number)

        note("swap?", me, step)
        swap = job.compare_and_set(f"swap/{me}/x", str(step), version=version)
        check(swap and swap.version > version, "swap", version, swap)
        version = swap.version
        note("swap", me, version)

        guarded(job, f"lock-{me % 4}")
        check(job.try_get(f"alive/{me}") == name.encode(), "my ephemeral key is gone")
        next = (me + 1) % job.num_tasks
        if job.try_get(f"alive/{next}") is None:
            note("absent", next)
        step += 1


with coxswain.Client.from_environment(recoverable=int(os.environ["COXSWAIN_TASK_ID"]) % 4 == 0) as job:
    note("joined", job.incarnation)
    live(job)
note("left")
