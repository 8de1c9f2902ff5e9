"""Finding jobs without an address, what remains of failed ones, and how long their pages stay.
"""

import json
import os
import signal
import socket
import stat
import time
import unittest

from programs import PATH, REFUSED, SLOWNESS, UNAVAILABLE, USAGE, EndToEnd, fetch, wait_for_file
from screen import Screen

WAITS = ("sh", "-c", "exec tail -f /dev/null")


class WithoutAddress(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}
        self.registry = self.directory / "coxswain"

    def run_job(self, *options, command=WAITS, env=None):
        """A job that others can find, with its address."""
        port = self.directory / f"port-{len(os.listdir(self.directory))}"
        job = self.start("coxswain", "run", "-n", 2, "--port-file", port, *options, "--", *command,
                         env=env)
        job.address = wait_for_file(port).split()[0]
        return job

    def listed(self):
        done = self.succeed("jobs", "--json")
        return json.loads(done.out)


class Finding(WithoutAddress):

    def test_a_job_is_found_with_its_token_and_without_its_name(self):
        job = self.run_job("--job", "train", env={"COXSWAIN_TOKEN": "sesame"})

        self.assertIn(f"coxswain run: job 'train' of 2 tasks at {job.address}", job.line("run:", "err"))
        for command in (("status", "--json"), ("why",), ("events",), ("top", "--once"), ("ls",)):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(json.loads(self.coxswain("status", "--json").out)["job"], "train")
        self.assertEqual(self.coxswain("put", "a", "1").code, 0)
        self.assertEqual(self.coxswain("get", "a").out, "1")
        self.assertEqual([(one["job"], one["num_tasks"], one["address"], one["pid"])
                          for one in self.listed()], [("train", 2, job.address, job.pid)])
        self.assertRegex(self.coxswain("jobs").out, rf"\ntrain +2 +\S+ +{job.pid} +{job.address} +-\n")

    def test_another_name_is_refused_with_those_that_run_here(self):
        self.run_job("--job", "train")

        self.assert_ended(self.coxswain("status", "--job", "zzz"), USAGE,
                          "you have no job 'zzz' here; there is train")

    def test_a_run_has_its_own_token_readable_only_by_its_user(self):
        job = self.run_job("--http", "127.0.0.1:0")
        page = job.line("status page at", "err").split()[-1]
        link = job.line("to cancel, preempt or stop it there, open", "err").split()[-1]
        at = {"COXSWAIN_ADDRESS": job.address}

        self.assertEqual(self.coxswain("put", "a", "1").code, 0)
        self.assertEqual(self.coxswain("get", "a", env=at).out, "1")
        self.assert_ended(self.coxswain("get", "a", env=at | self.elsewhere()),
                          REFUSED,
                          "this coordinator requires a token, and the client sent none: give --token-file FILE")

        token = link.removeprefix(f"{page}#token=")
        self.assertRegex(token, "^[0-9a-f]{32}$")
        self.assertEqual(fetch(page + "api/v1/state")[0], 200)
        post = {"url": page + "api/v1/stop", "data": b"{}", "Content-Type": "application/json"}
        self.assertEqual(fetch(**post)[0], 403)
        self.assertEqual(fetch(**post, Authorization=f"Bearer {token}")[0], 202)

    def test_a_run_with_other_protection_draws_no_token(self):
        job = self.run_job("--insecure")

        outsider = self.coxswain("put", "a", "1", env={"COXSWAIN_ADDRESS": job.address} | self.elsewhere())

        self.assertEqual(outsider.code, 0, outsider.err)

    def test_the_token_of_a_job_is_private(self):
        self.run_job(env={"COXSWAIN_TOKEN": "sesame"})

        entry, = self.registry.iterdir()
        self.assertEqual(stat.S_IMODE(entry.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.registry.stat().st_mode), 0o700)
        self.assertEqual(json.loads(entry.read_text())["token"], "sesame")
        for command in (("jobs",), ("jobs", "--json")):
            self.assertNotIn("sesame", self.coxswain(*command).out)

    def test_an_address_of_a_job_brings_its_token_wherever_it_comes_from(self):
        token = self.directory / "token"
        token.write_text("sesame\n")
        coordinator = self.serve(1, "--listen", ":0", "--token-file", token)
        self.at = {}
        port = coordinator.addresses[0].rpartition(":")[2]
        config = self.directory / "toml"

        for host in ("localhost", "127.0.0.1", socket.gethostname()):
            with self.subTest(host):
                address = f"{host}:{port}"
                config.write_text(f'address = "{address}"\n')
                for arguments, env in ((("--address", address), {}), ((), {"COXSWAIN_ADDRESS": address}),
                                       (("--config", config), {})):
                    self.assertEqual(self.coxswain("why", *arguments, env=env).code, 0)

    def test_an_explicit_wrong_token_is_not_replaced(self):
        self.run_job(env={"COXSWAIN_TOKEN": "sesame"})

        self.assertEqual(self.coxswain("status", env={"COXSWAIN_TOKEN": "other"}).code, REFUSED)

    def test_a_job_that_has_ended_is_not_listed(self):
        job = self.run_job()
        self.assertEqual(len(self.listed()), 1)

        job.signal(signal.SIGTERM)
        job.wait()

        self.assertEqual(list(self.registry.iterdir()), [])
        done = self.coxswain("jobs")
        self.assertEqual(done.code, 0)
        self.assertIn("no job of yours", done.err)
        self.assertRegex(done.out, rf"\ndefault +2 +\S+ +{job.pid} +.*interrupted by SIGTERM\n$")

    def test_entries_of_killed_coordinators_are_ignored_and_removed(self):
        killed = self.run_job()
        killed.signal(signal.SIGKILL)
        killed.wait()
        self.assertEqual(len(list(self.registry.iterdir())), 1)

        self.assertEqual(self.listed(), [])

        self.assertEqual(list(self.registry.iterdir()), [])
        ended, = json.loads(self.succeed("jobs", "--ended", "--json").out)
        self.assertEqual((ended["pid"], ended["how"]), (killed.pid, "its coordinator was killed"))

    def test_reads_use_the_newest_job_and_changes_need_an_explicit_one(self):
        first = self.run_job("--job", "first")
        second = self.run_job("--job", "second")

        done = self.coxswain("status", "--json")
        self.assertEqual(json.loads(done.out)["job"], "second")
        self.assertIn(f"job 'second' at {second.address}, the newest of 2", done.err)
        named = self.coxswain("status", "--json", "--job", "first")
        self.assertEqual((json.loads(named.out)["job"], named.err), ("first", ""))
        self.assertEqual([one["job"] for one in self.listed()], ["second", "first"])
        refused = self.coxswain("put", "a", "1")
        self.assertEqual(refused.code, USAGE)
        for words in ("2 of your jobs", first.address, second.address, "--address"):
            self.assertIn(words, refused.err)

    def test_a_served_job_is_found_after_its_token_was_replaced(self):
        tokens = self.directory / "tokens"
        tokens.write_text("reader look\nworker one\n")
        coordinator = self.serve(1, "--job", "served", "--token-file", tokens)
        self.at = {}
        self.assertEqual(self.coxswain("status").code, 0)

        tokens.write_text("worker two\n")
        coordinator.signal(signal.SIGHUP)
        coordinator.line("SIGHUP: read", "err")

        self.assertEqual(self.coxswain("put", "a", "1").code, 0)
        self.assertEqual([one["job"] for one in self.listed()], ["served"])

    def test_a_directory_accessible_to_others_is_not_used(self):
        self.registry.mkdir()
        self.registry.chmod(0o755)

        self.run_job("--job", "safe")

        self.assertEqual(list(self.registry.iterdir()), [])
        self.assertEqual([one["job"] for one in self.listed()], ["safe"])
        self.assertEqual(len(list((self.directory / f"coxswain-{os.geteuid()}").iterdir())), 1)

    def test_without_a_directory_the_job_still_runs(self):
        for place in (self.registry, self.directory / f"coxswain-{os.geteuid()}"):
            place.symlink_to("/tmp")

        job = self.run_to_end("coxswain", "run", "-n", 1, "--", "true")

        self.assertEqual(job.code, 0, job.output())
        self.assertIn("will not find this job by themselves", job.err)

    def test_invalid_entries_are_ignored(self):
        self.run_job()
        entry, = self.registry.iterdir()
        whole = entry.read_text()
        (self.registry / "a-directory").mkdir()
        os.mkfifo(self.registry / "a-pipe")
        entry.with_name("open-to-all").write_text(whole)
        entry.with_name("open-to-all").chmod(0o644)
        self.assertEqual(len(self.listed()), 1)

        entry.write_text("{}")

        self.assertEqual(self.listed(), [])

    def test_a_named_job_is_shown_without_naming_it(self):
        coordinator = self.serve(1, "--job", "train")

        self.assertEqual(self.coxswain("status").code, 0)

        self.assert_ended(self.coxswain("status", "--job", "other"), REFUSED,
                          "this coordinator serves job 'train'")
        task = self.task(0, 1, "join", env=self.at)
        self.assertNotEqual(task.wait(), 0)
        self.assertIn("this coordinator serves job 'train'", task.output())
        self.assertIsNone(coordinator.process.poll())


