#!/usr/bin/env python3
"""jax_compat: the cases of JAX's own tests (with their names in ours) and the rows of its contract."""

import inspect
import os
import pathlib
import pickle
import signal
import socket
import sys
import threading
import time
import unittest.mock

import coxswain
from coxswain import jax_compat
from support import (
    LIMIT, PythonTest, a_free_address, answer_all, eventually, impatient, main, together)

STANDIN = pathlib.Path(__file__).resolve().parent / "standin"


# Beginnings of programs: a connected client of the task in their second argument, and its manager.
CLIENT = ("import os, signal, sys, threading, time\n"
          "from coxswain import jax_compat\n"
          "client = jax_compat.get_distributed_runtime_client(sys.argv[1], int(sys.argv[2]))\n"
          "client.connect()\n")
MANAGER = (CLIENT +
           "manager = jax_compat.create_preemption_sync_manager()\n"
           "manager.initialize(client)\n")
# One of two processes that initialize and shut down the number of times in the last argument.
AGAIN = ("import sys\n"
         "from coxswain import jax_compat\n"
         "for _ in range(int(sys.argv[3])):\n"
         "    jax_compat.initialize(sys.argv[1], 2, int(sys.argv[2]))\n"
         "    print('ready', flush=True)\n"
         "    jax_compat.global_state.client.wait_at_barrier('b', 60_000)\n"
         "    jax_compat.shutdown()\n")


class JaxTest(PythonTest):
    def service_of(self, num_nodes, **settings):
        service = jax_compat.get_distributed_runtime_service("127.0.0.1:0", num_nodes, **settings)
        self.addCleanup(service.shutdown)
        return service


class Job(JaxTest):
    """A service and the connected clients of all its tasks."""

    NUM = 4

    def setUp(self):
        super().setUp()
        self.service = self.service_of(self.NUM)
        self.clients = [jax_compat.get_distributed_runtime_client(
            self.service.address, task, init_timeout=LIMIT) for task in range(self.NUM)]
        self.each(lambda client, _: client.connect())
        self.addCleanup(self.each, lambda client, _: client.shutdown())

    def each(self, call):
        return together(*(lambda c=client, i=i: call(c, i)
                          for i, client in enumerate(self.clients)))


class KeyValueStore(Job):
    def test_every_call(self):
        def work(client, me):
            if me == 0:
                client.key_value_set("k", "v")
                client.key_value_set_bytes("b", b"\x00\xff")
            if me < 3:
                client.key_value_set(("d/a", "d/b/c", "d/e")[me], str(me))
            got = client.blocking_key_value_get("k", 1000), client.blocking_key_value_get_bytes("b", 1000)
            client.wait_at_barrier("set", 5000)
            return (got, client.key_value_try_get("k"), client.key_value_try_get_bytes("b"),
                    client.key_value_dir_get("d/"), client.key_value_dir_get_bytes("d"))

        texts = [("d/a", "0"), ("d/b/c", "1"), ("d/e", "2")]
        self.assertEqual(self.each(work), [(("v", b"\x00\xff"), "v", b"\x00\xff", texts,
                                            [(k, v.encode()) for k, v in texts])] * self.NUM)
        client = self.clients[0]
        with self.assertRaisesRegex(RuntimeError, r"^ALREADY_EXISTS: key k already exists\."):
            client.key_value_set("k", "w")
        client.key_value_set("k", "w", allow_overwrite=True)
        self.assertEqual(client.key_value_try_get("k"), "w")
        with self.assertRaisesRegex(RuntimeError, "^NOT_FOUND: Config key nowhere not found"):
            client.key_value_try_get("nowhere")
        self.assertEqual(client.key_value_increment("n", 5), 5)
        self.assertEqual(client.key_value_increment(key="n", increment=-7), -2)
        client.key_value_delete("n")
        client.key_value_delete("n")
        with self.assertRaisesRegex(RuntimeError, "^DEADLINE_EXCEEDED: "):
            client.blocking_key_value_get("n", 20)

    def test_the_root_directory_is_empty_and_cannot_be_removed(self):
        client = self.clients[0]
        client.key_value_set("d/a", "1")
        for root in ("", "/", "//"):
            self.assertEqual(client.key_value_dir_get(root), [])
            self.assertEqual(client.key_value_dir_get_bytes(root), [])
            client.key_value_delete(root)
        self.assertEqual(client.key_value_dir_get("d"), [("d/a", "1")])

    def test_types_are_strict(self):
        client = self.clients[0]
        for wrong in (lambda: client.key_value_set("k", b"v"), lambda: client.key_value_set(1, "v"),
                      lambda: client.key_value_set_bytes("k", "v"),
                      lambda: client.blocking_key_value_get("k", 1.5),
                      lambda: client.wait_at_barrier("b", 10, ["0"]),
                      lambda: client.key_value_increment("k", "1")):
            with self.assertRaises(TypeError):
                wrong()


