#!/usr/bin/env python3
"""The blocking client with all its calls."""

import array
import dataclasses
import datetime
import fractions
import gc
import inspect
import os
import pickle
import tempfile
import threading
import unittest.mock

import coxswain
from support import LIMIT, PythonTest, eventually, main, together


class Lost(coxswain.NotFound):
    def __init__(self, what):
        super().__init__(f"{what} is lost")
        self.what = what


class Barriers(PythonTest):
    def setUp(self):
        super().setUp()
        self.jobs = self.clients(self.coordinator(2), 2)

    def each(self, call):
        return together(*(lambda job=job: call(job) for job in self.jobs))

    def test_the_missing_tasks_are_logged(self):
        waiting = r"^waiting: barrier 'b' has waited for [0-9.]+ s: 1 of 2 tasks is missing: 1 \(connected"
        for call in (lambda: self.jobs[0].barrier("b"),
                     lambda: together(lambda: self.jobs[0].barrier("b"))):  # the main thread; another
            with self.assertLogs("coxswain", "WARNING") as seen:
                arrival = threading.Timer(3, lambda: self.jobs[1].barrier("b"))
                arrival.start()
                call()
                arrival.join()
            self.assertRegex(seen.records[0].getMessage(), waiting)
            self.assertEqual(seen.records[0].levelname, "WARNING")

    def test_a_waiting_pop_logs_no_warning(self):
        with self.assertLogs("coxswain", "INFO") as seen, self.assertRaises(TimeoutError):
            self.jobs[0].pop("q", timeout=3)
        self.assertEqual([record.levelname for record in seen.records], ["INFO"])

    def test_without_logging_a_wait_is_reported_on_stderr(self):
        program = self.python('''
import coxswain, socket
with socket.socket() as mute:
    mute.bind(("127.0.0.1", 0))  # it refuses connections, and no other program takes its port
    try:
        coxswain.Client(f"127.0.0.1:{mute.getsockname()[1]}", connect_timeout=1.5)
    except coxswain.DeadlineExceeded:
        print("gave up")
''')
        out, err = program.communicate(timeout=LIMIT)
        self.assertEqual((program.returncode, out), (0, "gave up\n"), err)
        self.assertRegex(err, "^waiting: coordinator at 127.0.0.1:[0-9]+ unreachable for .*refused")

    def test_a_raising_log_handler_does_not_end_a_call(self):
        program = self.python('''
import coxswain, logging, sys
class Broken(logging.Filter):
    def filter(self, record):
        raise ValueError("broken filter")
logging.getLogger("coxswain").addFilter(Broken())
with coxswain.Coordinator(1) as coordinator:
    job = coxswain.Client(coordinator.address)
    try:
        job.get("k", timeout=3)
    except TimeoutError:
        print("timed out")
    job.close()
''')
        out, err = program.communicate(timeout=LIMIT)
        self.assertEqual((program.returncode, out), (0, "timed out\n"), err)
        self.assertIn("broken filter", err)

    def test_a_barrier_names_the_missing_tasks(self):
        with self.assertRaises(coxswain.DeadlineExceeded) as caught:
            self.jobs[0].barrier("alone", timeout=0.05)

        problem = caught.exception
        self.assertIsInstance(problem, TimeoutError)
        self.assertIsInstance(problem, RuntimeError)
        self.assertTrue(str(problem).startswith("DEADLINE_EXCEEDED: Barrier timed out."), problem)
        self.assertEqual(problem.code, coxswain.Code.DEADLINE_EXCEEDED)
        self.assertEqual(problem.missing, (1,))
        self.assertEqual((problem.details.arrived, problem.details.expected), (1, 2))
        self.assertEqual(problem.details.known[0].state, "connected")
        problem.__notes__ = ["in step 7"]  # as add_note does, from Python 3.11 on
        again = pickle.loads(pickle.dumps(problem))
        self.assertEqual(again.__notes__, ["in step 7"])
        self.assertEqual((str(again), again.details), (str(problem), problem.details))

    def test_a_subclass_of_error_is_pickled_completely(self):
        again = pickle.loads(pickle.dumps(Lost("it")))
        self.assertEqual((type(again), again.what, str(again)), (Lost, "it", "NOT_FOUND: it is lost"))

    def test_timeouts_are_seconds_timedeltas_or_unlimited(self):
        for timeout in (0, 0.01, datetime.timedelta(milliseconds=10), -1):
            with self.assertRaises(TimeoutError):
                self.jobs[0].barrier("never", timeout)
        self.assertEqual(self.each(lambda job: job.barrier("x", None)), [1, 1])
        for wrong, kind in (("5", TypeError), (float("nan"), ValueError)):
            with self.assertRaises(kind):
                self.jobs[0].barrier("never", wrong)

    def test_numbers_keep_their_kind(self):
        class Real:
            def __float__(self):
                return 3.5

            def __int__(self):
                return 3

        alone = [self.jobs[0].task]
        for operand, sum in ((fractions.Fraction(7, 2), 3.5), (Real(), 3.5), (True, 1), (2**40, 2**40),
                             (memoryview(b"a"), b"a")):
            how = "and" if isinstance(sum, bytes) else "sum"
            self.assertEqual(self.jobs[0].reduce("n", operand, how, participants=alone), sum)
        for wrong in ("3", None, [1]):
            with self.assertRaises(TypeError):
                self.jobs[0].reduce("n", wrong, participants=alone)
        for call in (lambda: self.jobs[0].increment("n", Real()),
                     lambda: self.jobs[0].increment("n", 3.0),
                     lambda: self.jobs[0].reached_sync_point(Real()),
                     lambda: self.jobs[0].report_progress(fractions.Fraction(4, 2))):
            with self.assertRaises(TypeError):
                call()

    def test_task_numbers_start_at_zero(self):
        for wrong in (-1, 2**32, 2**70):
            with self.assertRaisesRegex(coxswain.InvalidArgument, f"there is no task {wrong}: "):
                self.jobs[0].barrier("b", 1, participants=[wrong])
            with self.assertRaises(coxswain.InvalidArgument):
                self.jobs[0].alive_tasks([wrong], 1)
        for wrong in ("0", 0.0, None):
            with self.assertRaises(TypeError):
                self.jobs[0].barrier("b", 1, participants=[wrong])


