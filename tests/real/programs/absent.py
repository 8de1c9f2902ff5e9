"""The last process never comes: what the others, which come together, get from initialize()."""

import os
import pathlib
import time

from support import failure_of, initialize, say, task, tasks


def main():
    if task() == tasks() - 1:
        time.sleep(10_000)  # the test ends it
    # Importing JAX takes some of them longer than the timeout on a busy machine.
    directory = pathlib.Path(os.environ["CHECKPOINTS"]).parent
    (directory / f"imported-{task()}").touch()
    while len([*directory.glob("imported-*")]) < tasks() - 1:
        time.sleep(0.01)
    text = failure_of(lambda: initialize(initialization_timeout=5))
    say("refused:", text.replace("\n", " "))  # unless JAX has ended this process
    os._exit(3)
