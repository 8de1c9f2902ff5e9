"""One process is killed while the others wait for it."""

import os
import signal

import jax

from support import LIMIT_MS, client, failure_of, say


def main():
    client().wait_at_barrier("all are here", LIMIT_MS)
    if jax.process_index() == jax.process_count() - 1:
        say("dies")
        os.kill(os.getpid(), signal.SIGKILL)
    # JAX may end this process before its exception is seen here.
    say("told:", failure_of(client().wait_at_barrier, "never", LIMIT_MS).replace("\n", " "))
    client().wait_at_barrier("JAX ends this process", LIMIT_MS)
