#!/usr/bin/env python3
"""multihost: the cases of Orbax's own tests (with their names in ours). A job has 4 processes."""

import importlib.util
import os
import tempfile
import threading
import unittest

from coxswain import multihost
from support import LIMIT, PythonTest, main

# The program of each process of the job; the test's code follows.
PROLOGUE = """
import os, pathlib, sys, threading, time
import coxswain
from concurrent.futures import ThreadPoolExecutor
from coxswain import multihost
job = coxswain.Client(sys.argv[1], int(sys.argv[2]))
job.join()
multihost.use(job)
me = multihost.process_index()
assert multihost.process_count() == 4 and multihost.is_primary_host() == (me == 0)
assert multihost.is_primary_host(3) == (me == 3) and multihost.is_primary_host(None)
def refuses(kind, call, *arguments, **named):
    try: call(*arguments, **named)
    except kind as problem: return str(problem)
    raise AssertionError(f"no {kind}")
"""
EPILOGUE = """
job.leave()
print("done")
"""


class FourProcesses(PythonTest):
    def each(self, code, *arguments):
        at = self.coordinator(4)
        programs = [self.python(PROLOGUE + code + EPILOGUE, at.address, task, *arguments)
                    for task in range(4)]
        for program in programs:
            self.assertTrue(self.out_of(program).endswith("done\n"))

    def test_process_errors(self):
        self.each("if me == 1: refuses(ValueError, multihost.sync_global_processes, 'x',\n"
                  "                    processes={0})\n")

    def test_sync_global_processes(self):
        with tempfile.TemporaryDirectory() as directory:
            self.each("made = pathlib.Path(sys.argv[3]) / 'made'\n"
                      "if me == 0:\n"
                      "    time.sleep(0.3)\n"
                      "    made.mkdir()\n"
                      "multihost.sync_global_processes('made', record_event_name='/sync')\n"
                      "assert made.exists()\n", directory)

    def test_a_wait_can_be_unlimited(self):
        self.each("multihost.sync_global_processes('x', float('inf'))\n"
                  "refuses(ValueError, multihost.sync_global_processes, 'y', float('nan'))\n"
                  "refuses(TypeError, multihost.sync_global_processes, 'y', '5')\n")

    def test_reused_barrier_key(self):
        self.each("for _ in range(2): multihost.sync_global_processes('[op=save] a b:c')\n"
                  "if me < 2: multihost.sync_global_processes('a b:c', operation_id='save')\n"
                  "else: multihost.sync_global_processes('[op=save] a b:c')\n")

    def test_not_all_processes_arrived_at_barrier(self):
        self.each("if me == 0:\n"
                  "    text = refuses(TimeoutError, multihost.sync_global_processes, 'x', 0.2)\n"
                  "    assert '3 of 4 tasks are missing: 1' in text, text\n")

    def test_sequential_execution_and_test_parallel_execution(self):
        self.each("def late(name):\n"
                  "    if me == 0: time.sleep(1)\n"
                  "    multihost.sync_global_processes(name)\n"
                  "multihost.sync_global_processes('begin')\n"
                  "start = time.monotonic()\n"
                  "late('a'); late('b')\n"
                  "assert me != 0 or time.monotonic() - start >= 2\n"
                  "start = time.monotonic()\n"
                  "with ThreadPoolExecutor(2) as threads: list(threads.map(late, 'cd'))\n"
                  "assert time.monotonic() - start < 2\n")

    def test_interlocking_different_barrier_names(self):
        self.each("if me == 0:\n"
                  "    multihost.sync_global_processes('first')\n"
                  "    time.sleep(0.2)\n"
                  "else:\n"
                  "    time.sleep(0.2)\n"
                  "    multihost.sync_global_processes('first')\n"
                  "multihost.sync_global_processes('last')\n")

    def test_subsets_sync_alone(self):
        self.each("if me in (1, 3):\n"
                  "    wait = multihost.get_barrier_sync_fn([3, 1])\n"
                  "    wait(key='unique-barrier', timeout_ms=10_000)\n"
                  "multihost.sync_global_processes('mine', processes={me})\n")

    def test_process_ids_are_exchanged(self):
        self.each("refuses(ValueError, multihost.distributed_to_device_ids)\n"
                  "refuses(ValueError, multihost.runtime_to_distributed_ids)\n"
                  "assert not multihost.is_distributed_to_device_ids_initialized()\n"
                  "assert not multihost.is_runtime_to_distributed_ids_initialized()\n"
                  "for _ in range(2):\n"
                  "    multihost.initialize_distributed_to_device_ids([2 * me, 2 * me + 1])\n"
                  "assert multihost.distributed_to_device_ids() == [[0, 1], [2, 3], [4, 5], [6, 7]]\n"
                  "class Device:\n"
                  "    def __init__(self, process): self.process_index = process\n"
                  "devices = [Device(0), Device(1), Device(0)]\n"
                  "assert multihost.unique_processes_from_devices(devices) == {0, 1}\n"
                  "assert multihost.process_index_from_device(devices[1]) == 1\n"
                  "multihost.initialize_runtime_to_distributed_ids(3 - me)\n"
                  "assert multihost.is_distributed_to_device_ids_initialized()\n"
                  "assert multihost.is_runtime_to_distributed_ids_initialized()\n"
                  "assert multihost.process_index_from_device(devices[1]) == 2\n"
                  "assert multihost.unique_processes_from_devices(devices) == {2, 3}\n"
                  "assert multihost.get_jax_distributed_client() is job\n"
                  "assert multihost.runtime_to_distributed_ids() == [3, 2, 1, 0]\n"
                  "assert multihost.runtime_to_distributed_process_id(0) == 3\n")

    def test_jax_knows_the_ids_of_this_process(self):
        self.each("import types\n"
                  "refuses(ValueError, multihost.initialize_distributed_to_device_ids)\n"
                  "jax = sys.modules['jax'] = types.ModuleType('jax')\n"
                  "jax.local_devices = lambda: [types.SimpleNamespace(id=10 + me)]\n"
                  "jax.process_index = lambda: 3 - me\n"
                  "multihost.initialize_distributed_to_device_ids()\n"
                  "multihost.initialize_runtime_to_distributed_ids()\n"
                  "assert multihost.distributed_to_device_ids() == [[10], [11], [12], [13]]\n"
                  "assert multihost.runtime_to_distributed_ids() == [3, 2, 1, 0]\n")

    def test_without_jax_a_process_has_its_own_number(self):
        self.each("multihost.initialize_runtime_to_distributed_ids()\n"
                  "assert multihost.runtime_to_distributed_ids() == [0, 1, 2, 3]\n")

    def test_broadcast_one_to_all(self):
        self.each("assert multihost.broadcast_one_to_all(b'from %d' % me) == b'from 0'\n"
                  "assert multihost.broadcast_one_to_all(b'%d' % me, me == 2) == b'2'\n"
                  "refuses(ValueError, multihost.broadcast_one_to_all, b'x', is_source=True)\n"
                  "assert multihost.global_max([me, -me, 7]) == [3, 0, 7]\n")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "this interpreter has no numpy")
    def test_broadcast_one_to_all_of_numbers(self):
        self.each("import numpy\n"
                  "mine = {'a': numpy.full((2, 3), me, numpy.float32), 'b': (me, [me + 0.5])}\n"
                  "all = multihost.broadcast_one_to_all(mine, is_source=me == 1)\n"
                  "assert (all['a'] == 1).all() and all['a'].dtype == numpy.float32\n"
                  "assert all['a'].shape == (2, 3) and all['a'].flags.writeable\n"
                  "assert all['b'][0] == 1 and all['b'][1][0] == 1.5\n"
                  "refuses(TypeError, multihost.broadcast_one_to_all, object())\n"
                  "from collections import namedtuple\n"
                  "Pair = namedtuple('Pair', 'first second')\n"
                  "both = multihost.broadcast_one_to_all(Pair(numpy.int64(me), None))\n"
                  "assert isinstance(both, Pair) and both.first == 0 and both.second is None\n"
                  "mine = numpy.arange(4) if me == 0 else numpy.arange(8, dtype=numpy.float32)\n"
                  "if me == 0: assert (multihost.broadcast_one_to_all(mine) == mine).all()\n"
                  "else: refuses(ValueError, multihost.broadcast_one_to_all, mine)\n"
                  "refuses(TypeError, multihost.global_max, [1.7])\n")

    def test_signals(self):
        self.each("signals = multihost.get_signaling_client()\n"
                  "assert signals is multihost.get_signaling_client()\n"
                  "assert signals.key_value_try_get('s/0') is None or me != 0\n"
                  "signals.key_value_set(f's/{me}', str(me), allow_overwrite=True)\n"
                  "assert signals.blocking_key_value_get('s/3', 10) == '3'\n"
                  "signals.wait_at_barrier('all', timeout_secs=10)\n"
                  "assert signals.key_value_dir_get('s/') == [(f's/{i}', str(i)) for i in range(4)]\n"
                  "refuses(ValueError, signals.key_value_dir_get, 's')\n"
                  "refuses(RuntimeError, signals.key_value_set, 's/0', 'x')\n"
                  "refuses(TimeoutError, signals.wait_at_barrier, f'b{me}', timeout_secs=0.01)\n"
                  "refuses(TimeoutError, signals.wait_at_barrier, f'c{me}', timeout_secs=10,\n"
                  "        process_ids=[(me + 1) % 4])\n"
                  "signals.wait_at_barrier('all', timeout_secs=10)\n"
                  "signals.key_value_delete('s/')\n"
                  "assert signals.key_value_try_get('s/1') is None\n")

    def test_waiting_for_the_signals_of_an_operation(self):
        self.each("Signal, Contract = multihost.HandlerAwaitableSignal, "
                  "multihost.AwaitableSignalsContract\n"
                  "made = [Signal.STEP_DIRECTORY_CREATION, Signal.ITEM_DIRECTORY_CREATION]\n"
                  "if me == 0:\n"
                  "    assert Contract.get_awaitable_signals_from_contract('7') == []\n"
                  "    Contract.add_to_awaitable_signals_contract([], '7')\n"
                  "    Contract.add_to_awaitable_signals_contract(made[:1], '7')\n"
                  "    Contract.add_to_awaitable_signals_contract(made, '7')\n"
                  "multihost.sync_global_processes('contract')\n"
                  "assert Contract.get_awaitable_signals_from_contract('7') == made\n"
                  "if me == 0:\n"
                  "    text = refuses(TimeoutError, multihost.wait_for_signals, made,\n"
                  "                   timeout_secs=0.01, operation_id='7')\n"
                  "    assert 'awaitable_signals_contract_7/step_directory_creation' in text, text\n"
                  "    for _ in range(2): multihost.set_signals(send_signals=made, operation_id='7')\n"
                  "multihost.wait_for_signals(receive_signals=made, timeout_secs=60,\n"
                  "                           operation_id='7')\n"
                  "multihost.sync_global_processes('seen')\n"
                  "if me == 0: Contract.remove_all_awaitable_signals('7')\n"
                  "multihost.sync_global_processes('removed')\n"
                  "assert Contract.get_awaitable_signals_from_contract('7') == []\n"
                  "assert job.list('awaitable_signals_contract_7/') == []\n")

    def test_the_default_operation_is_the_current_one(self):
        self.each("ids, Contract = multihost.OperationIdGenerator, "
                  "multihost.AwaitableSignalsContract\n"
                  "made = [multihost.HandlerAwaitableSignal.STEP_DIRECTORY_CREATION]\n"
                  "assert ids.get_current_operation_id() == '0'\n"
                  "assert [ids.next_operation_id(), ids.next_operation_id()] == ['1', '2']\n"
                  "assert ids.get_current_operation_id() == '2'\n"
                  "if me == 0:\n"
                  "    Contract.add_to_awaitable_signals_contract(made)\n"
                  "    multihost.set_signals(made)\n"
                  "multihost.wait_for_signals(made, timeout_secs=60)\n"
                  "assert Contract.get_awaitable_signals_from_contract('2') == made\n"
                  "assert Contract.get_awaitable_signals_from_contract() == made\n"
                  "multihost.sync_global_processes('seen')\n"
                  "if me == 0: Contract.remove_all_awaitable_signals()\n"
                  "multihost.sync_global_processes('removed')\n"
                  "assert Contract.get_awaitable_signals_from_contract() == []\n")

    def test_a_synchronized_value_takes_the_options_of_orbax(self):
        self.each("from types import SimpleNamespace as options\n"
                  "if me < 2:\n"
                  "    value = multihost.MultihostSynchronizedValue(\n"
                  "        None, multiprocessing_options=options(active_processes={0, 1},\n"
                  "        barrier_sync_key_prefix='p'), async_options=options(timeout_secs=60))\n"
                  "    value.set(5)\n"
                  "    assert value.get() == 5\n"
                  "hasty = multihost.MultihostSynchronizedValue(\n"
                  "    0, async_options=options(timeout_secs=0.1))\n"
                  "if me == 0: refuses(TimeoutError, hasty.set, 1)\n")

    def test_a_primary_decision_is_read_from_a_key_with_a_trailing_slash(self):
        self.each("signals = multihost.get_signaling_client()\n"
                  "for step, save in enumerate(('True', 'False')):\n"
                  "    key = f'7_continuous_checkpointing_policy_should_save_{step}/'\n"
                  "    for _ in range(2):\n"
                  "        if me == 0: signals.key_value_set(key, save, allow_overwrite=True)\n"
                  "    assert signals.blocking_key_value_get(key, 300) == save\n")

    def test_a_synchronized_value_is_set_by_all_together(self):
        self.each("value = multihost.MultihostSynchronizedValue(0, 'v')\n"
                  "def set(to): value.set(to)\n"
                  "for i in range(1, 20):\n"
                  "    setting = threading.Thread(target=set, args=[i])\n"
                  "    setting.start()\n"
                  "    setting.join()\n"
                  "    assert value.get() == i\n"
                  "late = multihost.MultihostSynchronizedValue('old', 'w', timeout=0.1)\n"
                  "if me == 0: refuses(TimeoutError, late.set, 'new')\n"
                  "assert late.get() == 'old'\n")

    def test_a_preemption_is_reached_by_all(self):
        self.each("if me == 2: job.preempt(60)\n"
                  "step = 0\n"
                  "while not multihost.reached_preemption(step):\n"
                  "    step += 1\n"
                  "    multihost.sync_global_processes('step')\n"
                  "assert len(set(job.all_gather('steps', str(step)))) == 1\n")


