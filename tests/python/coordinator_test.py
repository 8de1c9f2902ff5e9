#!/usr/bin/env python3
"""The coordinator in a Python process: its options, page and recording, and hosting by task 0."""

import inspect
import os
import pathlib
import re
import socket
import stat
import sys
import tempfile
import textwrap
import threading
import unittest.mock
import urllib.error
import urllib.request

import coxswain
from support import LIMIT, PythonTest, a_free_address, answer_all, impatient, main, together

# A value other than the default for each option.
EVERY_OPTION = {
    "listen": ["127.0.0.1:0"], "insecure": True, "token": "pull", "tokens": [("reader", "look")],
    "handshakes_per_second_max": 7, "connections_max": 50, "strangers_per_host_max": 20,
    "hello_timeout": 5.0, "job": "night", "attempt": 3, "hosted_by_task": 1, "recoverable": True,
    "join_barrier": False, "join_timeout_max": 20.0, "leave_barrier": False,
    "leave_timeout_max": 5.0, "leave_together": True,
    "return_timeout": 5.0, "heartbeat_timeout": 50.0, "reconnect_grace": 1.0, "relay_grace": 2.0,
    "coordinator_return": 20.0,
    "spares": 1, "assign": "order", "last_call": 5.0, "come_back": 5.0,
    "elastic": False, "min_tasks": 1, "grow": "now", "ranks": "member", "epoch_timeout": 5.0, "min_wait": 5.0,
    "epochs_max": 3, "progress_timeout": 60,
    "fail_without_progress": True, "preemption_lead": 60, "preemption_timeout": 10, "linger": 1, "spin": 0.001,
    "durability": "disk", "journal_bytes_max": 1 << 30, "restart_grace": 20, "restart_within": 60,
    "memory_bytes_max": 1 << 28, "value_bytes_max": 1 << 20, "key_bytes_max": 100,
    "gather_bytes_max": 1 << 20, "changes_max": 10, "change_bytes_max": 1 << 20,
    "open_requests_max": 100, "open_requests_max_per_task": 1, "queued_bytes_max": 1 << 20,
    "stalled_reader_timeout": 20, "http": 0, "http_connections_max": 4,
    "record_bytes_max": 1 << 20, "xla_listen": ["127.0.0.1:0"], "xla_allow": ["127.0.0.0/8"],
    "xla_insecure": False, "xla_strict": True, "xla_alive_timeout": 5.0, "xla_reconnect_grace": 0.1,
    "tls_reload_period": 60.0,
}
OF_FILES = {"journal", "tls_ca", "tls_cert", "tls_key", "tls_peer_uri_prefix", "tls_min", "record"}
PACKAGE = pathlib.Path(__file__).parents[2] / "src/python/coxswain"


def written():
    """The files with the part that is made of the options, as they should be."""
    kinds = {name: kind for name, kind, *_ in coxswain._native.CoordinatorOptions.rows()}
    kinds |= {"token": "str | None", "tokens": "Sequence[tuple[str, str]] | None",
              "record": "str | os.PathLike[str] | None"}
    del kinds["num_tasks"]
    each = [f"{name}: {kind} = None" for name, kind in kinds.items()]
    unbroken = ", ".join(one.replace(" ", "\0") for one in each)
    signature = textwrap.fill(
        f"def __init__(self, num_tasks: int | CoordinatorOptions, *, {unbroken}):", 100,
        initial_indent="    ", subsequent_indent=" " * 17).replace("\0", " ")
    parts = {"_coordinator.py": signature, "_coordinator_options.py": "\n".join(f"    {one}" for one in each)}

    def whole(path, part):
        return re.sub(r"(?<=--update`\.\n).*?(?=    # End)", lambda _: part + "\n", path.read_text(), flags=re.S)

    return {PACKAGE / name: whole(PACKAGE / name, part) for name, part in parts.items()}