class Barriers(Job):
    def test_barriers_of_all_or_some(self):
        def work(client, me):
            client.wait_at_barrier("b", 5000)
            client.wait_at_barrier("b", timeout_in_ms=5000)
            if me % 2 == 0:
                client.wait_at_barrier("even", 5000, process_ids=[0, 2])
            if me != 0:
                with self.assertRaisesRegex(RuntimeError, "^DEADLINE_EXCEEDED: Barrier timed out"):
                    client.wait_at_barrier("late", 200)

        self.each(work)
        with self.assertRaisesRegex(RuntimeError,
                                    r"^INVALID_ARGUMENT: A non-participating task \(0\)"):
            self.clients[0].wait_at_barrier("b", 1000, [1, 2])

    def test_nonexistent_live_nodes_are_not_alive(self):
        alive = self.each(lambda client, me: client.get_live_nodes([-1, 0, 1, 99])
                          if me < 2 else None)
        self.assertEqual(list(alive[0]), [0, 1])
        self.assertEqual(alive[1], alive[0])

    def test_live_nodes(self):
        alive = self.each(lambda client, _: client.get_live_nodes([3, 2, 1, 0]))
        self.assertEqual(list(alive[0]), [0, 1, 2, 3])
        self.assertTrue(all(isinstance(one, int) for one in alive[0].values()))
        self.assertEqual(alive, [alive[0]] * self.NUM)


