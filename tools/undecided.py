#!/usr/bin/env python3
"""Finds the decisions that no test took both ways, from gcovr's counts. Used by tools/coverage.

    tools/undecided.py TRACE EXCEPTIONS CORRECTED
    tools/undecided.py --self-test

TRACE is gcovr's JSON with its throw branches. gcovr 5.2 guesses decisions from the text: it takes
the line after `if (a) b;` for the branch, and ignores loops and everything with more than two
branches. The branches themselves are exact, so they are used here. A decision is each condition of
an if, a loop, `?:`, `&&` or `||`, and each case of a switch. assert and invariant count as decided.
CORRECTED becomes the trace with these decisions, for gcovr's report.

EXCEPTIONS has a line for each decision that may stay undecided: FILE | TEXT OF ITS LINE | REASON.
"""

import bisect
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LITERAL = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""")
HEAD = re.compile(r"\b(?:if|while|for)\b\s*(?:constexpr\s*)?\(")
CASE = re.compile(r"\s*(?:case\b(?:[^:;]|::)*|default\s*):(?!:)\s*(.*)")


def without_literals(text):
    """Returns text of the same length, so that positions stay valid."""
    return LITERAL.sub(lambda m: " " * len(m[0]), text)


def decision_lines(text):
    """The numbers of the lines that may have conditions."""
    code = without_literals(text)
    starts = [0, *(m.end() for m in re.finditer("\n", code))]
    found, dull = set(), set()

    def add(to, begin, end):
        begin += len(code[begin:end]) - len(code[begin:end].lstrip())
        to.update(range(bisect.bisect(starts, begin), bisect.bisect(starts, max(begin, end - 1)) + 1))

    for head in HEAD.finditer(code):
        end, depth = head.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        add(found, head.start(), end)
    for statement in re.finditer(r"[^;{}]+", code):
        if re.search(r"\b(?:assert|invariant)\s*\(|=\s*default\s*$", statement[0]):
            add(dull, statement.start(), statement.end())
        elif re.search(r"\?|\|\||&&(?!\s*[\w)>,.]*[,)=])", statement[0]):
            add(found, statement.start(), statement.end())
    return found - dull


def conditions(branches):
    """The counts of both ways of each conditional jump; exceptions from calls are ignored."""
    at = 0
    while at + 1 < len(branches):
        one, other = branches[at], branches[at + 1]
        if not one["throw"] and not other["throw"]:
            yield one["count"], other["count"]
        at += 2


def way_of_case(rest, number, counts):
    """How often a case was taken: the count of its line, or of the next counted one."""
    if rest and number in counts:
        return counts[number]
    return next((counts[n] for n in range(number + 1, number + 4) if n in counts), None)


def decision(line, source, where, counts):
    """gcovr's entry for the line; none if nothing is decided there."""
    number = line["line_number"]
    text = without_literals(source[number - 1])
    if case := CASE.match(text):
        taken = way_of_case(case[1], number, counts)
        return None if taken is None else {"type": "switch", "count": taken}
    if number not in where or re.match(r"\s*switch\b", text):
        return None
    # Neither way was taken, on a line that was reached: another decision on the line skips it, or
    # it is cleanup after an exception.
    ways = [w for w in conditions(line["branches"]) if any(w) or line["count"] == 0]
    if not ways:
        return None
    worst = min(ways, key=min)
    return {"type": "conditional", "count_true": worst[0], "count_false": worst[1]}


def is_open(what):
    return 0 in (what.get("count"), what.get("count_true"), what.get("count_false"))


def correct(file):
    """Adds the decisions to the file's lines. Returns their number, and the open ones."""
    text = (ROOT / file["file"]).read_text(encoding="utf-8")
    source, where = text.splitlines(), decision_lines(text)
    counts = {line["line_number"]: line["count"] for line in file["lines"]}
    decided, undecided = 0, []
    for line in file["lines"]:
        line.pop("gcovr/decision", None)
        what = decision(line, source, where, counts)
        line["branches"] = [b for b in line["branches"] if not b["throw"]]
        if what is None:
            continue
        line["gcovr/decision"] = what
        if is_open(what):
            undecided.append((line["line_number"], source[line["line_number"] - 1].strip()))
        else:
            decided += 1
    return decided, undecided


def read_exceptions(path):
    entries = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        entry = re.fullmatch(r"(\S+) \| (.*) \| (.+)", line)
        if not entry:
            sys.exit(f"{path}: expected FILE | TEXT OF ITS LINE | REASON: {line}")
        entries[entry[1], entry[2]] = entry[3]
    return entries


def report(trace, exceptions):
    """Prints the findings, and returns their number."""
    decided, excepted, wrong, used = 0, 0, 0, set()
    for file in trace["files"]:
        count, undecided = correct(file)
        decided += count
        new = [u for u in undecided if (file["file"], u[1]) not in exceptions]
        used.update((file["file"], text) for _, text in undecided)
        excepted += len(undecided) - len(new)
        wrong += len(new)
        for number, text in new:
            print(f"{file['file']}:{number}: {text}")
    for file, text in exceptions.keys() - used:
        wrong += 1
        print(f"{file}: is excepted and no longer undecided: {text}")
    print(f"{decided} decisions are taken both ways, {excepted} are excepted, {wrong} are wrong")
    return wrong


# A line of code, its branches (T: the way of an exception), and whether it is open.
SNIPPETS = (
    ("if (a) b();", "1 1", False),
    ("if (a) b();", "1 0", True),
    ("if (a) b();", "0 1", True),
    ("if (a && f()) b();", "2 1 1 0T 1 1", False),
    ("if (a && f()) b();", "2 1 1 0T 0 1", True),
    ("if (a && f()) b();", "0 2 0 0T 0 0", True),
    ("while (a) b();", "3 0", True),
    ("for (auto x : xs()) b();", "1 0T 3 1", False),
    ("auto a = b ? std::string{c} : d;", "1 2 1 0T 0 0", False),
    ("auto a = b ? c : d;", "1 0", True),
    ("auto a = b;", "1 0", False),
    ("auto a = \"what? if (so)\";", "1 0", False),
    ("void f(x&& a) { g(std::forward<x>(a)); }", "1 0", False),
    ("invariant(a || b, text);", "1 0", False),
    ("friend bool operator==(x const&, x const&) = default;", "1 0", False),
    ("case a::b: return 1;", "", False),
)


def self_test():
    failures = 0
    for code, branches, expected in SNIPPETS:
        line = {"line_number": 1, "count": 1,
                "branches": [{"count": int(b.rstrip("T")), "throw": b.endswith("T")}
                             for b in branches.split()]}
        what = decision(line, [code], decision_lines(code), {1: 1})
        if (what is not None and is_open(what)) != expected:
            failures += 1
            print(f"expected {'open' if expected else 'decided'}, found {what} in: {code}")
    print(f"{len(SNIPPETS)} snippets, {failures} failures")
    return 1 if failures else 0


def main(trace_path, exceptions_path, corrected_path):
    trace = json.loads(pathlib.Path(trace_path).read_text(encoding="utf-8"))
    wrong = report(trace, read_exceptions(exceptions_path))
    pathlib.Path(corrected_path).write_text(json.dumps(trace), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(main(*sys.argv[1:]))