class Options(PythonTest):
    def test_every_option_is_accepted_and_documented(self):
        self.coordinator(2, **EVERY_OPTION)

        names = set(coxswain.Coordinator.__init__.__kwdefaults__)
        self.assertEqual(names, EVERY_OPTION.keys() | OF_FILES)
        for name in names:
            self.assertIn(f"``{name}", coxswain.CoordinatorOptions.__doc__)

    def test_the_keywords_of_a_client_are_its_options(self):
        keywords = inspect.signature(coxswain.Client).parameters
        self.assertEqual(set(keywords), set(coxswain._native.Options.names()))

    def test_the_written_options_are_those_of_the_program(self):
        for path, text in written().items():
            self.assertEqual(path.read_text(), text, "run coordinator_test.py --update")

    def test_options_are_passed_as_keywords_or_as_one_object(self):
        options = coxswain.CoordinatorOptions(2, job="night", value_bytes_max=10)
        at = self.coordinator(options, value_bytes_max=11)
        with self.assertRaises(coxswain.FailedPrecondition):
            self.client(at, 0)
        job = self.client(at, job="night")
        job.put("k", "v" * 11)
        with self.assertRaisesRegex(coxswain.Error, "11"):
            job.put("k", "v" * 12)
        self.assertEqual(len(at.status().tasks), 2)

    def test_invalid_options_have_a_readable_error(self):
        for name, value in {**EVERY_OPTION, "num_tasks": 1}.items():
            if name in ("http", "tokens", "listen", "xla_listen", "xla_allow", "durability", "assign", "grow", "ranks"):
                continue
            with self.subTest(name), self.assertRaises(TypeError) as caught:
                coxswain.Coordinator(**{"num_tasks": 1, name: object()})
            self.assertRegex(str(caught.exception), rf"^(add_{name}|{name}|a timeout)\b.* not ")
        with self.assertRaisesRegex(TypeError, "^listen is str, not int"):
            coxswain.Coordinator(1, listen=[5])
        with self.assertRaisesRegex(ValueError, "tls_min is '1.2' or '1.3', not '1.1'"):
            coxswain.Coordinator(1, tls_min="1.1")
        with self.assertRaisesRegex(ValueError, "tls_min needs tls_cert and tls_key"):
            coxswain.Coordinator(1, tls_min="1.2")
        with self.assertRaisesRegex(ValueError, "durability is 'process' or 'disk', not 'none'"):
            coxswain.Coordinator(1, durability="none")
        with self.assertRaisesRegex(ValueError, "assign is 'order', 'member' or 'placement', not 'x'"):
            coxswain.Coordinator(1, assign="x")
        with self.assertRaisesRegex(ValueError, "grow is 'boundary', 'now' or 'never', not 'x'"):
            coxswain.Coordinator(1, grow="x")
        with self.assertRaisesRegex(ValueError, "ranks is 'keep' or 'member', not 'x'"):
            coxswain.Coordinator(1, ranks="x")

    def test_an_elastic_job_grows_at_once_and_sorts_its_members(self):
        at = self.coordinator(2, elastic=True, grow="now", ranks="member", last_call=0, min_tasks=1)
        first, second = self.client(at, member="b"), self.client(at, member="a")
        first.join()

        def works():
            with self.assertRaisesRegex(coxswain.Aborted, "processes joining: 1"):
                first.get("never set")
            return first.next_epoch(LIMIT).rank

        def joins():
            second.join()
            return second.task

        self.assertEqual(together(works, joins), [1, 0])

    def test_epochs_are_for_members_of_elastic_jobs(self):
        with self.assertRaisesRegex(coxswain.FailedPrecondition, "join first"):
            next(self.client(self.coordinator(1, elastic=True), member="a").epochs())
        of_fixed_size = self.client(self.coordinator(1), task=0)
        of_fixed_size.join()
        with self.assertRaisesRegex(coxswain.FailedPrecondition, "not elastic"):
            next(of_fixed_size.epochs())


