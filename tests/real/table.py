"""What works with which JAX, in each way in which a job is started: prints a table, one row for each
environment that is named (jax-VERSION, made by tests/real/environment). With --write the rows also replace
those of these versions in JAX.md.

usage: table.py [--write] jax-VERSION...
"""

import pathlib
import re
import sys

from harness import WAYS, python_of
from jax_case import PROGRAMS, JaxCase

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "src" / "coxswain" / "JAX.md"

COLUMNS = *PROGRAMS, "killed", "absent"
HEADINGS = ("collectives", "client's methods", "`live_devices`", "Orbax", "preemption", "a process is killed",
            "one never comes")

BEGIN = "<!-- rows: tests/real/table.py --write -->\n"


class Table(JaxCase):
    """The cells of one way, from one job of all programs and one in which a process never comes."""

    def runTest(self):
        self.failed, self.lacking = set(), set()
        job = self.jax_job(self.way, *PROGRAMS, "killed")
        self.attempt("killed", lambda: self.assert_codes_after_a_kill(job, job.wait()))
        self.attempt("killed", lambda: self.assert_notified_of_the_killed(job))
        for program in PROGRAMS:
            self.attempt(program, lambda: self.assert_passed(job, program))
        self.attempt("preemption", lambda: self.assert_agreed_on_preemption(job))
        if job.tasks_with("passed live", "lacks"):
            self.lacking.add("live")

    def attempt(self, column, check):
        try:
            check()
        except AssertionError as problem:
            self.failed.add(column)
            print(f"{self.python} {self.way} {column}: {problem}", file=sys.stderr)


class Absent(Table):

    def runTest(self):
        self.failed, self.lacking = set(), set()
        self.attempt("absent", lambda: self.assert_absent_is_named(self.jax_job(self.way, "absent")))


def outcome(python, way):
    """The columns that fail, and those that this version lacks."""
    failed, lacking = set(), set()
    for case in Table(), Absent():
        case.python, case.way = python, way
        case.debug()
        failed |= case.failed
        lacking |= case.lacking
    return failed, lacking


def cell(column, outcomes):
    if any(column in lacking for _, lacking in outcomes.values()):
        return "not in this version"
    ways = [way for way, (failed, _) in outcomes.items() if column in failed]
    return f"not with {', '.join(ways)}" if ways else "yes"


def row(name):
    python = python_of(name)
    outcomes = {way: outcome(python, way) for way in WAYS}
    return [name.removeprefix("jax-"), orbax_of(name), *(cell(column, outcomes) for column in COLUMNS)]


def orbax_of(name):
    lock = (pathlib.Path(__file__).resolve().parent / "locks" / f"{name}.txt").read_text()
    return re.search(r"(?m)^orbax-checkpoint==(\S+)", lock)[1]


def text_of(cells):
    return f"| {' | '.join(cells)} |"


def write(cells):
    before, begin, rest = DOCUMENT.read_text().partition(BEGIN)
    table, end, after = rest.partition("\n\n")
    lines = {line.split(" | ")[0]: line for line in table.splitlines()[2:]}
    lines[f"| {cells[0]}"] = text_of(cells)
    by_version = sorted(lines, key=lambda version: [int(part) for part in version[2:].split(".")])
    heading = text_of(("JAX", "Orbax", *HEADINGS))
    table = "\n".join([heading, "|---" * (len(COLUMNS) + 2) + "|", *(lines[version] for version in by_version)])
    DOCUMENT.write_text(before + begin + table + end + after)


def main():
    names = sys.argv[1:]
    writes = "--write" in names
    names = [name for name in names if name != "--write"]
    if not names or any(not name.startswith("jax-") for name in names):
        sys.exit(__doc__)
    rows = []
    for name in names:
        rows.append(row(name))
        print(text_of(rows[-1]), flush=True)
        if writes:
            write(rows[-1])
    # For the nightly run: a version with which something does not work is a failure.
    sys.exit(any("not with" in one for cells in rows for one in cells))


if __name__ == "__main__":
    main()
