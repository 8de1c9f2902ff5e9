"""The sources of option values: flags, variables, files, launchers and defaults."""

import itertools
import unittest

from programs import EndToEnd, USAGE


class Config(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}
        self.file = self.directory / "coxswain.toml"

    def write(self, text):
        self.file.write_text(text)
        return self.file

    def shown(self, command, *arguments, env=None):
        """The output of --print-config: option to value and source."""
        done = self.succeed(command, "--print-config", *arguments, env=env)
        lines = done.out.splitlines()
        begins = [lines[0].index(title) for title in ("OPTION", "VALUE", "FROM")]
        return {line[:begins[1]].strip(): (line[begins[1]:begins[2]].strip(), line[begins[2]:].strip())
                for line in lines[1:]}

    def assert_refused(self, words, text, command="serve"):
        done = self.coxswain(command, "--config", self.write(text), "--print-config")
        self.assertEqual(done.code, USAGE, done.out)
        for word in (str(self.file), *words):
            self.assertIn(word, done.err)


class Sources(Config):

    def test_each_source_overrides_the_next(self):
        config = ("--config", self.file)
        sources = [
            (("--num-tasks", "1"), {}, "", ("1", "flag")),
            ((), {"COXSWAIN_NUM_TASKS": "2"}, "", ("2", "variable COXSWAIN_NUM_TASKS")),
            ((), {}, "num-tasks = 3", ("3", f"file {self.file}")),
            ((), {"JAX_NUM_PROCESSES": "4"}, "", ("4", "launcher JAX_NUM_PROCESSES"))]
        for first, second in itertools.combinations(sources, 2):
            with self.subTest(first=first[3], second=second[3]):
                self.write(first[2] + second[2])
                found = self.shown("serve", *config, *first[0], *second[0], env=first[1] | second[1])
                self.assertEqual(found["--num-tasks"], first[3])
        for one in sources:
            with self.subTest(alone=one[3]):
                self.write(one[2])
                found = self.shown("serve", *config, *one[0], env=one[1])
                self.assertEqual(found["--num-tasks"], one[3])

    def test_a_misspelt_variable_is_warned_about_with_the_nearest_name(self):
        cases = [("COXSWAIN_ADRESS", "COXSWAIN_ADDRESS"), ("COXSWAIN_TASKID", "COXSWAIN_TASK_ID"),
                 ("COXSWAIN_NUM_TASK", "COXSWAIN_NUM_TASKS"), ("COXSWAIN_TOKENFILE", "COXSWAIN_TOKEN_FILE"),
                 ("COXSWAIN_TOKN", "COXSWAIN_TOKEN"), ("COXSWAIN_HEARTBEAT_TIMOUT", "COXSWAIN_HEARTBEAT_TIMEOUT")]
        for given, meant in cases:
            with self.subTest(given):
                done = self.coxswain("help", env={given: "1"})
                self.assertEqual(
                    done.err,
                    f"coxswain: warning: {given} is set and has no effect; did you mean {meant}?\n")

    def test_variables_of_others_are_not_warned_about(self):
        others = ["BIN", "PYTHON", "SEED", "SLOWNESS", "PORT", "PORT_8476_TCP", "PORT_8476_TCP_ADDR",
                  "SERVICE_HOST", "SERVICE_PORT", "TEST_REPORT", "HOME", "VERSION"]
        set_by_coxswain = ["EPOCH", "ITEM", "ITEM_NUMBER", "ITEM_REDELIVERIES", "LOCK_TOKEN", "MEMBER",
                           "PLACEMENT", "RESTARTS", "TASK_INCARNATION", "TASK_SECRET", "TASK_SOCKET",
                           "ATTEMPT", "JOB", "LISTEN", "TLS_CA"]

        done = self.coxswain("help", env={f"COXSWAIN_{one}": "1" for one in others + set_by_coxswain})

        self.assertEqual(done.err, "")

    def test_defaults_are_shown_as_such(self):
        found = self.shown("serve")

        self.assertEqual(found["--num-tasks"], ("-", "default"))
        self.assertEqual(found["--heartbeat-timeout"], ("100s", "default"))
        self.assertEqual(found["--recoverable"], ("false", "default"))
        self.assertEqual(self.shown("get")["--address"][1], "default")

    def test_a_section_overrides_the_top_level_for_its_subcommand(self):
        self.write('job = "all"\nlog-level = "error"\n\n[serve]\nlog-level = "warning"\n'
                   'listen = ["[::1]:0", "unix:/s"]\nrecoverable = true\n\n'
                   '[run]\nkill-grace = "1s"  # a comment\n')

        serve = self.shown("serve", env={"COXSWAIN_CONFIG": str(self.file)})
        run = self.shown("run", "--config", self.file)

        source = f"file {self.file}"
        self.assertEqual(serve["--job"], ("all", source))
        self.assertEqual(serve["--log-level"], ("warning", source))
        self.assertEqual(serve["--listen"], ("[::1]:0,unix:/s", source))
        self.assertEqual(serve["--recoverable"], ("true", source))
        self.assertEqual(run["--log-level"], ("error", source))
        self.assertEqual(run["--kill-grace"], ("1s", source))
        self.assertEqual(run["--recoverable"], ("false", "default"))

    def test_a_list_may_span_lines_and_a_string_may_contain_a_hash(self):
        self.write('job = "a#b"\n[serve]\nlisten = [\n  ":0",  # any port\n  "unix:/s",\n]\n')

        serve = self.shown("serve", "--config", self.file)

        self.assertEqual(serve["--job"][0], "a#b")
        self.assertEqual(serve["--listen"][0], ":0,unix:/s")

    def test_serve_and_status_can_share_a_file(self):
        self.write(f'address = "unix:{self.directory}/s"\n[serve]\nnum-tasks = 3\n'
                   f'listen = "unix:{self.directory}/s"\nno-join-barrier = true\n')
        coordinator = self.start("coxswain", "serve", "--config", self.file)
        coordinator.line('"num_tasks":3')

        done = self.coxswain("incr", "visits", "--config", self.file)

        self.assertEqual((done.code, done.out), (0, "1\n"), done.err)

    def test_a_file_supplies_the_options_run_requires(self):
        self.write("[run]\nnum-tasks = 2\n")

        run = self.run_to_end("coxswain", "run", "--config", self.file, "--", "true")

        self.assertEqual(run.code, 0, run.output())

    def test_a_printed_configuration_file_has_the_same_effect(self):
        given = ("-n", "5", "--listen", "127.0.0.1:0", "--listen", "unix:/s", "--insecure",
                 "--goodbye-timeout", "1s", "--job", "it's \\ \"1\" #", "--memory-max", "1GiB")
        done = self.coxswain("serve", "--print-config=toml", *given)
        self.write(done.out)

        again = self.shown("serve", "--config", self.file)

        before = self.shown("serve", *given)
        self.assertEqual({k: v[0] for k, v in before.items()}, {k: v[0] for k, v in again.items()})
        self.assertIn("num-tasks = 5  # flag\n", done.out)
        self.assertIn('# hello-timeout = "10s"  # default\n', done.out)

    def test_a_token_is_not_shown(self):
        found = self.shown("serve", env={"COXSWAIN_TOKEN": "sesame"})

        self.assertEqual(found["--token-file"], ("(hidden)", "variable COXSWAIN_TOKEN"))
        self.assertNotIn("sesame", str(found))

    def test_a_token_variable_overrides_the_token_file_of_the_configuration(self):
        self.write('token-file = "/nowhere"\n')

        with_variable = self.shown("serve", "--config", self.file, env={"COXSWAIN_TOKEN": "sesame"})
        without = self.shown("serve", "--config", self.file)

        self.assertEqual(with_variable["--token-file"][1], "variable COXSWAIN_TOKEN")
        self.assertEqual(without["--token-file"], ("/nowhere", f"file {self.file}"))

    def test_showing_the_configuration_does_nothing_else(self):
        done = self.succeed("serve", "-n", "1", "--record", self.directory / "r", "--print-config")
        self.assertFalse((self.directory / "r").exists())