class Life(JaxTest):
    def test_the_signatures_match_jaxlib(self):
        def parameters(function):
            return {name: one.default for name, one in
                    inspect.signature(function).parameters.items() if name != "self"}

        need, client = inspect.Parameter.empty, jax_compat.DistributedRuntimeClient
        none = dict.fromkeys
        for function, expected in (
                (client.connect, {}), (client.shutdown, {}),
                (client.blocking_key_value_get, {"key": need, "timeout_in_ms": need}),
                (client.blocking_key_value_get_bytes, {"key": need, "timeout_in_ms": need}),
                (client.key_value_try_get, {"key": need}),
                (client.key_value_try_get_bytes, {"key": need}),
                (client.key_value_increment, {"key": need, "increment": need}),
                (client.wait_at_barrier,
                 {"barrier_id": need, "timeout_in_ms": need, "process_ids": None}),
                (client.get_live_nodes, {"process_ids": need}),
                (client.key_value_set, {"key": need, "value": need, "allow_overwrite": False}),
                (client.key_value_set_bytes,
                 {"key": need, "value": need, "allow_overwrite": False}),
                (client.key_value_dir_get, {"key": need}),
                (client.key_value_dir_get_bytes, {"key": need}),
                (client.key_value_delete, {"key": need}),
                (jax_compat.get_distributed_runtime_service,
                 {"address": need, "num_nodes": need} | none((
                     "heartbeat_timeout", "cluster_register_timeout", "shutdown_timeout",
                     "recoverable"))),
                (jax_compat.get_distributed_runtime_client,
                 {"address": need, "node_id": need} | none((
                     "rpc_timeout", "init_timeout", "shutdown_timeout", "heartbeat_timeout",
                     "missed_heartbeat_callback", "shutdown_on_destruction", "use_compression"))),
                (jax_compat.create_preemption_sync_manager, {}),
                *((initialize, none((
                    "coordinator_address", "num_processes", "process_id", "local_device_ids",
                    "cluster_detection_method")) | {
                        "initialization_timeout": 300, "heartbeat_timeout_seconds": 100,
                        "shutdown_timeout_seconds": 300} | none((
                            "coordinator_bind_address", "partition_index", "slice_index")))
                  for initialize in (jax_compat.initialize, jax_compat.State.initialize))):
            self.assertEqual(parameters(function), expected, function)
            self.assertEqual(list(parameters(function)), list(expected), function)

    def test_the_init_timeout_is_exact_and_names_the_missing_tasks(self):
        service = self.service_of(2)
        client = jax_compat.get_distributed_runtime_client(service.address, 0, init_timeout=1)
        with self.assertRaisesRegex(RuntimeError, "^DEADLINE_EXCEEDED: .*1"):
            client.connect()

    def test_the_cluster_register_timeout_of_the_service_limits_that_of_its_clients(self):
        service = self.service_of(2, cluster_register_timeout=1)
        client = jax_compat.get_distributed_runtime_client(service.address, 0, init_timeout=300)
        began = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "^DEADLINE_EXCEEDED: .*1"):
            client.connect()
        self.assertLess(time.monotonic() - began, 60)

    def test_a_client_that_never_connected(self):
        client = jax_compat.get_distributed_runtime_client("127.0.0.1:9", 0)
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: .* is not connected"):
            client.wait_at_barrier("b", 1000)
        with unittest.mock.patch("coxswain.jax_compat._client._REACH_TIMEOUT", 0.1), \
                self.assertRaisesRegex(RuntimeError, "^UNAVAILABLE: .*127.0.0.1:9"):
            client.key_value_set("k", "v")
        client.shutdown()

    def test_key_calls_do_not_wait_for_other_tasks(self):
        service = self.service_of(2)
        first, second = (jax_compat.get_distributed_runtime_client(service.address, task)
                         for task in (0, 1))
        first.key_value_set("k", "v")
        self.assertEqual(second.blocking_key_value_get("k", LIMIT * 1000), "v")
        self.assertEqual(second.key_value_increment("n", 2), 2)
        together(first.connect, second.connect)
        self.assertEqual(first.key_value_dir_get("/k"), [])
        self.assertEqual(first.key_value_try_get("n"), "2")
        together(first.shutdown, second.shutdown)
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: .* shut down"):
            first.key_value_try_get("n")

    def test_an_error_has_the_code_of_its_status(self):
        client = jax_compat.get_distributed_runtime_client(self.service_of(1).address, 0)
        with self.assertRaises(jax_compat.JaxRuntimeError) as seen:
            client.blocking_key_value_get("k", 1)
        for problem in (seen.exception, pickle.loads(pickle.dumps(seen.exception))):
            self.assertEqual((problem.error_code, problem.error_code_string),
                             (4, "DEADLINE_EXCEEDED"))
        odd = jax_compat.JaxRuntimeError("something else")
        self.assertEqual((odd.error_code, odd.error_code_string), (2, "UNKNOWN"))

    def shutdown_alone(self, task, service, **settings):
        """The error of a task that shuts down without the other one, and how long that takes."""
        service = self.service_of(2, **service)
        clients = [jax_compat.get_distributed_runtime_client(
            service.address, one, missed_heartbeat_callback=lambda _: None,
            shutdown_on_destruction=False, **settings)
            for one in (0, 1)]
        together(*(one.connect for one in clients))
        start = time.monotonic()
        try:
            clients[task].shutdown()
            problem = ""
        except RuntimeError as one:
            problem = str(one)
        return problem, time.monotonic() - start

    def test_tasks_use_the_shutdown_timeout_of_the_service(self):
        for task in (0, 1):
            problem, took = self.shutdown_alone(task, {"shutdown_timeout": 1})
            self.assertRegex(problem, "^INTERNAL: .*Shutdown barrier timed out")
            self.assertTrue(1 <= took < 5, took)
            problem, took = self.shutdown_alone(task, {"shutdown_timeout": 0})
            self.assertEqual(problem, "")

    def test_tasks_use_the_shutdown_timeout_of_their_client(self):
        with unittest.mock.patch("coxswain.jax_compat._client.EXTRA_TIME", 0.5):
            for task in (0, 1):
                problem, took = self.shutdown_alone(task, {}, shutdown_timeout=1)
                self.assertRegex(problem, "^INTERNAL: .*Shutdown barrier timed out")
                self.assertTrue(1.5 <= took < 6, took)
                problem, took = self.shutdown_alone(task, {}, shutdown_timeout=0)
                self.assertEqual(problem, "")

    def test_a_client_can_connect_only_once(self):
        service = self.service_of(1)
        client = jax_compat.get_distributed_runtime_client(service.address, 0)
        client.connect()
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: "):
            client.connect()
        client.shutdown()
        client.shutdown()
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: "):
            client.wait_at_barrier("b", 1000)

    def test_a_port_in_use_is_reported(self):
        service = self.service_of(1)
        with self.assertRaisesRegex(RuntimeError, "^UNKNOWN: cannot start server"):
            jax_compat.get_distributed_runtime_service(service.address, 1)

    def test_the_callback_gets_a_failure_and_the_process_continues(self):
        service = self.service_of(2)
        received = []
        clients = [jax_compat.get_distributed_runtime_client(
            service.address, task, missed_heartbeat_callback=received.append,
            shutdown_on_destruction=False) for task in (0, 1)]
        together(*(client.connect for client in clients))
        clients[1]._native.close()
        with self.assertRaisesRegex(RuntimeError, "^(INTERNAL|FAILED_PRECONDITION): "):
            clients[0].wait_at_barrier("b", 60_000)
        eventually(lambda: received)
        self.assertRegex(str(received[0]), "^UNAVAILABLE: Task 1 heartbeat timeout: ")
        self.assertEqual(received[0].error_code_string, "UNAVAILABLE")
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: "):
            clients[0].shutdown()

    def test_without_a_callback_the_process_ends(self):
        service = self.service_of(2)
        code = (CLIENT +
                "print('ready', flush=True)\n"
                "threading.Event().wait()\n")
        first, second = (self.python(code, service.address, task) for task in (0, 1))
        self.assertEqual(first.stdout.readline() + second.stdout.readline(), "ready\n" * 2)
        second.kill()
        _, err = first.communicate(timeout=LIMIT)
        self.assertEqual(first.returncode, -signal.SIGABRT)
        self.assertIn("UNAVAILABLE: Task 1 heartbeat timeout", err)

    def test_a_forked_child_exits_silently(self):
        code = ("import os, sys\n"
                "from coxswain import jax_compat\n"
                "jax_compat.initialize(sys.argv[1], 1, 0)\n"
                "early = jax_compat.get_distributed_runtime_client(sys.argv[1], 0)\n"
                "early.key_value_set('k', 'v')\n"
                "if (child := os.fork()) == 0:\n"
                "    del early\n"
                "    sys.exit(7)\n"
                "_, status = os.waitpid(child, 0)\n"
                "jax_compat.global_state.client.wait_at_barrier('b', 1000)\n"
                "jax_compat.shutdown()\n"
                "print(os.waitstatus_to_exitcode(status))\n")
        program = self.python(code, a_free_address())
        out, err = program.communicate(timeout=LIMIT)
        self.assertEqual((program.returncode, out, err), (0, "7\n", ""))

    def test_a_client_without_shutdown_is_shut_down_at_exit(self):
        service = self.service_of(2)
        programs = [self.python(CLIENT, service.address, task) for task in (0, 1)]
        for program in programs:
            _, err = program.communicate(timeout=LIMIT)
            self.assertEqual((program.returncode, err), (0, ""))
        self.assertIsNone(service._coordinator.error)


