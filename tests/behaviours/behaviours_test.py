#!/usr/bin/env python3
"""Compares tests/BEHAVIOURS.md with the tests that ran.

    behaviours_test.py REPORTS       exit code 1 if something is missing
    behaviours_test.py --self-test   tries the rules on small tables that keep or break them

REPORTS is the directory into which each test program of this CTest run has written its results:
Boost.Test programs as XML, Python tests as one name per line. CTest runs all of them before
this one (a fixture), so a test that is disabled, renamed or not built is missing there.

The rules: each line of upstream_names.txt has one row in its section, and there are no other rows. A
row names our tests in backticks, one of them containing the line's name in our spelling; or it begins
with the rule that replaces the line ("§5.1: ..."), or with "open: ...". Each sharp edge has a row with
one of our tests or a sentence. Every test in backticks has passed. Not here: what the tests check.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
EDGES = "Sharp edges"
NUM_EDGES = 48


def passed_tests(reports: pathlib.Path) -> set[str]:
    """The names of all tests that ran and passed."""
    passed = set()
    for report in reports.glob("*.xml"):
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if all(case.find(fate) is None for fate in ("skipped", "failure", "error")):
                passed.add(case.get("name"))
    for report in reports.glob("*.txt"):
        passed.update(report.read_text().split())
    return passed


def upstream_lines(text: str) -> dict[str, list[str]]:
    """The names that each section must have rows for."""
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            names = sections.setdefault(line[3:], [])
        elif line and sections:
            names.append(line)
    return sections | {EDGES: [str(number) for number in range(1, NUM_EDGES + 1)]}


def rows_of(text: str) -> dict[str, list[tuple[str, str]]]:
    """The first and last cell of each row, without the table headers."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        if heading := re.match(r"## (\d+|Sharp edges)", line):
            rows = sections.setdefault(heading[1], [])
        elif line.startswith("| ") and sections:
            cells = line.strip("| ").split(" | ")
            if cells[0] not in ("upstream", "number"):
                rows.append((cells[0].strip("` "), cells[-1].strip()))
    return sections


def letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def violations_of(section: str, line: str, ours: str, passed: set[str]):
    tests = re.findall(r"`([^`]+)`", ours)
    for test in tests:
        if test not in passed:
            yield f"no test called {test} has passed"
    if re.match(r"§[\d.]+: |open: ", ours):
        return
    if section == EDGES:
        if not tests and len(ours.split()) < 5:
            yield "neither a test nor a sentence"
    elif not any(letters(line) in letters(test) for test in tests):
        yield "none of its tests has its name"


def violations(text: str, upstream: str, passed: set[str]):
    found = rows_of(text)
    for section, lines in upstream_lines(upstream).items():
        rows = found.get(section, [])
        listed = [line for line, _ in rows]
        yield from (f"{section}: {line}: {listed.count(line)} rows" for line in lines
                    if listed.count(line) != 1)
        yield from (f"{section}: {line}: no line of upstream's" for line in listed
                    if line not in lines)
        for line, ours in rows:
            yield from (f"{section}: {line}: {what}"
                        for what in violations_of(section, line, ours, passed))


def check(reports: pathlib.Path) -> int:
    passed = passed_tests(reports)
    text = (HERE.parent / "BEHAVIOURS.md").read_text()
    wrong = list(violations(text, (HERE / "upstream_names.txt").read_text(), passed))
    print("\n".join(wrong))
    last_cells = [ours for rows in rows_of(text).values() for _, ours in rows]
    print(f"{len(passed)} tests ran; {len(last_cells)} rows, of which "
          f"{sum(ours.startswith('open: ') for ours in last_cells)} are open")
    return 1 if wrong else 0


def self_test() -> int:
    upstream = "Two cases.\n\n## 1\nConnect_Fails\n"
    head = "## 1. Connecting\n| upstream | ours |\n|---|---|\n"
    row = "| `Connect_Fails` | `connect_fails_for_good` |\n"
    edges = "## Sharp edges\n" + "".join(
        f"| {number} | it hurts | it cannot happen here, ever |\n"
        for number in range(1, NUM_EDGES + 1))
    passed = {"connect_fails_for_good", "another"}
    cases = [
        ("all is well", head + row + edges, passed, 0),
        ("its test did not run", head + row + edges, {"another"}, 1),
        ("its test has another name", head + "| `Connect_Fails` | `another` |\n" + edges, passed, 1),
        ("a rule replaces it", head + "| `Connect_Fails` | §1.2: not so |\n" + edges, passed, 0),
        ("it is open", head + "| `Connect_Fails` | open: to come |\n" + edges, passed, 0),
        ("it has no row", head + edges, passed, 1),
        ("it has two rows", head + row + row + edges, passed, 1),
        ("a row for nothing", head + row + "| `Invented` | §1.1: so |\n" + edges, passed, 1),
        ("an edge has no row", head + row + edges.replace("| 7 |", "| 9 |"), passed, 2),
        ("an edge without a sentence", head + row + edges.replace(", ever", "", 1).replace(
            "it cannot happen here", "no", 1), passed, 1),
    ]
    failed = [what for what, text, ran, expected in cases
              if len(list(violations(text, upstream, ran))) != expected]
    print("\n".join(failed) or f"{len(cases)} tables were judged as they should be")
    return 1 if failed else 0


sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else check(pathlib.Path(sys.argv[1])))
