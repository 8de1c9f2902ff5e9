"""Runs programs of this directory one after another as one JAX job: job.py PROGRAM..."""

import importlib
import sys

import jax

from support import initialize, say, task


def main():
    names = sys.argv[1:]
    if names == ["devices"] and hasattr(jax.config, "jax_enable_recoverability"):
        jax.config.update("jax_enable_recoverability", True)
    if names != ["absent"]:
        say(f"initialized {task()} after {initialize():.3f} s")
    for name in names:
        remark = importlib.import_module(name).main()
        say(f"passed {name} {task()}", remark or "")
    jax.distributed.shutdown()
    say("left", task())


main()
