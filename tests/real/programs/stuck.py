"""A task that joins, and then holds up the others as its argument says: the n-th is that of task n."""

import os
import re
import signal
import sys
import time

import coxswain


def sleeps():
    time.sleep(3600)  # the line of the sleep


def spins():
    re.match(r"(?:a+)+$", "a" * 64 + "b")  # the line of the native loop, which is endless in practice


def stops():
    os.kill(os.getpid(), signal.SIGSTOP)


def arrives():
    pass


def main():
    with coxswain.Client.from_environment() as job:
        job.put(f"address/{job.task}", "here")
        ways = dict(enumerate(sys.argv[1:]))
        globals()[ways.get(job.task, "arrives")]()
        job.barrier("step", timeout=600)


main()
