#!/usr/bin/env python3
"""Every call of both clients: the blocking one and the one for asyncio. Not here: what the calls do
(the tests of the core), and what only one of the clients has.
"""

import asyncio
import contextlib
import datetime
import inspect
import os
import sys
import threading

import coxswain
from support import LIMIT, PythonTest, eventually, main, together


class Calls:
    """How the calls of a client are made: `do` waits for a result, `together` for several."""

    def __init__(self, test, client):
        self.test, self.client_type = test, client
        self.loop = asyncio.new_event_loop()

    def do(self, result):
        if inspect.isawaitable(result):
            return self.loop.run_until_complete(asyncio.ensure_future(result, loop=self.loop))
        return result

    def together(self, *calls):
        if self.client_type is coxswain.Client:
            return together(*calls)

        async def all_of():
            return await asyncio.gather(*(call() for call in calls))

        return self.do(all_of())

    def client(self, to, task=None, **settings):
        made = self.client_type(to.address, task, **settings)
        if self.client_type is coxswain.AsyncClient:
            self.do(made.connect())
        self.test.addCleanup(made.close)
        return made

    @contextlib.contextmanager
    def within(self, block):
        """The block of `with` or of `async with`."""
        if self.client_type is coxswain.Client:
            with block as entered:
                yield entered
            return
        entered = self.do(block.__aenter__())
        try:
            yield entered
        except BaseException:
            if not self.do(block.__aexit__(*sys.exc_info())):
                raise
        else:
            self.do(block.__aexit__(None, None, None))

    def pair(self, to):
        """Two joined clients."""
        made = [self.client(to, task) for task in range(2)]
        self.together(*(one.join for one in made))
        return made


