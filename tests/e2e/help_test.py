"""--help, and the completion made of it."""

import pathlib
import re
import subprocess
import unittest

from programs import BIN, EndToEnd, LIMIT, USAGE, clean_environment, wait_for_file

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Help(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}
        self.overview = self.coxswain("--help").out

    def test_subcommands_are_grouped(self):
        groups = re.findall(r"^([A-Z].*):$", self.overview, re.M)

        for name in ("Job", "Observe", "Keys", "Queues", "Operate"):
            self.assertIn(name, groups)
        self.assertLess(self.overview.index("  run "), self.overview.index("  put "))

    def test_an_option_is_shown_with_its_unit_values_and_default(self):
        text = self.coxswain("serve", "--help-all").out

        for words in ("--heartbeat-timeout TIME=100s", "-n,--num-tasks N", "--key-bytes-max SIZE=4KiB",
                      "--durability LEVEL:{process,disk}=process"):
            self.assertIn(words, text)

    def test_the_defaults_in_the_documents_are_those_of_the_program(self):
        documents = ("src/coxswain/SEMANTICS.md", "src/python/README.md", "tools/README.md")
        text = "".join((ROOT / one).read_text() for one in documents)
        stated = re.findall(r"`--([a-z-]+)`\s+\((?:default:?\s+)?(\d[\d,]*(?:\s+\w+)?|no limit)[;,)]", text)
        shown = dict(re.findall(r"--([a-z-]+) [A-Z]+=(\S+)", self.coxswain("serve", "--help-all").out))

        self.assertGreater(len(stated), 30)
        for name, default in stated:
            with self.subTest(name):
                default = re.sub(r"[\s,]", "", default.replace("no limit", "forever"))
                self.assertEqual(shown.get(name), default)

    def test_help_is_what_people_use_and_help_all_is_everything(self):
        for name in ("run", "serve", "task"):
            with self.subTest(name):
                short, whole = (self.coxswain(name, option).out for option in ("-h", "--help-all"))

                options = re.findall(r"^  (?:-\w,)?--([a-z-]+)", short, re.M)
                self.assertIn(len(options), range(13, 17))
                self.assertLess(len(short.splitlines()), 45)
                self.assertIn("EXAMPLE", short)
                self.assertIn(f"coxswain {name} --help-all lists all", short)
                self.assertLess(set(options), set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", whole, re.M)))
        self.assertEqual(self.coxswain("status", "-h").out, self.coxswain("status", "--help-all").out)

    def test_help_accepts_the_name_of_a_subcommand(self):
        for name in ("run", "get", "cas"):
            self.assertEqual(self.coxswain("help", name).out, self.coxswain(name, "--help").out)
        self.assertEqual(self.coxswain("help").out, self.overview)
        bare = self.coxswain()
        self.assertEqual((bare.code, bare.out, bare.err), (USAGE, "", self.overview))
        self.assert_ended(self.coxswain("help", "barier"), USAGE,
                          "'barier' is not a subcommand; did you mean barrier?")


class Completion(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}

    def bash(self, *words):
        """Bash's completions of the last of these words."""
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coxswain "$0"; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, BIN / "coxswain", "coxswain", *words],
                              capture_output=True, text=True, timeout=LIMIT, cwd=self.directory,
                              env=clean_environment(self.directories()))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_subcommands_are_completed(self):
        self.assertEqual(self.bash("stat"), ["status"])
        self.assertEqual(self.bash("al"), ["all-gather", "all-equal", "alive"])
        self.assertIn("serve", self.bash(""))

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
        self.assertEqual(self.bash("completion", "b"), ["bash"])
        self.assertEqual(self.bash("journal", "r"), ["repair"])
        self.assertEqual(self.bash("serve", "--goodbye-timeout", ""), [])

    def test_names_of_jobs_are_completed(self):
        port = self.directory / "port"
        self.start("coxswain", "serve", "-n", 1, "--job", "night", "--listen", "127.0.0.1:0", "--port-file", port)
        wait_for_file(port)

        self.assertEqual(self.bash("status", "--job", "n"), ["night"])

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

    def test_other_shells_have_none(self):
        self.assertEqual(self.coxswain("completion", "tcsh").code, USAGE)


if __name__ == "__main__":
    unittest.main()