class Alone(PythonTest):
    def test_returns_false_when_service_disabled(self):
        self.assertFalse(multihost.reached_preemption(1))

    def test_without_a_client_there_is_one_process(self):
        self.assertEqual((multihost.process_index(), multihost.process_count()), (0, 1))
        self.assertTrue(multihost.is_primary_host())
        self.assertFalse(multihost.is_initialized())
        self.assertEqual(multihost.coordination_timeout(), 300)
        multihost.sync_global_processes("nobody waits")
        self.assertEqual(multihost.global_max([3, 1]), [3, 1])
        self.assertEqual(multihost.broadcast_one_to_all(b"x"), b"x")
        with self.assertRaises(ValueError):
            multihost.get_client()

    def test_get_barrier_sync_fn_skips_client_when_process_sync_is_skippable(self):
        self.assertTrue(multihost.should_skip_process_sync())
        multihost.get_barrier_sync_fn([0])(key="k", timeout_ms=1)

    def test_get_barrier_sync_fn_uses_client_for_non_skipped_subset(self):
        called = []

        class Recorder:
            task, num_tasks = 1, 4

            def barrier(self, *arguments):
                called.append(arguments)

        multihost.use(Recorder())
        self.addCleanup(multihost.use, None)
        multihost.get_barrier_sync_fn({3, 1})(key="unique-barrier", timeout_ms=123)
        multihost.get_barrier_sync_fn()(key="all", timeout_ms=2000)
        self.assertEqual(called, [("unique-barrier", 0.123, [1, 3]), ("all", 2.0, None)])

    def test_an_observer_is_no_process(self):
        with self.assertRaises(ValueError):
            multihost.use(self.client(self.coordinator()))

    def test_unique_barrier_keys(self):
        self.assertEqual(multihost.unique_barrier_key("k"), "k")
        self.assertEqual(multihost.unique_barrier_key("k", "p", "s"), "p_k.s")

    def test_get_signaling_client_needs_a_client_with_several_processes(self):
        before = os.environ.get("COXSWAIN_NUM_TASKS")
        os.environ["COXSWAIN_NUM_TASKS"] = "2"
        try:
            with self.assertRaises(RuntimeError):
                multihost.get_signaling_client()
        finally:
            del os.environ["COXSWAIN_NUM_TASKS"]
            if before is not None:
                os.environ["COXSWAIN_NUM_TASKS"] = before


