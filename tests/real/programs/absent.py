"""The last process never comes: what the others are told by initialize()."""

import os
import time

from support import failure_of, initialize, say, task, tasks


def main():
    if task() == tasks() - 1:
        time.sleep(10_000)  # the test ends it
    text = failure_of(lambda: initialize(initialization_timeout=3))
    say("refused:", text.replace("\n", " "))
    os._exit(3)