class EveryCall(PythonTest):
    def each_client(self):
        for client in coxswain.Client, coxswain.AsyncClient:
            with self.subTest(client.__name__):
                calls = Calls(self, client)
                yield calls
                self.doCleanups()
                calls.do(calls.loop.shutdown_asyncgens())
                calls.loop.close()

    def test_keys(self):
        for calls in self.each_client():
            do, job = calls.do, calls.client(self.coordinator())
            self.assertEqual(do(job.put("a/b", "text")), 1)
            self.assertEqual(do(job.get("a/b")), b"text")
            with self.assertRaisesRegex(coxswain.AlreadyExists, "key a/b already exists"):
                do(job.put("a/b", b"other"))
            self.assertEqual(do(job.put("a/b", b"\x00\xff", overwrite=True)), 2)
            self.assertEqual(do(job.try_get("a/b")), b"\x00\xff")
            self.assertIsNone(do(job.try_get("a/c")))
            with self.assertRaises(TimeoutError):
                do(job.get("a/c", timeout=0.01))
            with self.assertRaises(TypeError):
                do(job.get("a/c", timeout="soon"))
            do(job.put_all({"d/1": "x", "d/2/3": "y", "e": "z"}))
            self.assertEqual([(one.key, one.value) for one in do(job.list("d"))],
                             [("d/1", b"x"), ("d/2/3", b"y")])
            self.assertEqual(do(job.count()), 4)
            self.assertEqual([one.value for one in do(job.get_all(["e", "d/1"]))], [b"z", b"x"])
            self.assertIs(do(job.remove("d")), False)
            self.assertIs(do(job.remove("d/1")), True)
            self.assertEqual(do(job.remove_tree("d")), 1)
            for remove in (job.remove, job.remove_tree):
                with self.assertRaises(coxswain.InvalidArgument):
                    do(remove(""))
            self.assertEqual(do(job.remove_tree("", all=True)), 2)
            swap = do(job.compare_and_set("k", "1"))
            self.assertTrue(swap)
            self.assertEqual(do(job.compare_and_set("k", "2")).found, b"1")
            self.assertTrue(do(job.compare_and_set("k", "2", version=swap.version)))
            self.assertTrue(do(job.compare_and_set("k", "3", expected="2")))
            with self.assertRaises(TypeError):
                do(job.compare_and_set("k", "4", version=1, expected="3"))
            do(job.append("k", b"45"))
            self.assertEqual(do(job.increment("k", -5)), 340)
            with self.assertRaises(OverflowError):
                do(job.increment("k", 2**63 - 1))

    def test_watches(self):
        for calls in self.each_client():
            do, job = calls.do, calls.client(self.coordinator())
            do(job.put("w/a", "1"))
            watch = job.watch("w")
            watch = do(watch) if inspect.isawaitable(watch) else watch
            self.assertEqual([one.key for one in do(watch.list())], ["w/a"])
            self.assertEqual(do(watch.next(0.01)), [])
            changes, _ = calls.together(lambda: watch.next(LIMIT), lambda: job.put("w/b", "2"))
            self.assertEqual([(one.key, one.value) for one in changes], [("w/b", b"2")])

    def test_queues_and_locks(self):
        for calls in self.each_client():
            at = self.coordinator()
            do, job, other = calls.do, calls.client(at), calls.client(at)
            popped, _ = calls.together(lambda: other.pop("q"), lambda: job.push("q", b"work"))
            self.assertEqual(popped.value, b"work")
            do(job.push("q", "a"))
            self.assertEqual(do(job.queue_length("q")), 1)
            item = do(other.take("q", timeout=LIMIT, lease=30))
            do(item.extend(60))
            do(item.finish())
            with self.assertRaises(coxswain.FailedPrecondition):
                do(item.extend())

            token = do(job.lock("l"))
            self.assertIsNone(do(other.try_lock("l")))
            with self.assertRaises(coxswain.PermissionDenied):
                do(other.unlock("l", token))
            later, _ = calls.together(lambda: other.lock("l"), lambda: job.unlock("l", token))
            self.assertGreater(later, token)
            with self.assertRaises(coxswain.FailedPrecondition):
                do(job.unlock("l", token))

    def test_an_item_or_lock_is_held_during_a_block(self):
        for calls in self.each_client():
            at = self.coordinator()
            do, job, other = calls.do, calls.client(at), calls.client(at)
            do(job.push("q", "a"))
            with self.assertRaises(KeyError), calls.within(job.take("q")):
                raise KeyError
            with calls.within(job.take("q")) as item:
                self.assertEqual((item.value, item.redeliveries), (b"a", 1))
            with self.assertRaises(TimeoutError):
                do(other.pop("q", 0))
            with calls.within(job.locked("l")) as lock:
                self.assertGreater(lock.token, 0)
                self.assertIsNone(do(other.try_lock("l")))
            self.assertIsNotNone(do(other.try_lock("l")))

    def test_what_is_dropped_goes_back_at_once(self):
        for calls in self.each_client():
            at = self.coordinator()
            do, job, other = calls.do, calls.client(at), calls.client(at)
            do(job.push("q", "a"))
            for redeliveries in range(3):
                item = do(job.take("q", LIMIT, lease=None))
                self.assertEqual(item.redeliveries, redeliveries)
                del item
            if calls.client_type is coxswain.Client:  # the other one is held by a block alone
                lock = job.locked("l")
                with self.assertRaises(TimeoutError):
                    other.lock("l", 0.01)
                del lock
                self.assertGreater(other.lock("l", LIMIT), 1)
            item = do(other.take("q", LIMIT))
            self.assertEqual((item.value, item.redeliveries), (b"a", 3))
            do(item.finish())
            del item
            self.assertEqual(do(job.status()).leased_items, 0)

    def test_a_closed_client_cancels_calls_and_keeps_neither_descriptors_nor_threads(self):
        def kept():
            return [len(os.listdir(f"/proc/self/{one}")) for one in ("fd", "task")]

        for calls in self.each_client():
            at = self.coordinator(2)
            before = kept()
            job = calls.client(at, 1)
            job.close()
            job.close()
            eventually(lambda: kept() <= before)  # the coordinator's side, too
            with self.assertRaises(coxswain.Cancelled):
                calls.do(job.get("k"))
            self.assertEqual((job.task, job.num_tasks, job.role, job.reconnects), (1, 2, "worker", 0))

    def test_barriers(self):
        for calls in self.each_client():
            jobs = calls.pair(self.coordinator(2))

            def each(call):
                first, second = calls.together(*(lambda job=job: call(job) for job in jobs))
                self.assertEqual(first, second)
                return first

            for round in (1, 2):
                self.assertEqual(each(lambda job: job.barrier("step")), round)
            self.assertEqual(each(lambda job: job.all_gather("g", f"from {job.task}")),
                             [b"from 0", b"from 1"])
            self.assertEqual(each(lambda job: job.reduce("i", job.task + 1)), 3)
            self.assertEqual(each(lambda job: job.reduce("f", job.task + 0.5, "max")), 1.5)
            self.assertEqual(each(lambda job: job.reduce("b", b"\x0f", "and")), b"\x0f")
            self.assertEqual(each(lambda job: job.all_equal("e", b"same")), 1)
            self.assertEqual(each(lambda job: job.count_barrier("c", 2)), 1)
            self.assertEqual([one.task for one in each(lambda job: job.alive_tasks())], [0, 1])
            devices = each(lambda job: job.exchange_topology(
                "cuda", coxswain.Topology([coxswain.Device(name=f"gpu {job.task}")], "here")))
            self.assertEqual([one.devices[0].name for one in devices], ["gpu 0", "gpu 1"])
            self.assertEqual(calls.do(jobs[1].barrier("mine", participants=[1])), 1)
            with self.assertRaises(ValueError):
                calls.do(jobs[0].reduce("r", 1, "mean"))
            with self.assertRaises(coxswain.FailedPrecondition):
                calls.do(jobs[0].cancel_barrier("step"))

    def test_failures_and_returns(self):
        for calls in self.each_client():
            at = self.coordinator(2, recoverable=True, return_timeout=600)
            do, jobs = calls.do, calls.pair(at)
            monitor = jobs[0].process_monitor()
            first = do(monitor.next())
            self.assertEqual(([one.state for one in first.tasks], first.lost),
                             (["connected"] * 2, ()))
            lost = coxswain.Process(1, jobs[1].incarnation)
            monitor.check_current([lost])
            do(jobs[1].report_error(coxswain.Code.INTERNAL, "broken"))
            self.assertEqual(do(monitor.next()).lost, (lost,))
            with self.assertRaises(coxswain.FailedPrecondition):
                monitor.check_current([lost])
            tasks = do(jobs[0].tasks())
            self.assertEqual(str(tasks[1].error), "INTERNAL: broken")
            self.assertEqual(do(jobs[0].tasks(tasks.version, timeout=0.01)).version, tasks.version)
            do(jobs[1].reset())
            do(jobs[1].join())
            self.assertEqual(do(jobs[0].tasks(tasks.version))[1].state, "connected")
            self.assertIsNone(do(jobs[0].failure(0.01)))

            do(jobs[0].leave(returning=True))
            self.assertEqual(do(jobs[1].tasks())[0].state, "returning")
            do(jobs[1].leave())
            self.assertEqual([one.state for one in at.status().tasks], ["returning", "left"])

    def test_the_failure_of_a_job(self):
        for calls in self.each_client():
            first, second = calls.pair(self.coordinator(2))
            second.close()
            self.assertEqual(calls.do(first.failure(LIMIT)).cause.task, 1)

    def test_steps_and_waits(self):
        for calls in self.each_client():
            at = self.coordinator(2)
            do, jobs = calls.do, calls.pair(at)
            do(jobs[0].report_progress(7))
            self.assertEqual(do(jobs[1].status()).tasks[0].progress.step, 7)
            observer = self.client(at)
            waiting = threading.Thread(target=lambda: observer.get("k", LIMIT))
            waiting.start()
            eventually(lambda: do(jobs[1].why()).waits)
            self.assertEqual(do(jobs[1].why()).waits[0].kind, "get")
            do(jobs[1].put("k", "v"))
            waiting.join(LIMIT)
            events, through = do(jobs[0].events(severity="info"))
            self.assertTrue(any("joined" in one.kind for one in events), events)
            self.assertEqual(do(jobs[0].events(through, timeout=0.01)), ([], through))
            last, _ = do(jobs[0].events(last=1))
            self.assertEqual(last, events[-1:])
            self.assertEqual((last[0].count, last[0].first), (1, last[0].number))
            datetime.datetime.fromisoformat(last[0].time)
            do(jobs[0].preempt(within=datetime.timedelta(minutes=1), task=1))
            for step in range(1000):
                stops = [do(job.reached_sync_point(step)) for job in jobs]
                if any(stops):
                    break
            self.assertEqual(stops, [True, True])

    def test_a_job_is_drained_and_stopped(self):
        for calls in self.each_client():
            at = self.coordinator(2)
            do, jobs = calls.do, calls.pair(at)
            late = calls.client(at, 0)
            do(jobs[1].drain_job("upgrade"))
            with self.assertRaisesRegex(coxswain.FailedPrecondition, "draining since .*: upgrade"):
                do(late.join(LIMIT))
            do(jobs[0].put("k", "v"))
            do(jobs[1].stop_job())
            with self.assertRaisesRegex(coxswain.Unavailable, "the job was stopped: by task 1"):
                do(jobs[0].put("k", "v"))


if __name__ == "__main__":
    main()
