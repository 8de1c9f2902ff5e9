#!/usr/bin/env python3
"""MIGRATION.md and SEMANTICS.md name only existing calls, types and options of our headers, and
commands and flags of the program. Not here: whether their statements are true.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [f"src/coxswain/{room}" for room in
           ("base", "client", "core", "host", "launch", "net", "server", "xla")]


def words_of(directories, pattern) -> set[str]:
    files = [file for directory in directories for file in (ROOT / directory).rglob(pattern)]
    return {word for file in files for word in re.findall(r"\w+", file.read_text())}


def unknown(text: str) -> list[str]:
    """Names in backticks that are in none of our headers, nor in the program's sources."""
    ours = words_of(HEADERS, "*.hpp")
    commands = set(re.findall(r"add_(\w+)", (ROOT / "tools/coxswain/commands/commands.hpp").read_text()))
    program = "".join(file.read_text() for file in (ROOT / "tools/coxswain").rglob("*.cpp"))
    for rows in (*(ROOT / "src/coxswain").rglob("option_rows.hpp"),
                 ROOT / "tools/coxswain/options/engine_options.hpp"):
        for name in re.findall(r'"(\w+)", &|[.]flag = "([\w-]+)"', rows.read_text()):
            flag = "".join(name).replace("_", "-")
            program += f'"--{flag}" "--no-{flag}"'
    wrong = []
    for name in re.findall(r"`([^`]+)`", text):
        options = re.findall(r"--[\w-]+", name)
        wrong += [option for option in options if f'"{option}"' not in program
                  and f',{option}"' not in program]
        if name.startswith("/"):  # of the status page
            pass
        elif "/" in name:
            if not any((base / name).exists() for base in (ROOT, ROOT / "src/coxswain")):
                wrong.append(name)
        elif name.split()[0] in ("coxswain", "serve") or name.split()[0] in commands:
            if not {word for word in name.split() if word != "coxswain"} & commands:
                wrong.append(name)
        elif not options:
            wrong += [word for word in re.findall(r"\b[a-z_]{3,}\b", name)
                      if word not in ours and word != "coxswain"]
    return wrong


def main() -> int:
    if not unknown("`no_such_call` `coxswain sing` `--no-such-option`") == [
            "no_such_call", "coxswain sing", "--no-such-option"]:
        print("this test would not find what is not there")
        return 1
    text = (ROOT / "src/coxswain/MIGRATION.md").read_text()
    rows = [row.split("|", 2)[2] for row in text.splitlines() if row.startswith("| ")]
    wrong = [f"MIGRATION.md: there is no {name}" for name in unknown("\n".join(rows))]
    rules = (ROOT / "src/coxswain/SEMANTICS.md").read_text()
    wrong += [f"SEMANTICS.md: there is no {name}" for name in unknown(rules)]
    print("\n".join(wrong) or f"{len(rows)} rows")
    return 1 if wrong or len(rows) < 40 else 0


sys.exit(main())
