#!/usr/bin/env python3
"""The README shows its examples as they are compiled and run: each block after `<!-- FILE -->` is FILE.

With --update it copies the files into the README instead.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- (\S+) -->\n```(cpp|sh|py)\n(.*?)```\n", re.DOTALL)


def shown(source: pathlib.Path) -> str:
    """The file without its opening comment."""
    text = re.sub(r'\A""".*?"""\n', "", source.read_text(), flags=re.DOTALL)
    lines = text.splitlines(keepends=True)
    while lines and (lines[0].startswith(("//", "#!", "# ")) or not lines[0].strip()):
        lines.pop(0)
    return "".join(lines)


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text()
    wanted = BLOCK.sub(
        lambda m: f"<!-- {m[1]} -->\n```{m[2]}\n{shown(ROOT / m[1])}```\n", text
    )
    if "--update" in sys.argv:
        readme.write_text(wanted)
        return 0
    names = [m[1] for m in BLOCK.finditer(text)]
    if len(names) < 2:
        print("the README shows too few examples:", names)
        return 1
    if wanted != text:
        print("the README's examples differ from their files; run this with --update")
        return 1
    print("the README shows", ", ".join(names), "as they are")
    return 0


sys.exit(main())