class InProcess(PythonTest):
    def setUp(self):
        super().setUp()
        self.signals = multihost.InProcessSignalingClient()

    def test_set_overwrites_only_with_allow_overwrite(self):
        self.signals.key_value_set("k", "v")
        with self.assertRaisesRegex(KeyError, "Key 'k' already exists"):
            self.signals.key_value_set("k", "w")
        self.signals.key_value_set("k", "w", allow_overwrite=True)
        self.assertEqual(self.signals.key_value_try_get("k"), "w")

    def test_a_get_waits_and_times_out(self):
        got = []
        waiting = threading.Thread(
            target=lambda: got.append(self.signals.blocking_key_value_get("k", LIMIT)))
        waiting.start()
        with self.assertRaisesRegex(TimeoutError, "Timeout waiting for key 'other': timed out"):
            self.signals.blocking_key_value_get("other", 0.01)
        self.signals.key_value_set("other", "late")
        self.assertEqual(self.signals.key_value_try_get("other"), "late")
        self.signals.key_value_set("k", "v")
        waiting.join(LIMIT)
        self.assertEqual(got, ["v"])

    def test_directories(self):
        with self.assertRaisesRegex(ValueError, "^Directory key must end with a slash: 'd'$"):
            self.signals.key_value_dir_get("d")
        for key in ("d/", "d/a", "d/b/c", "e"):
            self.signals.key_value_set(key, key)
        self.assertEqual([key for key, _ in self.signals.key_value_dir_get("d/")],
                         ["d/", "d/a", "d/b/c"])
        with self.assertRaises(ValueError):
            self.signals.key_value_dir_get("d")
        self.signals.key_value_delete("d")
        self.assertIsNotNone(self.signals.key_value_try_get("d/a"))
        self.signals.key_value_delete("d/")
        self.assertEqual(self.signals.key_value_dir_get("d/"), [])
        self.signals.wait_at_barrier("b", timeout_secs=1)


if __name__ == "__main__":
    main()