class Page(PythonTest):
    def get(self, at, target, token=None):
        request = urllib.request.Request(f"http://{at.http_address}{target}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read()

    def test_the_status_page_needs_a_token(self):
        at = self.coordinator(2, http="127.0.0.1:0", token="pull")

        self.assertEqual(self.get(at, "/livez")[0], 200)
        self.assertEqual(self.get(at, "/api/v1/state")[0], 401)
        self.assertIn(b'"num_tasks":2', self.get(at, "/api/v1/state", "pull")[1])
        at.stop()
        self.assertNotEqual(self.get(at, "/readyz")[0], 200)

    def test_without_http_there_is_no_status_page(self):
        self.assertIsNone(self.coordinator().http_address)

    def test_a_listen_failure_of_the_page_prevents_the_coordinator(self):
        with self.assertRaises(coxswain.Unavailable):
            coxswain.Coordinator(1, http=self.coordinator(1).address)


class Recording(PythonTest):
    def test_a_recording_is_kept_in_memory_and_written_to_a_private_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "job.recording")
            path.touch(0o644)
            at = self.coordinator(1, record=path)
            self.client(at).put("k", "v")
            at.stop()

            self.assertIn(b"k", path.read_bytes())
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertIn(b"k", at.recording())

    def test_a_forked_child_does_not_write_to_the_recording(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "job.recording")
            code = ("import coxswain, os, sys\n"
                    "at = coxswain.Coordinator(1, record=sys.argv[1])\n"
                    "coxswain.Client(at.address).put('once', 'v')\n"
                    "if os.fork() == 0: sys.exit(0)\n"
                    "os.wait()\n"
                    "at.stop()\n")
            self.out_of(self.python(code, path))
            self.assertEqual(path.read_bytes().count(b"once"), 1)

    def test_a_recording_write_error_is_reported(self):
        with self.assertRaisesRegex(coxswain.Unavailable, "'/nowhere/r': No such file"):
            coxswain.Coordinator(1, record="/nowhere/r")
        at = coxswain.Coordinator(1, record="/dev/full")
        with self.assertRaisesRegex(coxswain.Unavailable, "'/dev/full' is not whole: No space left"):
            at.stop()


class OfTask0(PythonTest):
    def setUp(self):
        super().setUp()
        self.address = a_free_address()
        expected = {"COXSWAIN_ADDRESS": self.address, "COXSWAIN_TASK_ID": "0", "COXSWAIN_NUM_TASKS": "1",
                "COXSWAIN_JOB": "night", "COXSWAIN_TOKEN": "pull"}
        patch = unittest.mock.patch.dict(os.environ, expected)
        patch.start()
        self.addCleanup(patch.stop)

    def test_the_process_of_task_0_hosts_the_coordinator(self):
        with coxswain.Coordinator.of_task_0(http=0, recoverable=True) as at:
            self.assertEqual(at.address, self.address)
            self.assertIsNotNone(at.http_address)
            with coxswain.Client.from_environment() as job:
                job.barrier("b")

    def test_other_processes_do_not_host_the_coordinator(self):
        os.environ |= {"COXSWAIN_TASK_ID": "1", "COXSWAIN_NUM_TASKS": "2"}
        self.assertIsNone(coxswain.Coordinator.of_task_0())

    def test_a_running_coordinator_is_used(self):
        self.coordinator(1, listen=self.address, job="night", token="pull")
        self.assertIsNone(coxswain.Coordinator.of_task_0())
        os.environ["COXSWAIN_JOB"] = "day"
        with self.assertRaises(coxswain.FailedPrecondition):
            coxswain.Coordinator.of_task_0()

    def test_another_program_at_the_address_is_named(self):
        port = int(self.address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)) as other:
            threading.Thread(target=answer_all, args=(other, b"HTTP/1.0 400\r\n"),
                             daemon=True).start()
            with impatient(), self.assertRaisesRegex(
                    coxswain.Unavailable, f"in use.* No coordinator answers at {self.address}"):
                coxswain.Coordinator.of_task_0()

    def test_an_unknown_option_is_named(self):
        with self.assertRaisesRegex(TypeError, "tokn"):
            coxswain.Coordinator.of_task_0(tokn="x")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        main()
    for path, text in written().items():
        path.write_text(text)
