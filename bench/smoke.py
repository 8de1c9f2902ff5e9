#!/usr/bin/env python3
"""Runs bench/measure, or bench/kills, once and checks its JSON: that the run ends, that the counts are right and that
the fields exist. Times are not checked.

    smoke.py JSON_FILE EXPECTATION... -- WORKLOAD ARGUMENT...

An expectation is `path` (has a number above zero), `path=any` (has any number) or `path=number`, such
as `baseline.release_ns.count=15`. A test that needs another server is skipped if that is not installed.
"""

import json
import pathlib
import subprocess
import sys


# The program's exit code without a server, and CTest's code for "skipped".
UNAVAILABLE = 69
SKIPPED = 77


def look_up(found, path):
    for key in path.split("."):
        found = found[key]
    return found


def is_met(found, expectation):
    path, _, wanted = expectation.partition("=")
    try:
        value = look_up(found, path)
    except KeyError:
        return False
    if wanted == "any":
        return isinstance(value, (int, float))
    if wanted:
        return value == (float(wanted) if isinstance(value, (int, float)) else wanted)
    return isinstance(value, (int, float)) and value > 0


def main():
    split = sys.argv.index("--")
    path, *expectations = sys.argv[1:split]
    program, *arguments = sys.argv[split + 1:]
    if program != "kills":
        program, arguments = "measure", [program, *arguments]
    program = pathlib.Path(__file__).resolve().parent / program
    ran = subprocess.run([sys.executable, "-B", program, *arguments, "--json", path], timeout=100,
                         stderr=subprocess.PIPE, text=True, check=False)
    print(ran.stderr, file=sys.stderr)
    if ran.returncode == UNAVAILABLE and "is not installed" in ran.stderr:
        return SKIPPED
    ran.check_returncode()
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    missed = [e for e in expectations if not is_met(found, e)]
    for expectation in missed:
        print(f"not met: {expectation}\nin {json.dumps(found)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