class Refusals(Config):

    def test_an_unknown_setting_is_named_with_similar_ones(self):
        self.assert_refused(["'num_tasks'", "did you mean 'num-tasks'"], "num_tasks = 3")
        self.assert_refused(["coxswain serve", "'kill-grace'"], '[serve]\nkill-grace = "1s"')
        self.assert_refused(["'server'", "did you mean 'serve'"], "[server]\n")
        self.assert_refused(["'overwrite'"], "[put]\noverwrite = true")
        self.assert_refused(["line 2: ", "expected '='"], "\nhello world")
        self.assert_refused(["line 1: ", "expected ']'"], "[serve\nnum-tasks = 1")
        self.assert_refused(["line 2: ", "expected value"], "[serve]\nnum-tasks =\n")
        self.assert_refused(["no subcommand has", "'hello'"], "hello = 1")
        self.assert_refused(["line 3: ", "redefine", "'job'"],
                            'job = "a"\ngoodbye-timeout = "1s"\njob = "b"\n')

    def test_an_invalid_value_names_file_option_value_and_allowed_values(self):
        for text, words in (
                ("num-tasks = 0", ("--num-tasks", "'0'", "1 to 1000000")),
                ('goodbye-timeout = "soon"', ("--goodbye-timeout", "'soon'", "200ms")),
                ("goodbye-timeout = 30", ("--goodbye-timeout", "'30'", "no unit", "30s for seconds")),
                ('log-level = "loud"', ("--log-level", "'loud'", "warning")),
                ('listen = "nowhere"', ("--listen", "'nowhere'")),
                ('recoverable = "maybe"', ("--recoverable", "'maybe'", "true or false")),
                ("job = []", ("--job", "one")),
                ('job = ["a", "b"]', ("--job", "2 values", "one")),
                ('listen = [\n"a"]', ("--listen", "'a'"))):
            with self.subTest(text=text):
                self.assert_refused(words, text)

    def test_a_wrong_variable_is_named(self):
        for variable, value, word in (("COXSWAIN_LOG_LEVEL", "loud", "warning"),
                                      ("COXSWAIN_INSECURE", "maybe", "true or false"),
                                      ("COXSWAIN_LISTEN", "nowhere", "host:port")):
            done = self.coxswain("serve", "-n", 1, env={variable: value})
            self.assertEqual(done.code, USAGE)
            for part in (variable, f"'{value}'", word):
                self.assertIn(part, done.err)

    def test_an_invalid_flag_is_not_blamed_on_an_equal_variable(self):
        done = self.coxswain("serve", "-n", 1, "--goodbye-timeout", "soon", env={"COXSWAIN_GOODBYE_TIMEOUT": "soon"})

        self.assertEqual(done.code, USAGE)
        self.assertNotIn("COXSWAIN_GOODBYE_TIMEOUT", done.err)

    def test_a_file_that_cannot_be_read_is_named(self):
        self.assert_ended(self.coxswain("serve", "--config", self.directory / "missing"), USAGE,
                          str(self.directory / "missing"))


if __name__ == "__main__":
    unittest.main()
