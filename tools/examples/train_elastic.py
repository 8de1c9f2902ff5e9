#!/usr/bin/env python3
"""A training loop that goes on when members of its job are lost, and takes new ones in.

    coxswain run -n 4 --min-tasks 2 --max-restarts 3 -- python3 train_elastic.py

Each step adds a number to the state, which all members compute together: a reduction, whose parts
depend on the number of members. The state of the last complete step is the same at all of them, so
each epoch goes on from there. A new member gets it from task 0.
"""

import argparse
import json
import time

import coxswain


def part_of(step: int, rank: int, size: int) -> int:
    """What one of the members contributes to the step: all parts together are the step's number."""
    return step // size + (1 if rank < step % size else 0)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--pause", type=float, default=0.0, help="seconds that a step takes")
    given = options.parse_args()

    step, total = 0, 0
    with coxswain.Client.from_environment() as job:
        for epoch in job.epochs():
            print(f"epoch {epoch.number}: task {epoch.rank} of {epoch.size}", flush=True)
            with epoch:
                state = job.all_gather("state", json.dumps([step, total]))
                step, total = max(json.loads(one) for one in state)
                while step < given.steps and not job.epoch_wanted():
                    time.sleep(given.pause)
                    total += job.reduce("step", part_of(step, epoch.rank, epoch.size))
                    print(f"step {step}", flush=True)
                    step += 1
                if step == given.steps:
                    epoch.finish()
    print(f"sum {total}", flush=True)


if __name__ == "__main__":
    main()