class Preemption(JaxTest):
    def test_a_signal_stops_all_tasks_at_the_same_step(self):
        service = self.service_of(2)
        code = (MANAGER +
                "print('ready', flush=True)\n"
                "step = 0\n"
                "while not manager.reached_sync_point(step):\n"
                "    step += 1\n"
                "    client.wait_at_barrier('step', 60_000)\n"
                "manager.shutdown()\n"
                "client.shutdown()\n"
                "print(step)\n")
        programs = [self.python(code, service.address, task) for task in (0, 1)]
        for program in programs:
            self.assertEqual(program.stdout.readline(), "ready\n")
        programs[1].send_signal(signal.SIGTERM)
        steps = [self.out_of(program) for program in programs]
        self.assertEqual(steps[0], steps[1])

    def test_a_second_signal_is_a_second_notice(self):
        service = self.service_of(1)
        code = (MANAGER +
                "step = 0\n"
                "for notice in range(3):\n"
                "    os.kill(os.getpid(), signal.SIGTERM)\n"
                "    while not manager.reached_sync_point(step):\n"
                "        step += 1\n"
                "        time.sleep(0.001)\n"
                "manager.shutdown()\n"
                "client.shutdown()\n"
                "print('stopped three times')\n")
        self.assertEqual(self.out_of(self.python(code, service.address, 0)), "stopped three times\n")

    def test_a_manager_can_be_destroyed_after_its_client(self):
        for end in ("client.shutdown(); manager.shutdown(); del manager, client",
                    "client.shutdown(); del manager, client", "del manager, client",
                    "client.shutdown()"):
            with self.subTest(end):
                service = self.service_of(1)
                code = (MANAGER +
                        "start = time.monotonic()\n"
                        f"{end}\n"
                        "print(time.monotonic() - start < 4)\n")
                self.assertEqual(self.out_of(self.python(code, service.address, 0)), "True\n")

    def test_terminated_forked_workers_give_no_notice(self):
        code = ("import multiprocessing, sys\n"
                "from coxswain import jax_compat\n"
                "jax_compat.initialize(sys.argv[1], 1, 0)\n"
                "manager = jax_compat.global_state.preemption_sync_manager\n"
                "with multiprocessing.get_context('fork').Pool(2) as workers:\n"
                "    assert workers.map(abs, [-1, -2]) == [1, 2]\n"
                "print(manager.reached_sync_point(1))\n"
                "jax_compat.shutdown()\n")
        self.assertEqual(self.out_of(self.python(code, a_free_address())), "False\n")

    def test_the_previous_signal_action_is_restored(self):
        code = ("import os, signal, sys\n"
                "from coxswain import jax_compat\n"
                "caught = []\n"
                "signal.signal(signal.SIGTERM, lambda *_: caught.append(1))\n"
                "for _ in range(2):\n"
                "    jax_compat.initialize(sys.argv[1], 1, 0)\n"
                "    os.kill(os.getpid(), signal.SIGTERM)\n"
                "    jax_compat.shutdown()\n"
                "os.kill(os.getpid(), signal.SIGTERM)\n"
                "print(caught)\n")
        self.assertEqual(self.out_of(self.python(code, a_free_address())), "[1]\n")

    def test_a_manager_without_a_client(self):
        manager = jax_compat.create_preemption_sync_manager()
        with self.assertRaises(RuntimeError):
            manager.reached_sync_point(0)
        manager.shutdown()


