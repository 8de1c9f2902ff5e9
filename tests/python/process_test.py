#!/usr/bin/env python3
"""The package within its process: Ctrl-C, fork, interpreter exit, other threads."""

import inspect
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import coxswain
from support import LIMIT, PACKAGE, PythonTest, eventually, main, seconds_without_cpu, together

# Programs that are interrupted in each kind of call, selected by `wait`.
WAITS = """
import coxswain, sys, time
from support import seconds_without_cpu
address = sys.argv[1]
wait = sys.argv[2]
try:
    if wait in ("connect", "look up"):
        print("ready", flush=True)
        coxswain.Client("127.0.0.1:9" if wait == "connect" else "a.endless.invalid:9")
    elif wait == "listen":
        print("ready", flush=True)
        coxswain.Coordinator(1, listen="a.endless.invalid:9", insecure=True)
    elif wait == "wait_done":
        coordinator = coxswain.Coordinator(1)
        print("ready", flush=True)
        coordinator.wait_done()
    elif wait == "stop":
        import socket
        coordinator = coxswain.Coordinator(1)
        peer = socket.create_connection(("127.0.0.1", int(coordinator.address.rpartition(":")[2])))
        coxswain.Client(coordinator.address).close()  # who comes later is let in later
        print("ready", flush=True)
        coordinator.stop()  # the peer does not go away
    else:
        job = coxswain.Client(address, 0)
        print("ready", flush=True)
        if wait == "join":
            job.join()
        elif wait == "get":
            job.get("never", None)
        elif wait == "failure":
            job.failure()
        elif wait == "watch":
            next(iter(job.watch()))
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), seconds_without_cpu("self"))
"""


class Signals(PythonTest):
    def test_ctrl_c_ends_each_kind_of_call_within_100_ms(self):
        at = self.coordinator(2)
        for wait in ("connect", "look up", "listen", "join", "get", "failure", "watch", "wait_done", "stop"):
            with self.subTest(wait):
                program = self.python(WAITS, at.address, wait,
                                      LD_PRELOAD=os.environ["COXSWAIN_ENDLESS_NAMES"])
                self.assertEqual(program.stdout.readline(), "ready\n")
                self.wait_until_idle(program)
                sent, without_cpu = time.monotonic(), seconds_without_cpu(program.pid)
                program.send_signal(signal.SIGINT)
                ended, without_cpu_then = map(float, self.out_of(program).split()[1:])
                # Other programs do not count.
                self.assertLess(ended - sent - (without_cpu_then - without_cpu), 0.1)

    def test_ctrl_c_ends_a_loop_of_short_calls(self):
        at = self.coordinator()
        program = self.python("""
import coxswain, sys
job = coxswain.Client(sys.argv[1])
try:
    while True:
        if job.increment("n") == 1000:
            print("ready", flush=True)
except KeyboardInterrupt:
    print("interrupted at", job.increment("n"))
""", at.address)
        self.assertEqual(program.stdout.readline(), "ready\n")

        program.send_signal(signal.SIGINT)

        self.assertIn("interrupted at", self.out_of(program))

    def wait_until_idle(self, program):
        """Waits until its main thread sleeps in a timed wait."""
        while True:
            with open(f"/proc/{program.pid}/syscall", encoding="ascii") as file:
                if file.read().split()[0] == "202":  # futex
                    return

    def test_a_signal_handler_that_does_not_raise_ends_no_call(self):
        job = self.client(self.coordinator())
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start = time.monotonic()
        with self.assertRaises(coxswain.DeadlineExceeded):
            job.get("never", 0.3)
        self.assertLess(seen[0] - start, 0.15)
        self.assertGreaterEqual(time.monotonic() - start, 0.3)

    def test_an_interrupted_call_is_cancelled(self):
        job = self.client(self.coordinator())
        self.raise_on_alarm()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with self.assertRaises(InterruptedError):
            job.pop("q", None)
        job.push("q", "kept")
        self.assertEqual(job.pop("q").value, b"kept")

    def raise_on_alarm(self):
        def interrupt(*_):
            raise InterruptedError

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.chance = random.Random(7)

    def interrupted(self, call):
        """Its result, or None if it was interrupted."""
        result = None
        try:
            signal.setitimer(signal.ITIMER_REAL, self.chance.uniform(2e-5, 3e-4))
            result = call()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except InterruptedError:
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        return result

    def test_what_is_handed_over_as_a_handler_raises_goes_back(self):
        at = self.coordinator()
        job, other = self.client(at), self.client(at)
        self.raise_on_alarm()
        interrupted = self.interrupted
        for i in range(300):
            for call in (job.lock, job.try_lock):
                token = interrupted(lambda: call(f"l{i}"))
                if token is None:
                    token = other.lock(f"l{i}", LIMIT)
                    other.unlock(f"l{i}", token)
                else:
                    job.unlock(f"l{i}", token)
            other.push(f"q{i}", "x")
            item = interrupted(lambda: job.pop(f"q{i}"))
            if item is None:
                item = other.pop(f"q{i}", LIMIT)
            self.assertEqual(item.value, b"x")
            other.push(f"q{i}", "y")
            item = interrupted(lambda: job.take(f"q{i}", lease=None))
            if item is None:
                item = other.take(f"q{i}", LIMIT)
            self.assertEqual(item.value, b"y")
            item.finish()
            lock = interrupted(lambda: job.locked(f"l{i}")) or other.locked(f"l{i}", LIMIT)
            lock.unlock()

    def test_changes_are_not_lost_with_an_interrupted_call(self):
        at = self.coordinator()
        job, other = self.client(at), self.client(at)
        watch = job.watch("d")
        self.raise_on_alarm()
        seen = []
        for i in range(300):
            other.put("d/k", str(i), overwrite=True)
            seen += self.interrupted(lambda: watch.next(LIMIT)) or []
        while len(seen) < 300:
            seen += watch.next(LIMIT)
        self.assertEqual([one.value for one in seen], [str(i).encode() for i in range(300)])


