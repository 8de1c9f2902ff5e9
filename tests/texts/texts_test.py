"""The catalogue of all user-visible texts as they appear: core.txt and client.txt have one example of
each text provoked by the tests of these rooms; help.txt has every --help, each paragraph once;
program.txt is a transcript of commands. --update rewrites all of them, for review as a diff. Not
here: a server's log of its connections, since that depends on the machine.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from programs import BIN, EndToEnd, LIMIT, clean_environment  # noqa: E402

UPDATE = "--update" in sys.argv


def kind_of(text):
    """The common part of texts that differ only in names, numbers, lists or the quoted cause."""
    text = re.sub(r"((?:^the job|^[Bb]arrier|^exchange).* failed: [A-Z_]+:).*?(; \d+ of .*)?$", r"\1\2", text)
    text = re.sub(r"^(the coordinator stops|stopping|task .* failed: [A-Z_]+): (\S+ ?){1,3}$", r"\1", text)
    text = re.sub(r"(failed:) [A-Z_]+", r"\1", text)
    text = re.sub(r"\bkey [^ ']+ (already|has|is|not)", r"key \1", text)
    text = re.sub(r"\([^()]*\)|(['`]).*?\1", "", text)
    text = re.sub(r"\d+( (n|u|m)?s| min| h| days?)?\b", "", text)
    text = re.sub(r"\b([\w.]+:\d*|[bt]|hosts?|is|are|was|were|has|have|waits?|tasks?|goes|go)(?!\w)", "", text)
    return re.sub(r"\W+", " ", text)


def shortened(text):
    return text if len(text) < 400 else text[:400] + " ..."


def catalogue_of(lines):
    """The shortest example of each text, sorted by kind and first words."""
    shown = {}
    for line in lines:
        what, text = line.split("\t")
        key = what, kind_of(text)
        shown[key] = min(shown.get(key, text), text, key=lambda one: (len(one), one))
    kinds = {}
    for (what, _), text in shown.items():
        kinds.setdefault(what, []).append(text)
    return "\n".join(f"{what}\n" + "".join(f"  {shortened(text)}\n" for text in sorted(kinds[what]))
                     for what in sorted(kinds))


def without_chance(text, directory):
    """Replaces everything that varies between runs or machines."""
    for pattern, same in ((re.escape(str(directory)), "DIRECTORY"),
                          (re.escape(socket.gethostname()) + r":\d+", "HOST:PID"),
                          (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:PORT"),
                          (r"\(\d+ tr(y|ies)\)", "(N tries)"),
                          (r"\b[0-9a-f]{16}\b", "INCARNATION"),
                          (r"\d+ B of [\d.]+ [GM]iB", "N B of N GiB"),
                          (r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+) +[\d.]+", "TIME"),
                          (r"coxswain-\d+T\d+-\d+", "coxswain-TIME-PID"),
                          (r"\d\d:\d\d:\d\d\.\d|\d+(\.\d+)? [mu]s\b|\d+\.\d+ s\b", "TIME")):
        text = re.sub(pattern, same, text)
    return text


class Texts(EndToEnd):

    def compare(self, file, text):
        if UPDATE:
            (HERE / file).write_text(text)
        self.maxDiff = None
        self.assertEqual((HERE / file).read_text(), text, "texts_test.py --update writes it anew")

    def noted_by(self, program, *arguments):
        texts = self.directory / "texts"
        subprocess.run([BIN / program, "--report_level=no", *arguments], check=True, timeout=5 * LIMIT,
                       stdout=subprocess.DEVNULL, env=clean_environment({"COXSWAIN_TEXTS": texts}))
        return catalogue_of(texts.read_text().splitlines())

    def test_core(self):
        self.compare("core.txt", self.noted_by("core_test"))

    def test_client(self):
        self.compare("client.txt", self.noted_by("client_test", "--run_test=agent*"))

    def test_help(self):
        self.at = {}
        overview = self.coxswain("--help").out
        shown, text = set(), ""
        for name in ["", *re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", overview, re.M)]:
            text += f"> coxswain {name + ' ' if name else ''}--help\n"
            said = re.sub(r"(--memory-max(?s:.*?)default:\s+)[\d.]+[MG]iB", r"\1SIZE", self.coxswain(
                *filter(None, [name, "--help"])).out)
            for paragraph in said.split("\n\n"):
                if paragraph not in shown:
                    text += paragraph.rstrip("\n") + "\n\n"
                    shown.add(paragraph)
        self.compare("help.txt", text)

    def test_program(self):
        """Each line of program.txt that begins with "> " is a shell command, run beside a coordinator
        of two tasks; its output follows, and its exit code unless that is 0."""
        self.serve(2, "--key-bytes-max", "64", "--value-bytes-max", "256")
        text = ""
        for line in (HERE / "program.txt").read_text().splitlines():
            if line.startswith("  "):
                continue
            text += line + "\n"
            if not line.startswith("> "):
                continue
            done = subprocess.run(
                ["sh", "-c", line[2:]], cwd=self.directory, stdin=subprocess.DEVNULL, timeout=LIMIT,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env=clean_environment(self.directories() | self.at | {
                    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}))
            said = without_chance(done.stdout, self.directory)
            text += "".join(f"  {one}\n" if one else "  .\n" for one in said.splitlines())
            if done.returncode:
                text += f"  exit code {done.returncode}\n"
        self.compare("program.txt", text)


if __name__ == "__main__":
    unittest.main(argv=[one for one in sys.argv if one != "--update"])