class Distributed(JaxTest):
    def setUp(self):
        super().setUp()
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("JAX", "COXSWAIN_A", "COXSWAIN_N", "COXSWAIN_TASK"))}
        patch = unittest.mock.patch.dict(os.environ, kept, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def test_is_distributed_initialized(self):
        code = ("import sys\n"
                "from coxswain import jax_compat\n"
                "before = jax_compat.is_initialized()\n"
                "jax_compat.initialize(sys.argv[1], 1, 0)\n"
                "print(before, jax_compat.is_initialized())\n"
                "try: jax_compat.initialize(sys.argv[1], 1, 0)\n"
                "except RuntimeError as problem: print(problem)\n"
                "jax_compat.shutdown()\n"
                "jax_compat.shutdown()\n"
                "print(jax_compat.is_initialized())\n")
        output = self.out_of(self.python(code, a_free_address()))
        self.assertRegex(output, "False True\n.*only be called once.*\nFalse\n")

    def test_concurrent_initialize_and_shutdown(self):
        for num in (1, 2, 4):
            address = a_free_address()
            states = [jax_compat.State() for _ in range(num)]

            def work(me):
                states[me].initialize(address, num, me, cluster_detection_method="deactivate",
                                      initialization_timeout=LIMIT)
                states[me].shutdown()

            together(*(lambda me=me: work(me) for me in range(num)))

    def test_two_processes_reuse_an_address_repeatedly(self):
        address = a_free_address()
        programs = [self.python(AGAIN, address, task, 5) for task in (0, 1)]
        for program in programs:
            self.assertEqual(self.out_of(program), "ready\n" * 5)

    def test_a_task_that_is_killed_and_restarted_is_in_the_next_attempt(self):
        address = a_free_address()
        # Not in a call, whose error could end the process first.
        code = "import time\n" + AGAIN.replace(
            "jax_compat.global_state.client.wait_at_barrier('b', 60_000)", "time.sleep(1000)")
        first, second = (self.python(code, address, task, 1) for task in (0, 1))
        self.assertEqual(first.stdout.readline() + second.stdout.readline(), "ready\n" * 2)

        second.kill()
        second = self.python(AGAIN, address, 1, 1)
        self.assertEqual(first.wait(LIMIT), -signal.SIGABRT)
        first = self.python(AGAIN, address, 0, 1)

        for program in (first, second):
            self.assertEqual(self.out_of(program), "ready\n")

    def test_process_0_waits_for_a_coordinator_with_a_failed_job_to_end(self):
        there = self.coordinator(1)
        self.client(there, 0).join()
        there.task_ended(0, coxswain.Code.INTERNAL, "crashed")
        eventually(lambda: there.error)
        state = jax_compat.State()
        threading.Timer(0.5, there.stop).start()

        state.initialize(there.address, 1, 0, initialization_timeout=LIMIT)

        self.assertIsNotNone(state.service)
        state.shutdown()

    def test_a_coordinator_that_ends_before_it_is_joined_is_replaced(self):
        client = jax_compat.get_distributed_runtime_client(a_free_address(), 0, init_timeout=LIMIT)
        calls = []

        def host():
            calls.append(None)
            if len(calls) == 2:
                service = jax_compat.get_distributed_runtime_service(client._address, 1)
                self.addCleanup(service.shutdown)

        client.connect_with(host)

        self.assertEqual(len(calls), 2)
        client.shutdown()

    def test_initialize_times_out_with_the_last_error(self):
        there = self.coordinator(1)
        self.client(there, 0).join()
        there.task_ended(0, coxswain.Code.INTERNAL, "crashed")
        eventually(lambda: there.error)
        with self.assertRaisesRegex(RuntimeError, "^ABORTED: the job has failed: .*crashed"):
            jax_compat.State().initialize(there.address, 1, 0, initialization_timeout=1)

    def test_the_bind_address_may_be_the_seventh_argument_as_in_older_jax(self):
        address = a_free_address()
        for bind in (address, None):
            state = jax_compat.State()
            state.initialize("localhost:" + address.rpartition(":")[2], 1, 0, None, None, LIMIT, bind)
            self.assertEqual(state.service.address == address, bind is not None)
            state.shutdown()

    def test_missing_arguments_come_from_the_environment(self):
        os.environ |= {"JAX_COORDINATOR_ADDRESS": a_free_address(), "JAX_NUM_PROCESSES": "1",
                       "JAX_PROCESS_ID": "0", "JAX_PARTITION_INDEX": "3",
                       "JAX_COORDINATOR_BIND_ADDRESS": "127.0.0.1:0"}
        os.environ["JAX_COORDINATOR_BIND_ADDRESS"] = os.environ["JAX_COORDINATOR_ADDRESS"]
        state = jax_compat.State()
        state.initialize()
        self.assertEqual((state.process_id, state.num_processes, state.partition_index), (0, 1, 3))
        state.shutdown()

    def test_process_0_uses_a_running_coordinator(self):
        there = self.coordinator(2, job="night", token="pull")
        os.environ |= {"COXSWAIN_JOB": "night", "COXSWAIN_TOKEN": "pull",
                       "JAX_COORDINATOR_ADDRESS": there.address}
        states = [jax_compat.State() for _ in range(2)]

        together(*(lambda me=me: states[me].initialize(
            num_processes=2, process_id=me, initialization_timeout=LIMIT) for me in (0, 1)))

        self.assertIsNone(states[0].service)
        self.assertEqual([one.state for one in there.status().tasks], ["connected"] * 2)
        together(*(one.shutdown for one in states))

    def test_losing_the_coordinator_names_the_hosting_process(self):
        code = ("import os, sys\n"
                "from coxswain import jax_compat\n"
                "jax_compat.initialize(sys.argv[1], 2, int(sys.argv[2]))\n"
                "print('ready', flush=True)\n"
                "try:\n"
                "    jax_compat.global_state.client.blocking_key_value_get('never', 5000)\n"
                "except RuntimeError as problem:\n"
                "    print(problem, flush=True)\n"
                "os._exit(0)\n")
        address = a_free_address()
        first, second = (self.python(code, address, task) for task in (0, 1))
        self.assertEqual(first.stdout.readline() + second.stdout.readline(), "ready\n" * 2)

        first.kill()

        _, err = second.communicate(timeout=LIMIT)
        self.assertIn(f"coordinator at {address} (in the process of task 0)", err)

    def test_a_token_and_a_token_file_together_are_refused(self):
        os.environ |= {"COXSWAIN_TOKEN": "pull", "COXSWAIN_TOKEN_FILE": "/no/such/file"}
        with self.assertRaisesRegex(Exception, "COXSWAIN_TOKEN and COXSWAIN_TOKEN_FILE .*are both set"):
            jax_compat.State().initialize(a_free_address(), 1, 0)

    def test_a_coordinator_of_another_job_is_not_used(self):
        there = self.coordinator(2)
        os.environ |= {"COXSWAIN_JOB": "night"}
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: .*'night'"):
            jax_compat.State().initialize(there.address, 2, 0)
        del os.environ["COXSWAIN_JOB"]
        with self.assertRaisesRegex(RuntimeError, "^FAILED_PRECONDITION: .* has 2 [(]"):
            jax_compat.State().initialize(there.address, 3, 0)

    def test_another_program_at_the_address_is_named(self):
        for reply in (b"HTTP/1.0 400 Bad Request\r\n\r\n", b""):
            with self.subTest(reply), socket.create_server(("127.0.0.1", 0)) as other:
                threading.Thread(target=answer_all, args=(other, reply), daemon=True).start()
                address = f"127.0.0.1:{other.getsockname()[1]}"
                with impatient(), self.assertRaisesRegex(
                        RuntimeError, "^UNKNOWN: cannot start server .*in use.*"
                        f"No coordinator answers at {address}"):
                    jax_compat.State().initialize(address, 1, 0)

    def test_a_coordinator_that_started_meanwhile_is_used(self):
        address = a_free_address()
        started = []

        def too_late(*_, **__):
            if not started:
                started.append(self.coordinator(1, listen=address))
            return coordinator(*_, **__)

        coordinator = jax_compat._service.Coordinator
        with unittest.mock.patch.object(jax_compat._service, "Coordinator", too_late):
            state = jax_compat.State()
            state.initialize(address, 1, 0, initialization_timeout=LIMIT)
        self.assertIsNone(state.service)
        state.shutdown()

    def test_missing_or_invalid_arguments_are_reported(self):
        for arguments, kind, text in (
                ((), ValueError, "coordinator_address"),
                (("h:1",), ValueError, "Number of processes"),
                (("h:1", 2), ValueError, "process id"),
                (("h:1", 2, 2), ValueError, "2 is not among"), (("h:1", 2, -1), ValueError, "-1"),
                (("h:1", "2", 0), TypeError, "num_processes"), (("h:1", 2, 0.5), TypeError, "id"),
                (("nowhere", 2, 0), IndexError, "")):
            with self.subTest(arguments), self.assertRaisesRegex(kind, text):
                jax_compat.State().initialize(*arguments)
        os.environ["JAX_LOCAL_DEVICE_IDS"] = "0,x"
        with self.assertRaises(ValueError):
            jax_compat.State().initialize("h:1", 1, 0)

    def test_values_missing_from_a_launcher_are_named_with_what_to_set(self):
        os.environ |= {"PMIX_RANK": "1"}
        with self.assertRaisesRegex(ValueError, "coordinator_address .*Set COXSWAIN_ADDRESS"):
            jax_compat.State().initialize()
        with self.assertRaisesRegex(ValueError, "Number of processes .*Set COXSWAIN_NUM_TASKS"):
            jax_compat.State().initialize("h:1")

    def test_a_launcher_can_be_chosen_by_name(self):
        address = a_free_address()
        port = address.rpartition(":")[2]
        os.environ |= {"JAX_COORDINATOR_PORT": port,
                       "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://192.0.2.1:34911",
                       "OMPI_COMM_WORLD_SIZE": "7", "OMPI_COMM_WORLD_RANK": "5",
                       "OMPI_COMM_WORLD_LOCAL_RANK": "5",
                       "SLURM_JOB_ID": "4711", "SLURM_STEP_NODELIST": "127.0.0.1",
                       "SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
        for method in ("slurm", "Slurm"):
            state = jax_compat.State()
            state.initialize(address, cluster_detection_method=method)
            self.assertEqual((state.process_id, state.num_processes), (0, 1))
            state.shutdown()
        for absent in ("k8s", "nonesuch"):
            with self.assertRaises(ValueError), self.assertLogs("coxswain.jax_compat", "ERROR"):
                jax_compat.State().initialize(address, cluster_detection_method=absent)

    def test_slice_index_is_deprecated(self):
        with self.assertWarns(DeprecationWarning), self.assertRaises(ValueError):
            jax_compat.State().initialize("h:1", slice_index=1)

    def test_install_replaces_the_module_in_jax(self):
        code = ("import sys\n"
                "from coxswain import jax_compat\n"
                "assert 'jax' not in sys.modules\n"
                "import jax\n"
                "from jax._src import distributed\n"
                "from jax._src.distributed import global_state\n"
                "jax_compat.install()\n"
                "distributed.initialize(sys.argv[1], 1, 0)\n"
                "assert jax.distributed.is_initialized()\n"
                "assert distributed.State is jax_compat.State\n"
                "jax_compat.install()\n"
                "assert global_state is distributed.global_state\n"
                "client = global_state.client\n"
                "assert isinstance(client, jax_compat.DistributedRuntimeClient)\n"
                "assert global_state.preemption_sync_manager.reached_sync_point(1) is False\n"
                "assert (jax.process_index(), jax.process_count()) == (0, 1)\n"
                "try: client.blocking_key_value_get('k', 1)\n"
                "except jax.errors.JaxRuntimeError as what: problem = what\n"
                "print(problem)\n"
                "assert isinstance(problem, jax_compat.JaxRuntimeError)\n"
                "import pickle\n"
                "again = pickle.loads(pickle.dumps(problem))\n"
                "assert isinstance(again, jax.errors.JaxRuntimeError) and str(again) == str(problem)\n"
                "global_state.shutdown()\n"
                "assert global_state.client is None and not jax.distributed.is_initialized()\n"
                "global_state.initialize(sys.argv[2], 1, 0)\n"
                "assert jax.distributed.is_initialized()\n"
                "assert isinstance(global_state.client, jax_compat.DistributedRuntimeClient)\n"
                "jax_compat.shutdown()\n"
                "assert global_state.client is None\n"
                "global_state.client = object()\n"
                "assert jax.distributed.is_initialized()\n")
        path = os.pathsep.join([str(STANDIN), *sys.path])
        output = self.out_of(self.python(code, a_free_address(), a_free_address(),
                                       PYTHONPATH=path))
        self.assertTrue(output.startswith("DEADLINE_EXCEEDED: "), output)

    def test_install_replaces_earlier_imports(self):
        code = ("import sys\n"
                "from jax.distributed import initialize, is_initialized, shutdown\n"
                "from coxswain import jax_compat\n"
                "jax_compat.install()\n"
                "initialize(sys.argv[1], 1, 0, coordinator_bind_address=sys.argv[1])\n"
                "assert isinstance(jax_compat.global_state.client,\n"
                "                  jax_compat.DistributedRuntimeClient)\n"
                "assert is_initialized()\n"
                "shutdown()\n"
                "assert not is_initialized() and not jax_compat.is_initialized()\n"
                "print('ours')\n")
        path = os.pathsep.join([str(STANDIN), *sys.path])
        self.assertEqual(self.out_of(self.python(code, a_free_address(), PYTHONPATH=path)), "ours\n")

    def test_an_uncaught_exception_still_enters_the_shutdown(self):
        address = a_free_address()
        code = ("import sys\n"
                "from coxswain import jax_compat\n"
                "jax_compat.initialize(sys.argv[1], 2, int(sys.argv[2]))\n"
                "if sys.argv[2] == '1': raise RuntimeError('uncaught')\n")
        programs = [self.python(code, address, task) for task in (0, 1)]
        start = time.monotonic()
        self.out_of(programs[0])
        self.assertEqual(programs[1].wait(LIMIT), 1)
        self.assertLess(time.monotonic() - start, LIMIT)


if __name__ == "__main__":
    main()
