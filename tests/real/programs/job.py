"""Runs programs of this directory one after another as one JAX job: job.py PROGRAM..."""

import importlib
import sys

from support import initialize, say, task


def main():
    names = sys.argv[1:]
    if names != ["absent"]:
        say(f"initialized {task()} after {initialize():.3f} s")
    for name in names:
        remark = importlib.import_module(name).main()
        say(f"passed {name} {task()}", remark or "")
    import jax
    jax.distributed.shutdown()
    say("left", task())


main()
