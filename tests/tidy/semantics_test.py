#!/usr/bin/env python3
"""SEMANTICS.md states the defaults of its appendix wherever it writes "`--flag` (64 MiB)" or
"64 MiB (`option`". Not here: names (migration_test.py) and rule numbers (tools/tidy.py).
"""
import pathlib
import re
import sys

SEMANTICS = pathlib.Path(__file__).resolve().parents[2] / "src/coxswain/SEMANTICS.md"
UNITS = {"": 1, "ms": 1, "s": 1000, "min": 60_000, "bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
QUANTITY = r"(\d[\d,]*) ?(ms|s|min|bytes|[KMG]iB)?\b"
NAME = r"`(?:--|\w+::)?([a-z][\w-]*)`"


def amount(number: str, unit: str) -> int:
    return int(number.replace(",", "")) * UNITS[unit or ""]


def defaults(appendix: str) -> dict[str, int]:
    """The options with a default that is a number, a size or a time."""
    rows = re.findall(rf"^\| (`[^|]*) \| (?:time|bytes|number) \| {QUANTITY} \|", appendix, re.MULTILINE)
    return {name.replace("-", "_"): amount(*value)
            for names, *value in rows for name in re.findall(NAME, names)}


def stated(text: str) -> list[tuple[str, int]]:
    text = re.sub(r"\s+", " ", text)
    found = re.findall(rf"{NAME} \((?:default )?{QUANTITY}", text)
    found += [(name, *rest) for *rest, name in re.findall(rf"{QUANTITY}(?: \w+)? \({NAME}", text)]
    return [(name.replace("-", "_"), amount(number, unit)) for name, number, unit in found]


def main() -> int:
    if stated("`--a-b` (default\n2 s; 0: none), `c` (1,024), 4 KiB (`x::d`") != [
            ("a_b", 2000), ("c", 1024), ("d", 4096)] or defaults(
            "| `--a-b`, `c` | time | 2 s | | |\n| `d` | bytes | 4 KiB | |\n| `e` | text | 1 | |") != {
            "a_b": 2000, "c": 2000, "d": 4096}:
        print("this test reads defaults wrongly")
        return 1
    text, appendix = SEMANTICS.read_text().split("\n## Appendix")
    ours = defaults(appendix)
    rules = [(name, value) for name, value in stated(text) if name in ours]
    wrong = [f"SEMANTICS.md: the default of {name} is not {value} but {ours[name]}"
             for name, value in rules if ours[name] != value]
    print("\n".join(wrong) or f"{len(rules)} defaults")
    return 1 if wrong or len(rules) < 30 else 0


sys.exit(main())
