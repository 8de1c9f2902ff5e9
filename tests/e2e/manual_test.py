"""Generated from the text of --help: man pages and completions."""

import re
import shutil
import subprocess
import unittest

from programs import BIN, EndToEnd, LIMIT, USAGE, clean_environment


def listed_in(overview):
    """The subcommands listed by --help."""
    return re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", overview, re.M)


class Help(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}
        self.overview = self.coxswain("--help").out

    def test_every_line_fits_a_terminal_of_80_columns(self):
        texts = {name: self.coxswain(name, "--help").out for name in listed_in(self.overview)}
        for name, text in {"coxswain": self.overview, **texts}.items():
            with self.subTest(name=name):
                self.assertEqual([line for line in text.splitlines() if len(line) > 79], [])
                self.assertNotIn("\n\n\n", text)

    def test_common_options_are_one_group_at_the_end(self):
        for name in ("status", "get", "serve", "run", "task", "cas", "barrier"):
            with self.subTest(name=name):
                groups = re.findall(r"^([A-Z][A-Za-z -]*[a-z0]):$",
                                    self.coxswain(name, "--help").out, re.M)
                self.assertEqual(groups[-1], "Common options", groups)
                self.assertEqual(groups.count("Common options"), 1)

    def test_subcommands_are_grouped(self):
        groups = re.findall(r"^([A-Z].*):$", self.overview, re.M)

        for name in ("Job", "Observe", "Keys", "Queues", "Operate"):
            self.assertIn(name, groups)
        self.assertLess(self.overview.index("  run "), self.overview.index("  put "))

    def test_help_accepts_the_name_of_a_subcommand(self):
        for name in ("run", "get", "cas"):
            self.assertEqual(self.coxswain("help", name).out, self.coxswain(name, "--help").out)
        self.assertEqual(self.coxswain("help").out, self.overview)
        bare = self.coxswain()
        self.assertEqual((bare.code, bare.out, bare.err), (USAGE, "", self.overview))
        self.assert_ended(self.coxswain("help", "barier"), USAGE,
                          "'barier' is not a subcommand; did you mean barrier?")


class Manual(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}
        self.assertEqual(self.coxswain("man", self.directory / "man").code, 0)
        self.pages = sorted((self.directory / "man").iterdir())

    def shown(self, name):
        done = subprocess.run(["man", "--warnings", "-l", self.directory / "man" / name],
                              capture_output=True, text=True, timeout=LIMIT,
                              env=clean_environment({"MANWIDTH": "100", "LC_ALL": "C"}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return re.sub(".\b", "", done.stdout)

    def test_each_subcommand_has_a_page(self):
        listed = listed_in(self.coxswain("--help").out)

        self.assertGreater(len(listed), 30)
        self.assertEqual([page.name for page in self.pages],
                         sorted(["coxswain.1", *(f"coxswain-{name}.1" for name in listed)]))
        self.assertNotIn("man", listed)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_a_man_page_has_the_content_of_help(self):
        words = self.shown("coxswain-serve.1").split()

        said = self.coxswain("serve", "--help").out.split()
        for word in said:
            if word.startswith("--"):
                self.assertIn(word.split(",")[0].rstrip("];.:)"), " ".join(words))
        for part in ("NAME coxswain-serve - Runs the coordinator of one job", "--num-tasks N",
                     "EXIT CODES", "(default: 100s)", "EXAMPLES coxswain serve -n 8"):
            self.assertIn(part, " ".join(words))

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_the_main_page_refers_to_the_others(self):
        text = " ".join(self.shown("coxswain.1").split())

        self.assertIn("coxswain-run(1), coxswain-serve(1)", text)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_the_formatter_accepts_the_pages(self):
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", *self.pages],
                              capture_output=True, text=True, timeout=LIMIT)

        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_the_linter_accepts_the_pages(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *self.pages],
                              capture_output=True, text=True, timeout=LIMIT)

        violations = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(violations, [])


class Completion(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}

    def bash(self, *words):
        """The completions of bash after these words, of which the last is incomplete."""
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coxswain; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, BIN / "coxswain", "coxswain", *words],
                              capture_output=True, text=True, timeout=LIMIT, cwd=self.directory,
                              env=clean_environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_subcommands_are_completed(self):
        self.assertEqual(self.bash("sta"), ["status"])
        self.assertEqual(self.bash("al"), ["all-gather", "all-equal", "alive"])
        self.assertIn("serve", self.bash(""))
        self.assertNotIn("man", self.bash(""))

    def test_options_of_the_subcommand_are_completed(self):
        self.assertEqual(self.bash("serve", "--heart"), ["--heartbeat-timeout"])
        self.assertEqual(self.bash("serve", "--insecure", "--num"), ["--num-tasks"])
        self.assertEqual(self.bash("get", "key", "--wa"), ["--wait"])
        self.assertEqual(self.bash("get", "--heart"), [])
        self.assertEqual(self.bash("cas", "k", "v", "--if-a"), ["--if-absent"])

    def test_allowed_values_are_completed(self):
        self.assertEqual(self.bash("serve", "--log-level", ""),
                         ["info", "warning", "error", "off"])
        self.assertEqual(self.bash("serve", "--log-level", "=", "w"), ["warning"])
        self.assertEqual(self.bash("reduce", "loss", "1", "--how", "m"), ["min", "max"])
        self.assertEqual(self.bash("completion", "f"), ["fish"])
        self.assertEqual(self.bash("journal", "r"), ["repair"])
        self.assertEqual(self.bash("serve", "--goodbye-timeout", ""), [])

    def test_files_are_completed(self):
        (self.directory / "a token").write_text("")
        self.assertEqual(self.bash("serve", "--token-file", "a"), ["a", "token"])
        self.assertEqual(self.bash("replay", "a"), ["a", "token"])
        self.assertEqual(self.bash("journal", "verify", "a"), ["a", "token"])
        self.assertEqual(self.bash("serve", "--journal", "a"), ["a", "token"])

    def test_the_wrapped_command_has_its_own_completion(self):
        (self.directory / "train.py").write_text("")
        self.assertIn("bash", self.bash("run", "-n", "4", "--", "bas"))
        self.assertEqual(self.bash("run", "--", "python", "tr"), ["train.py"])

    def test_other_shells_accept_their_completions(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            done = self.succeed("completion", shell)
            self.assertIn("log-level", done.out)
            if not shutil.which(shell):
                continue
            script = self.directory / shell
            script.write_text(done.out)
            seen = subprocess.run([*check, script], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual((seen.returncode, seen.stderr), (0, ""))
        self.assertEqual(self.coxswain("completion", "tcsh").code, USAGE)


if __name__ == "__main__":
    unittest.main()