class Threads(PythonTest):
    def test_heartbeats_do_not_need_the_gil(self):
        at = self.coordinator(1, heartbeat_timeout=0.3)
        program = self.python(
            "import coxswain, ctypes, sys\n"
            "job = coxswain.Client(sys.argv[1], 0)\n"
            "job.join()\n"
            "ctypes.PyDLL(None).usleep(1500000)\n"  # holds the GIL
            "job.barrier('b')\n"
            "job.leave()\n"
            "print('alive')\n", at.address)
        self.assertEqual(self.out_of(program), "alive\n")

    def test_other_threads_run_while_one_waits(self):
        job = self.client(self.coordinator())
        waiting = threading.Thread(target=lambda: job.get("k", LIMIT))
        waiting.start()
        eventually(lambda: job.status().waiting_gets)
        job.put("k", "v")
        waiting.join(LIMIT)

    def test_threads_share_one_client(self):
        calls = int(os.environ.get("COXSWAIN_PYTHON_CALLS", "500"))
        at = self.coordinator()
        job = self.client(at, 0)
        job.join()

        def work(me):
            for i in range(calls):
                kind = (i + me) % 8
                key = f"t{me}/{i}"
                if kind == 0:
                    job.put(key, key)
                    assert job.get(key) == key.encode()
                elif kind == 1:
                    assert job.increment(f"count/{me}") >= 1
                elif kind == 2:
                    job.push(f"q{me}", key)
                    assert job.pop(f"q{me}").value == key.encode()
                elif kind == 3:
                    assert job.try_get(key) is None
                elif kind == 4:
                    assert job.barrier(f"b{me}") >= 1
                elif kind == 5:
                    try:
                        job.get(key, 0)
                        raise AssertionError("there is no such key")
                    except coxswain.DeadlineExceeded as problem:
                        assert key in str(problem), problem
                elif kind == 6:
                    assert job.all_gather(f"g{me}", key) == [key.encode()]
                else:
                    job.put(f"o{me}", str(i), overwrite=True)
                    assert job.list(f"o{me}") == [] and job.get(f"o{me}") == str(i).encode()
            return sum(1 for i in range(calls) if (i + me) % 8 == 1)

        counts = together(*(lambda me=me: work(me) for me in range(32)))

        for me, count in enumerate(counts):
            self.assertEqual(job.increment(f"count/{me}", 0), count)


