"""A Python program for the tests of launchers, as users write it: python_program.py. All tasks add up
their numbers; each prints the sum.
"""

import coxswain

with coxswain.Client.from_environment() as job:
    print(f"sum {sum(map(int, job.all_gather('numbers', str(job.task + 1))))}", flush=True)