class Whole:
    """An integer type of another library."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Arguments(PythonTest):
    def setUp(self):
        super().setUp()
        self.job = self.client(self.coordinator(), 0)
        self.job.join()

    def test_integers_may_be_of_any_type(self):
        self.assertFalse(self.job.reached_sync_point(Whole(1)))
        self.job.report_progress(Whole(2))
        self.assertEqual(self.job.count_barrier("c", Whole(1)), 1)
        self.assertEqual(self.job.put("k", "v"), 1)
        self.assertTrue(self.job.compare_and_set("k", "w", version=Whole(1)))
        self.assertEqual(self.job.watch("k", after=Whole(1)).next()[0].value, b"w")
        self.assertEqual(len(self.job.tasks(after=Whole(0))), 1)
        self.assertEqual(self.job.increment("n", Whole(-3)), -3)

    def test_out_of_range_numbers_are_reported(self):
        for call, text in ((lambda: self.job.reached_sync_point(-1),
                            "from 0 to 18446744073709551615 is wanted, not -1"),
                           (lambda: self.job.count_barrier("c", 2**32),
                            "from 0 to 4294967295 is wanted, not 4294967296"),
                           (lambda: self.job.increment("n", 10**50), "not one of 51 digits")):
            with self.assertRaises(coxswain.InvalidArgument) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_wrong_argument_types_are_named(self):
        secret = "secret" * 1000
        for call, text in ((lambda: self.job.put(None, secret),
                            "put(): argument 1 is str, not NoneType"),
                           (lambda: self.job.put(7, secret), "put(): argument 1 is str, not int"),
                           (lambda: self.job.put("k", 7),
                            "put(): argument 2 is str, bytes or a buffer, not int"),
                           (lambda: self.job.put("k", secret, overwrite=1),
                            "put(): argument 3 is a bool, not int"),
                           (lambda: self.job.report_progress(1.5),
                            "report_progress(): argument 1 is a whole number, not float")):
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertEqual(str(caught.exception), text)
        with self.assertRaises(UnicodeEncodeError):
            self.job.put("\ud800", "v")

    def test_bytes_may_be_of_any_buffer_type(self):
        for value in (b"1234", bytearray(b"1234"), memoryview(b"1234"), array.array("b", b"1234"),
                      "1234"):
            self.job.put("k", value, overwrite=True)
            self.assertEqual(self.job.get("k"), b"1234")
        self.assertEqual(self.job.all_gather("g", memoryview(b"x")), [b"x"])
        self.assertTrue(self.job.compare_and_set("k", memoryview(b"5"), expected=memoryview(b"1234")))
        with self.assertRaises(BufferError):
            self.job.put("k", memoryview(b"1234")[::2], overwrite=True)

    def test_version_zero_expects_a_missing_key(self):
        missing = self.job.compare_and_set("k", "v", version=1)
        self.assertEqual((missing.stored, missing.version), (False, 0))
        self.assertTrue(self.job.compare_and_set("k", "v", version=missing.version))
        self.assertFalse(self.job.compare_and_set("k", "w", version=0))

    def test_entries_are_a_mapping_or_pairs(self):
        self.job.put_all([("a", "1"), ("b", b"2")])
        self.assertEqual(self.job.put_all({"c": "3"}), 3)
        self.assertEqual([one.key for one in self.job.list()], ["a", "b", "c"])


class Job(PythonTest):
    def test_processes_without_a_number_get_one_and_spares_end_with_the_job(self):
        at = self.coordinator(2, recoverable=True, spares=1, assign="member", last_call=LIMIT)
        waiting = self.client(at, member="c", placement="pod1/b17")
        self.assertIsNone(waiting.task)

        def work(member):
            with coxswain.Client(at.address, member=member) as job:
                job.barrier("both")
                return job.task

        def spare():
            with self.assertRaisesRegex(coxswain.Cancelled, "the job is over"):
                waiting.join()

        self.assertEqual(together(lambda: work("b"), lambda: work("a"), spare), [1, 0, None])
        self.assertIsNone(waiting.task)

    def test_an_exception_fails_the_job_with_its_text(self):
        at = self.coordinator(2)
        received = []

        def fails():
            with self.assertRaises(ZeroDivisionError):
                with coxswain.Client(at.address, 0) as job:
                    job.barrier("both")
                    raise ZeroDivisionError("no more")

        def hears():
            other = self.client(at, 1)
            other.on_failure(received.append)
            other.join()
            other.barrier("both")
            error = other.failure(LIMIT)
            with self.assertRaisesRegex(coxswain.FailedPrecondition, "no more"):
                other.barrier("next")
            return error

        _, error = together(fails, hears)

        self.assertEqual((error.cause.task, error.cause.code), (0, coxswain.Code.UNKNOWN))
        self.assertIn("ZeroDivisionError: no more", str(error))
        eventually(lambda: received)
        self.assertEqual(received[0].cause, error.cause)

    def test_an_exception_with_any_text_is_reported_and_reraised(self):
        class Silent(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        for problem, text in ((ValueError("\ud800"), "ValueError: \\ud800"), (Silent(), "Silent: "),
                              (ValueError("x" * 10_000_000), "ValueError: xxx")):
            at = self.coordinator()
            with self.assertRaises(type(problem)) as caught:
                with coxswain.Client(at.address, 0):
                    raise problem
            self.assertIs(caught.exception, problem)
            self.assertTrue(at.error.cause.message.startswith(text), at.error.cause.message[:100])

    def test_an_error_of_a_call_fails_the_job_with_its_own_code(self):
        at = self.coordinator()
        with self.assertRaises(coxswain.NotFound):
            with coxswain.Client(at.address, 0) as job:
                raise coxswain.NotFound("there is no checkpoint")

        cause = at.error.cause
        self.assertEqual((cause.code, cause.message), (coxswain.Code.NOT_FOUND, "there is no checkpoint"))

    def test_a_misspelt_variable_is_warned_about_with_the_nearest_name(self):
        at = self.coordinator()
        with unittest.mock.patch.dict(os.environ, COXSWAIN_ADRESS=at.address, COXSWAIN_BIN="bin"):
            with self.assertWarnsRegex(UserWarning, "COXSWAIN_ADRESS is set and has no effect; "
                                                    "did you mean COXSWAIN_ADDRESS"):
                coxswain.Client.from_environment(address=at.address).close()

    def test_a_dropped_client_fails_its_task_despite_a_waiting_call(self):
        at = self.coordinator()
        received = []
        job = self.client(at, 0)
        self._cleanups.pop()  # which owns the lock
        job.join()
        job.on_failure(received.append)
        with self.assertRaises(TypeError):
            job.on_failure(None)
        del job
        gc.collect()
        eventually(lambda: at.status().tasks[0].state == "failed")
        self.assertEqual(received, [])

    def test_a_status_has_all_that_the_coordinator_states(self):
        at = self.coordinator(3, elastic=True, min_tasks=2, last_call=0)
        jobs = [self.client(at, member=f"m{i}") for i in range(2)]
        together(*(one.join for one in jobs))
        together(*(lambda one=one: one.barrier("b") for one in jobs))
        token = jobs[0].lock("l")
        jobs[1].report_progress(7)

        status = jobs[0].status()

        self.assertEqual((status.elastic.epoch, status.elastic.tasks_max), (1, 3))
        self.assertEqual(status.locks_held, 1)
        [round] = status.rounds
        self.assertEqual((round.name, round.tasks, round.outcome), ("b", 2, coxswain.Code.OK))
        self.assertEqual(status.stragglers[0].task, round.last_task)
        self.assertEqual((status.spares, status.relays, status.leader), ((), (), None))
        self.assertEqual([one.returns_by for one in status.tasks], [None, None])
        self.assertFalse(status.tasks[1].progress.overdue)
        self.assertEqual(at.status().locks_held, 1)
        jobs[0].unlock("l", token)

    def test_timeouts_may_have_any_length(self):
        job = self.clients(self.coordinator(1), 1)[0]
        for long in (10**400, 1e300, float("inf"), datetime.timedelta.max, None):
            self.assertEqual(job.barrier("b", timeout=long) > 0, True)
        for short in (0, -1, -10**400, float("-inf"), datetime.timedelta.min):
            with self.assertRaises(coxswain.DeadlineExceeded):
                job.get("k", timeout=short)
        with self.assertRaises(ValueError):
            job.barrier("b", timeout=float("nan"))
        job.leave(10**400)


class Topologies(PythonTest):
    def setUp(self):
        super().setUp()
        self.jobs = self.clients(self.coordinator(2), 2)

    def exchange(self, mine, platform="cuda"):
        return together(*(lambda job=job: job.exchange_topology(platform, mine(job.task))
                          for job in self.jobs))

    def test_all_tasks_get_all_devices_with_their_ids(self):
        expected = {"cores": 108, "is_shared": True, "mesh": [2, 3], "speed": 1.5, "\N{HIGH VOLTAGE SIGN}": "on"}
        mine = coxswain.Device(
            7, "A100", "NVIDIA", "gpu", "8.0", 108, 1, "fabric", 1 << 36, 167_936, "short", "long",
            expected)
        each = lambda task: coxswain.Topology([mine] * (2 - task), f"boot-{task}", ["root", "leaf"])

        first, second = self.exchange(each)

        self.assertEqual(first, second)
        self.assertEqual([one.boot_id for one in first], ["boot-0", "boot-1"])
        self.assertEqual(first[1].network_nodes, ("root", "leaf"))
        self.assertEqual([[one.global_id for one in task.devices] for task in first], [[0, 1], [2]])
        self.assertEqual(dataclasses.replace(first[1].devices[0], global_id=0), mine)
        self.assertEqual(self.jobs[0].exchange_topology("cuda", each(0)), first)
        with self.assertRaisesRegex(coxswain.Internal, "its boot id changed"):
            self.jobs[0].exchange_topology("cuda", each(1))

    def test_the_local_topology_describes_this_host(self):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
            here = boot_id.read().strip()
        one = coxswain.Device(name="cpu")
        self.assertEqual(coxswain.Topology.of_this_host([one], partition_index=3),
                         coxswain.Topology((one,), here, (), 3))

    def test_an_invalid_topology_is_refused(self):
        for field, wrong in (("ordinal", "7"), ("name", 7), ("core_count", 1 << 40),
                             ("memory_bytes", -1), ("attributes", {"a": object()})):
            mine = coxswain.Topology([coxswain.Device(**{field: wrong})])
            with self.assertRaisesRegex(TypeError, f"the {field} of a device cannot be "):
                self.jobs[0].exchange_topology("x", mine)
        with self.assertRaisesRegex(TypeError, "the partition_index of a topology cannot be -1"):
            self.jobs[0].exchange_topology("x", coxswain.Topology(partition_index=-1))


class Strange:
    """An object that no call accepts."""


class Refusals(PythonTest):
    def test_a_wrong_token_is_refused_at_once(self):
        at = self.coordinator(token="right")
        with self.assertRaises(coxswain.Unauthenticated):
            coxswain.Client(at.address, token="wrong")
        self.client(at, token="right")

    def test_credentials_come_from_the_environment_also_with_an_address(self):
        at = self.coordinator(token="right")
        with unittest.mock.patch.dict(os.environ, COXSWAIN_TOKEN="right", COXSWAIN_TASK_ID="0"):
            self.assertIsNone(self.client(at).task)
            with self.assertRaises(coxswain.Unauthenticated):
                coxswain.Client(at.address, token="wrong")
        with tempfile.NamedTemporaryFile("w") as file:
            print("right", file=file, flush=True)
            with unittest.mock.patch.dict(os.environ, COXSWAIN_TOKEN_FILE=file.name):
                self.client(at)
        with unittest.mock.patch.dict(os.environ, COXSWAIN_TLS_CA="/no/such/file"):
            with self.assertRaisesRegex(coxswain.Error, "/no/such/file"):
                coxswain.Client(at.address, token="right", connect_timeout=LIMIT)

    def test_an_address_argument_overrides_the_environment(self):
        at = self.coordinator()
        with coxswain.Client.from_environment(address=at.address, task=0) as job:
            self.assertEqual(job.task, 0)

    def test_an_unknown_option_is_named(self):
        with self.assertRaisesRegex(TypeError, "tokn"):
            coxswain.Client.from_environment(tokn="x")

    def test_invalid_tasks_and_settings_have_a_readable_error(self):
        with self.assertRaisesRegex(
                coxswain.InvalidArgument, "task: a whole number from 0 to 4294967295 is wanted, not -1"):
            coxswain.Client("127.0.0.1:9", -1)
        for settings, text in (
                ({"task": "a"}, "task is a whole number, not str"),
                ({"address": 5}, "address is str, not int"),
                ({"num_tasks": 1.5}, "num_tasks is a whole number, not float"),
                ({"job": 7}, "job is str, not int"), ({"token": 7}, "token is str, not int"),
                ({"attempt": "x"}, "attempt is a whole number, not str"),
                ({"label": 7}, "label is str, not int"),
                ({"recoverable": "yes"}, "recoverable is a bool, not str"),
                ({"connect_timeout": "1s"}, "a timeout is a number of seconds")):
            for client in (coxswain.Client, coxswain.AsyncClient):
                with self.subTest(settings), self.assertRaises(TypeError) as caught:
                    client(**{"address": "127.0.0.1:9", **settings})
                self.assertTrue(str(caught.exception).startswith(text), caught.exception)
        with self.assertRaisesRegex(TypeError, "^launcher is str, not int$"):
            coxswain.detect(5)

    def test_errors_do_not_show_native_signatures(self):
        at = self.coordinator()
        job = self.client(at, 0)
        job.join()
        watch, monitor = job.watch(), job.process_monitor()
        for target in (job, at, watch, monitor):
            for name in dir(target):
                method = getattr(target, name)
                if name.startswith("_") or not inspect.ismethod(method):
                    continue
                for given in range(1, 4):
                    with self.subTest(f"{type(target).__name__}.{name}", given=given):
                        try:
                            method(*[Strange()] * given)
                        except (TypeError, ValueError, AttributeError) as problem:
                            self.assertNotIn("incompatible", str(problem))
                            self.assertNotIn("_native", str(problem))

    def test_a_watch_returns_nothing_while_the_coordinator_is_away(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.python("import coxswain, sys, time\n"
                                  "at = coxswain.Coordinator(1, journal=sys.argv[1])\n"
                                  "print(at.address, flush=True)\n"
                                  "time.sleep(600)\n", directory)
            job = coxswain.Client(program.stdout.readline().strip())
            self.addCleanup(job.close)
            job.put("w/1", "x")
            watch = job.watch("w", after=0)
            first = watch.next(LIMIT)
            through = job.events()[1]
            program.kill()
            self.assertEqual([one.key for one in first], ["w/1"])
            self.assertEqual(watch.next(0.3), [])
            self.assertEqual(job.events(through, timeout=0.3), ([], through))

    def test_close_ends_the_calls_of_other_threads(self):
        job = self.client(self.coordinator())

        def wait():
            with self.assertRaises(coxswain.Cancelled):
                job.get("never", None)

        waiting = threading.Thread(target=wait)
        waiting.start()
        eventually(lambda: job.status().waiting_gets)
        job.close()
        waiting.join(LIMIT)
        self.assertFalse(waiting.is_alive())


if __name__ == "__main__":
    main()