class Afterwards(WithoutAddress):

    FAILS = ("sh", "-c", 'coxswain task -- sh -c "exit 3"')

    def failing_job(self, *options, env=None):
        return self.start("coxswain", "run", "-n", 2, *options, "--", *self.FAILS,
                          env=PATH | (env or {}))

    def test_the_newest_recordings_are_kept(self):
        state = self.directory / "state" / "coxswain"
        state.mkdir(parents=True)
        for number in range(25):
            old = state / f"coxswain-20200101T0000{number:02}-1.recording"
            old.write_text("")
            os.utime(old, (number, number))
        (state / "mine.recording").write_text("")

        job = self.failing_job()

        self.assertEqual(job.wait(), 3, job.output())
        kept = [one.name for one in self.recordings() if one.name.startswith("coxswain-")]
        self.assertEqual(len(kept), 20)
        self.assertIn("coxswain-20200101T000006-1.recording", kept)
        self.assertNotIn("coxswain-20200101T000005-1.recording", kept)
        self.assertTrue((state / "mine.recording").exists())
        new, = [one for one in self.recordings() if f"-{job.pid}." in one.name]
        self.assertEqual(stat.S_IMODE(new.stat().st_mode), 0o600)
        self.assertIn(f"coxswain replay {new}", job.err)
        ended, = json.loads(self.succeed("jobs", "--ended", "--json").out)
        self.assertEqual((ended["pid"], ended["recording"]), (job.pid, str(new)))
        self.assertIn("exited with status 3", ended["how"])
        self.assertIn(f"coxswain replay {new}", self.succeed("jobs").out)

    def test_the_last_20_jobs_are_known(self):
        for number in range(22):
            self.run_to_end("coxswain", "run", "-n", 1, "--job", f"job-{number}", "--", "true")

        ended = json.loads(self.succeed("jobs", "--ended", "--json").out)

        self.assertEqual([one["job"] for one in ended], [f"job-{number}" for number in range(21, 1, -1)])
        self.assertTrue(all("all processes have ended" in one["how"] for one in ended), ended)

    def test_without_a_state_directory_the_temporary_one_is_used(self):
        (self.directory / "file").write_text("")

        job = self.failing_job(env={"XDG_STATE_HOME": str(self.directory / "file")})

        job.wait()
        self.assertEqual(len(list(self.directory.glob("coxswain-*.recording"))), 1, job.output())

    def test_the_page_of_a_failed_job_stays_until_it_is_interrupted(self):
        job = self.failing_job("--http", "127.0.0.1:0", "--linger", "forever")

        page = job.line("can be inspected until Ctrl-C (--linger): ", "err").rpartition(" ")[2]

        self.assertRegex(job.err, r"Failed at [0-9:]+: task [01] exited with status 3")
        self.assertIn("exited with status 3", fetch(page + "api/v1/state")[1])
        self.assertEqual([one["page"] for one in self.listed()], [page])
        self.assertEqual(self.coxswain("status").code, 0)
        job.signal(signal.SIGINT)
        self.assertEqual(job.wait(), 3, job.output())
        self.assertEqual(job.err.count("coxswain run: Failed at "), 1)

    def test_a_stop_ends_what_stays_of_a_failed_job(self):
        job = self.failing_job("--linger", "forever")
        job.line("can be inspected until Ctrl-C (--linger): ", "err")

        self.succeed("stop")

        self.assertEqual(job.wait(), 3, job.output())

    def test_without_a_terminal_the_page_closes_with_the_job(self):
        job = self.failing_job("--http", "127.0.0.1:0")

        self.assertEqual(job.wait(), 3, job.output())
        self.assertNotIn("--linger", job.err)

    def test_on_a_terminal_the_page_stays(self):
        screen = Screen("run", "-n", 1, "--http", "127.0.0.1:0", "--", "sh", "-c", "exit 4",
                        env=self.directories())
        self.addCleanup(screen.end)
        screen.is_alternate, screen.row = True, 1

        screen.wait_for("task 0 exited with status 4", "until Ctrl-C (--linger)")
        screen.press("\x03")

        self.assertEqual(screen.wait(), 4)


