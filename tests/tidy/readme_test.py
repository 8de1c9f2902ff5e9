#!/usr/bin/env python3
"""The documents show the examples as compiled and run: each block after `<!-- FILE -->` is FILE, and
each after `<!-- FILE: NAME -->` is its function NAME.

With --update it copies the files into the documents instead.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- (\S+?)(?:: (\w+))? -->\n```(cpp|sh|py)\n(.*?)```\n", re.DOTALL)
DOCUMENTS = ("README.md", "src/coxswain/README.md", "src/python/README.md", "tools/README.md")


def shown(source: pathlib.Path, function: str) -> str:
    """The function of a C++ file, or the file without its opening comment."""
    text = source.read_text()
    if function:
        return re.search(rf"^\S[^\n]* {function}\(.*?^}}\n", text, re.DOTALL | re.MULTILINE)[0]
    text = re.sub(r'\A""".*?"""\n', "", text, flags=re.DOTALL)
    lines = text.splitlines(keepends=True)
    while lines and (lines[0].startswith(("//", "#!", "# ")) or not lines[0].strip()):
        lines.pop(0)
    return "".join(lines)


def block(m: re.Match) -> str:
    function = m[2] or ""
    name = f"{m[1]}: {function}" if function else m[1]
    return f"<!-- {name} -->\n```{m[3]}\n{shown(ROOT / m[1], function)}```\n"


def main() -> int:
    wrong = []
    for name in DOCUMENTS:
        document = ROOT / name
        text = document.read_text()
        wanted = BLOCK.sub(block, text)
        names = [m[1] for m in BLOCK.finditer(text)]
        if "--update" in sys.argv:
            document.write_text(wanted)
        elif not names:
            wrong.append(f"{name} shows no example")
        elif wanted != text:
            wrong.append(f"{name} differs from {', '.join(names)}; run this with --update")
        else:
            print(f"{name} shows", ", ".join(names), "as they are")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