class Ends(PythonTest):
    def test_a_forked_child_is_refused_without_harm(self):
        job = self.client(self.coordinator(), 0)
        job.join()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                job.get("k", 1)
            except coxswain.FailedPrecondition as problem:
                if "after fork" in str(problem):
                    job.close()
                    del job
                    code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(job.barrier("b"), 1)

    def test_the_death_of_a_process_is_noticed_despite_a_live_child(self):
        at = self.coordinator(2)
        code = ("import os, signal, sys\n"
                "import coxswain\n"
                "job = coxswain.Client(sys.argv[1], 1)\n"
                "job.join()\n"
                "job.barrier('joined')\n"
                "child = os.fork()\n"
                "if child == 0:\n"
                "    while True: signal.pause()\n"
                "print(child, flush=True)\n"
                "os.kill(os.getpid(), signal.SIGKILL)\n")
        program = self.python(code, at.address)
        job = self.client(at, 0)
        job.join()
        job.barrier("joined")
        child = int(program.stdout.readline())
        try:
            # The heartbeat timeout is 100 s.
            with self.assertRaises(coxswain.Internal) as failed:
                job.barrier("next", timeout=LIMIT)
        finally:
            os.kill(child, signal.SIGKILL)
        self.assertIn("the connection of task ", str(failed.exception))

    def test_a_forked_child_exits_at_once(self):
        code = ("import os, sys, threading, time\n"
                "import coxswain\n"
                "job = coxswain.Client(sys.argv[1])\n"
                "waits = threading.Thread(target=job.get, args=('k', 60), daemon=True)\n"
                "waits.start()\n"
                "while not job.status().waiting_gets: pass\n"
                "start = time.monotonic()\n"
                "if os.fork() == 0: sys.exit(0)\n"
                "os.wait()\n"
                "print(time.monotonic() - start < 4)\n")
        self.assertEqual(self.out_of(self.python(code, self.coordinator().address)), "True\n")

    def test_a_forked_child_leaves_a_with_block_without_effect(self):
        at = self.coordinator(recoverable=True)
        program = self.python(
            "import asyncio, coxswain, os, sys\n"
            "with coxswain.Client(sys.argv[1], 0) as job:\n"
            "    if (child := os.fork()) == 0: sys.exit(0)\n"
            "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
            "    job.put('k', 'v')\n", at.address)
        self.assertEqual(self.out_of(program), "0\n")

    def test_a_forked_child_gives_back_nothing_that_its_parent_holds(self):
        at = self.coordinator(recoverable=True)
        program = self.python(
            "import asyncio, coxswain, os, sys\n"
            "job = coxswain.Client(sys.argv[1])\n"
            "job.push('q', 'a')\n"
            "job.push('q', 'b')\n"
            "def leave_in_child():\n"
            "    dropped = job.take('q', lease=None)\n"
            "    with job.take('q', lease=None) as item, job.locked('l') as lock:\n"
            "        child = os.fork()\n"
            "        if child:\n"
            "            os.waitpid(child, 0)\n"
            "            print(job.status().leased_items, job.try_lock('l'))\n"
            "        dropped = None\n"
            "        return child\n"
            "if not leave_in_child(): os._exit(0)\n"
            "print(job.pop('q', 5).value, job.try_lock('l') is not None)\n", at.address)
        self.assertEqual(self.out_of(program), "2 None\nb'a' True\n")

    def test_ordinary_threads_do_not_keep_a_finished_program_alive(self):
        at = self.coordinator()
        for kind in ("threading.Thread(target=work).start()",
                     "[threading.Thread(target=work).start() for _ in range(4)]",
                     "concurrent.futures.ThreadPoolExecutor().submit(work)",
                     "(threading.Thread(target=work).start(),"
                     " __import__('concurrent.futures').futures.ThreadPoolExecutor().submit(work))",
                     "threading.Thread(target=lambda: asyncio.run(awaits())).start()",
                     "threading.Thread(target=coordinator.wait_done).start()"):
            for ends in "pass", "raise SystemExit(3)", "time.sleep(0.2)":
                with self.subTest(kind=kind, ends=ends):
                    program = self.python(
                        "import asyncio, coxswain, sys, threading, time\n"
                        f"{'import concurrent.futures' if kind.startswith('conc') else ''}\n"
                        "job = coxswain.Client(sys.argv[1])\n"
                        "coordinator = coxswain.Coordinator(1)\n"
                        "def work():\n"
                        "    try: job.pop('q', None)\n"
                        "    except coxswain.Cancelled as problem: print(problem)\n"
                        "async def awaits():\n"
                        "    other = await coxswain.AsyncClient(sys.argv[1]).connect()\n"
                        "    await other.pop('q', None)\n"
                        f"{kind}\n"
                        f"{ends}\n", at.address)
                    output = self.out_of(program, 3 if "Exit" in ends else 0)
                    if "work" in kind:
                        self.assertIn("main thread has ended", output)

    def test_a_thread_that_waits_during_the_import_of_pools_does_not_keep_them_alive(self):
        at = self.coordinator()
        program = self.python(
            "import coxswain, sys, threading, types\n"
            "job = coxswain.Client(sys.argv[1])\n"
            "def work(begins=lambda: None):\n"
            "    try: job.pop('q', 0.0)\n"
            "    except coxswain.DeadlineExceeded: pass\n"
            "    begins()\n"
            "    try: job.pop('q', None)\n"
            "    except coxswain.Cancelled as problem: print(problem)\n"
            "sys.modules['concurrent.futures.thread'] = types.ModuleType('begun')\n"
            "waits = threading.Event()\n"
            "threading.Thread(target=work, args=(waits.set,)).start()\n"
            "waits.wait()\n"
            "del sys.modules['concurrent.futures.thread']\n"
            "from concurrent.futures import ThreadPoolExecutor\n"
            "ThreadPoolExecutor().submit(work)\n", at.address)

        self.assertIn("main thread has ended", self.out_of(program))

    def test_the_interpreter_exits_while_threads_wait(self):
        at = self.coordinator()
        for _ in range(5):
            program = self.python(
                "import coxswain, sys, threading\n"
                "job = coxswain.Client(sys.argv[1])\n"
                "def wait():\n"
                "    try: job.get('never', None)\n"
                "    except coxswain.Cancelled: pass\n"
                "for _ in range(8): threading.Thread(target=wait, daemon=True).start()\n"
                "job.on_failure(print)\n"
                "inner = coxswain.Coordinator(1)\n"
                "while job.status().waiting_gets < 8: pass\n"
                "print('end')\n", at.address)
            self.assertEqual(self.out_of(program), "end\n")
            self.assertEqual(program.returncode, 0)

    def test_the_interpreter_exits_while_calls_complete(self):
        at = self.coordinator()
        for _ in range(10):
            program = self.python(
                "import coxswain, sys, threading\n"
                "job = coxswain.Client(sys.argv[1])\n"
                "def ask():\n"
                "    while True:\n"
                "        try: job.get('never', None)\n"
                "        except RuntimeError: pass\n"
                "for _ in range(8): threading.Thread(target=ask, daemon=True).start()\n"
                "for _ in range(4): job.on_failure(print)\n"
                "while job.status().waiting_gets < 8: pass\n"
                "job.close()\n", at.address)
            self.assertEqual(self.out_of(program), "")

    def test_the_interpreter_exits_within_asyncio(self):
        program = self.python(
            "import asyncio, coxswain\n"
            "async def main():\n"
            "    coordinator = coxswain.Coordinator(1)\n"
            "    job = await coxswain.AsyncClient(coordinator.address).connect()\n"
            "    asyncio.create_task(job.get('never'))\n"
            "    await job.put('k', 'v')\n"
            "asyncio.run(main())\n")
        self.out_of(program)

    def test_objects_can_be_destroyed_in_any_order(self):
        at = self.coordinator()
        job = coxswain.Client(at.address)
        watch = job.watch()
        monitor = job.process_monitor()
        del job
        self.assertEqual(watch.next(0.01), [])
        self.assertEqual(len(monitor.next().tasks), 1)