class Addresses(WithoutAddress):

    def test_a_port_without_a_host_is_public_only_with_protection(self):
        token = self.directory / "token"
        token.write_text("sesame\n")

        for options, host, port in (((), "127.0.0.1", ":0"), ((), "127.0.0.1", "0"),
                                    (("--token-file", token), "[::]", ":0"), (("--insecure",), "[::]", "0")):
            with self.subTest(options=options, port=port):
                coordinator = self.serve(1, "--listen", port, "--http", port, *options)
                self.assertTrue(coordinator.addresses[0].startswith(f"{host}:"), coordinator.ready)
                self.assertTrue(coordinator.ready["http"].startswith(f"{host}:"), coordinator.ready)
                self.assertTrue(coordinator.ready["page"].startswith("http://127.0.0.1:"))
                if not options:
                    coordinator.line("warning: only this machine can connect", "err")
                self.at = {}
                self.assertEqual(self.coxswain("status").code, 0)
                coordinator.end()

    def test_where_nothing_runs_the_answer_comes_at_once(self):
        for command in (("status",), ("get", "a", "--wait", "forever"), ("put", "a", "1"), ("top", "--once"),
                        ("lock", "l", "--", "true")):
            with self.subTest(command=command):
                began = time.monotonic()
                done = self.coxswain(*command)
                took = time.monotonic() - began

                self.assert_ended(done, UNAVAILABLE, "nothing listens at 127.0.0.1:8476",
                                  "start one with coxswain run or coxswain serve")
                self.assertLess(took, 4 * SLOWNESS)  # --connect-timeout is 5 s


if __name__ == "__main__":
    unittest.main()
