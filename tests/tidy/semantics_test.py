#!/usr/bin/env python3
"""SEMANTICS.md states the defaults of our headers wherever it writes "`--flag` (64 MiB)" or
"64 MiB (`option`". Not here: names (migration_test.py) and rule numbers (tools/tidy.py).
"""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ("client/call_options.hpp", "client/options.hpp", "core/config.hpp",
           "net/tls_options.hpp", "server/options.hpp")
UNITS = {"": 1, "ms": 1, "s": 1000, "min": 60_000, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RENAMED = {"goodbye_timeout": "linger"}  # flags named differently than their options
QUANTITY = r"(\d[\d,']*) ?(ms|s|min|[KMG]iB)?\b"
NAME = r"`(?:--|\w+::)?([a-z][\w-]*)`"


def amount(number: str, unit: str) -> int:
    return int(re.sub("[,']", "", number)) * UNITS[unit or ""]


def defaults(header: str) -> dict[str, int]:
    """Every member that a header initialises with a number, a product of numbers, or a duration."""
    found = {}
    for name, value in re.findall(r"^  [\w:]+ (\w+)\{([^{}]*)\};", header, re.MULTILINE):
        factors = [re.fullmatch(QUANTITY, part) for part in value.split(" * ")]
        if not value or all(factors):
            found[name] = math.prod(amount(*f.groups()) for f in factors if f) if value else 0
    return found


def stated(text: str) -> list[tuple[str, int]]:
    text = re.sub(r"\s+", " ", text)
    found = re.findall(rf"{NAME} \((?:default )?{QUANTITY}", text)
    found += [(name, *rest) for *rest, name in re.findall(rf"{QUANTITY}(?: \w+)? \({NAME}", text)]
    return [(name.replace("-", "_"), amount(number, unit)) for name, number, unit in found]


def main() -> int:
    if stated("`--a-b` (default\n2 s; 0: none), `c` (1,024), 4 KiB (`x::d`") != [
            ("a_b", 2000), ("c", 1024), ("d", 4096)] or defaults(
            "  duration a{15min};\n  std::size_t b{4 * 1'024};\n  int c{};\n  d e{f()};\n") != {
            "a": 900_000, "b": 4096, "c": 0}:
        print("this test reads defaults wrongly")
        return 1
    ours = {}
    for header in HEADERS:
        ours |= defaults((ROOT / "src/coxswain" / header).read_text())
    rules = stated((ROOT / "src/coxswain/SEMANTICS.md").read_text())
    wrong = [f"SEMANTICS.md: the default of {name} is not {value} but {ours.get(name)}"
             for name, value in rules if ours.get(RENAMED.get(name, name)) != value]
    print("\n".join(wrong) or f"{len(rules)} defaults")
    return 1 if wrong or len(rules) < 30 else 0


sys.exit(main())