class Package(PythonTest):
    def test_import_is_fast_and_loads_few_modules(self):
        output = self.out_of(self.python(
            "import sys\n"
            "before = set(sys.modules)  # some installations import more of themselves than others\n"
            "import coxswain\n"
            "print([m for m in ('asyncio', 'dataclasses', 'google.protobuf', 'jax', 'numpy', 'torch',"
            " 'typing') if m in set(sys.modules) - before])"))
        self.assertEqual(output, "[]\n")

    def test_a_missing_or_foreign_native_module_is_reported(self):
        with tempfile.TemporaryDirectory() as directory:
            package = pathlib.Path(directory, "coxswain")
            shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
            module = next(package.glob("_native*.so"))
            other = module.rename(package / "_native.cpython-27m-x86_64-linux-gnu.so")
            for texts in ((other.name, f"needs {module.name}", "pip install ./src/python"),
                          ("is not built in", str(package), "build/release/python")):
                program = subprocess.run([sys.executable, "-B", "-c", "import coxswain.store"],
                                         env={**os.environ, "PYTHONPATH": directory},
                                         capture_output=True, text=True, timeout=LIMIT)
                self.assertIn("\nImportError: coxswain's native module", program.stderr)
                for text in texts:
                    self.assertIn(text, program.stderr)
                other.unlink(missing_ok=True)

    def test_a_subinterpreter_gets_an_import_error(self):
        for first in "", "import coxswain":
            program = self.python(
                f"{first}\n"
                "import _xxsubinterpreters as interpreters\n"
                "one = interpreters.create()\n"
                "interpreters.run_string(one, '''try: import coxswain\\nexcept ImportError as problem:"
                " print(problem, flush=True)''')\n"
                "interpreters.destroy(one)\n")
            self.assertIn("subinterpreter", self.out_of(program))

    def test_all_public_names_exist(self):
        for name in coxswain.__all__:
            self.assertIsNotNone(getattr(coxswain, name).__doc__, name)
        self.assertRegex(coxswain.__version__, r"^\d+\.\d+\.\d+$")
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_only_the_module_init_function_is_exported(self):
        module = next(PACKAGE.glob("_native*.so"))
        names = subprocess.run(["nm", "-D", "--defined-only", module], check=True, text=True,
                               capture_output=True).stdout
        self.assertEqual(re.findall(r" [A-Z] (\S+)", names), ["PyInit__native"])

    def test_both_clients_have_the_same_methods(self):
        def public(client):
            calls = {name: getattr(client, name) for name in dir(client) if name[0] != "_"}
            return {name: callable(call) and str(inspect.signature(call).replace(return_annotation=""))
                    for name, call in calls.items()}

        calls = public(coxswain.AsyncClient)
        calls.pop("connect")
        self.assertEqual(calls, public(coxswain.Client))


if __name__ == "__main__":
    main()
