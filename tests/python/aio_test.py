#!/usr/bin/env python3
"""The client for asyncio."""

import asyncio
import gc
import os
import threading
import time
import unittest

import coxswain
from support import LIMIT, PythonTest, main


class Asyncio(PythonTest, unittest.IsolatedAsyncioTestCase):
    async def client(self, to, task=None):
        job = await coxswain.AsyncClient(to.address, task).connect()
        self.addCleanup(job.close)
        return job

    async def test_the_missing_tasks_are_logged(self):
        coordinator = self.coordinator()
        job = await self.client(coordinator)
        with self.assertLogs("coxswain", "WARNING") as seen:
            with self.assertRaises(TimeoutError):
                await job.get("k", timeout=3)
        self.assertRegex(seen.records[0].getMessage(),
                         "^waiting: get of key 'k' has waited for [0-9.]+ s: key 'k' has no value$")

    async def test_a_context_manager_joins_and_leaves(self):
        at = self.coordinator(2)

        async def work(task):
            async with coxswain.AsyncClient(at.address, task, 2) as job:
                return (await job.barrier("b"), await job.all_gather("g", str(task)),
                        await job.reduce("r", 1), job.num_tasks, job.role)

        answers = await asyncio.gather(work(0), work(1))

        self.assertEqual(answers, [(1, [b"0", b"1"], 2, 2, "worker")] * 2)
        self.assertTrue(at.wait_done(LIMIT))

    async def test_no_call_has_a_thread_of_its_own(self):
        job = await self.client(self.coordinator())
        before = threading.active_count()
        with open("/proc/self/status", encoding="ascii") as status:
            native = [line for line in status if line.startswith("Threads")]
        waiting = [asyncio.create_task(job.get(f"k{i}")) for i in range(500)]
        while (await job.status()).waiting_gets < 500:
            pass
        self.assertEqual(threading.active_count(), before)
        with open("/proc/self/status", encoding="ascii") as status:
            self.assertEqual([line for line in status if line.startswith("Threads")], native)
        for i in range(500):
            await job.put(f"k{i}", str(i))
        self.assertEqual(await asyncio.gather(*waiting), [str(i).encode() for i in range(500)])

    async def test_a_cancelled_call_is_cancelled_at_the_coordinator(self):
        job = await self.client(self.coordinator())
        waiting = asyncio.create_task(job.get("never"))
        while (await job.status()).waiting_gets == 0:
            pass

        waiting.cancel()

        with self.assertRaises(asyncio.CancelledError):
            await waiting
        while (await job.status()).waiting_gets:
            pass
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(job.pop("q", timeout=None), 0.01)
        await job.push("q", "kept")
        self.assertEqual(await job.queue_length("q"), 1)
        self.assertEqual((await job.pop("q")).value, b"kept")

    async def test_an_item_arriving_during_cancellation_is_not_lost(self):
        at = self.coordinator()
        a, b = await self.client(at), await self.client(at)
        watch = await a.watch("d")
        popped, received = [], []

        async def pop():
            popped.append((await a.pop("q")).value)

        async def follow():
            received.extend(change.value for change in await watch.next())

        items = [str(i).encode() for i in range(300)]
        for i, item in enumerate(items):
            calls = [asyncio.create_task(pop()), asyncio.create_task(follow())]
            await asyncio.sleep(0)
            await b.push("q", item)
            await b.put("d/k", item, overwrite=True)
            for _ in range(i % 5):
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        while len(popped) < len(items):
            popped.append((await a.pop("q", LIMIT)).value)
        while not received or received[-1] != items[-1]:
            received.extend(change.value for change in await watch.next(LIMIT))

        self.assertEqual((popped, received), (items, items))

    async def test_what_meets_a_cancel_is_free_for_others_at_once(self):
        at = self.coordinator()
        async with coxswain.AsyncClient(at.address, 0) as a, coxswain.AsyncClient(at.address) as b:
            async def taken():
                return await a.take("t", lease=None)

            for i in range(200):
                token = await b.lock("l", LIMIT)
                calls = [asyncio.ensure_future(call) for call in (
                    a.lock("l"), a.pop("q"), a.try_lock("m"), taken())]
                await asyncio.sleep(0)
                await b.unlock("l", token)
                await b.push("q", str(i))
                await b.push("t", str(i))
                for _ in range(i % 7):
                    await asyncio.sleep(0)
                for call in calls:
                    call.cancel()
                lock, item, tried, lent = await asyncio.gather(*calls, return_exceptions=True)
                if isinstance(item, BaseException):
                    item = await b.pop("q", LIMIT)
                self.assertEqual(item.value, str(i).encode())
                if isinstance(lent, BaseException):
                    lent = await b.take("t", LIMIT)
                self.assertEqual(lent.value, str(i).encode())
                await lent.finish()
                for name, held in ("l", lock), ("m", tried):
                    if not isinstance(held, BaseException):
                        await a.unlock(name, held)
                await b.unlock("m", await b.lock("m", LIMIT))

    async def test_an_unclaimed_item_returns_to_its_place(self):
        at = self.coordinator()
        b = coxswain.Client(at.address)  # while it waits, our loop is blocked
        self.addCleanup(b.close)
        async with coxswain.AsyncClient(at.address, 0) as a:
            call = asyncio.create_task(a.pop("q"))
            while not b.status().waiting_pops:
                await asyncio.sleep(0)
            b.push("q", "x")
            while b.status().waiting_pops:
                pass
            b.push("q", "y")
            time.sleep(0.1)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            while b.status().queued_items < 2:
                pass
            self.assertEqual([b.pop("q", LIMIT).value, b.pop("q", LIMIT).value], [b"x", b"y"])

    async def test_a_cancel_while_an_item_is_finished_or_a_block_ends_leaves_nothing_held(self):
        at = self.coordinator()
        async with coxswain.AsyncClient(at.address, 0) as a, coxswain.AsyncClient(at.address) as b:
            async def work():
                async with a.take("jobs", lease=None), a.locked("l"):
                    pass

            for i in range(50):
                await b.push("jobs", str(i))
                working = asyncio.create_task(work())
                for _ in range(i % 10):
                    await b.try_get("k")
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
                while (await b.status()).leased_items:
                    pass
                await b.unlock("l", await b.lock("l", LIMIT))
                if (await b.status()).queued_items:
                    self.assertEqual((await b.pop("jobs", LIMIT)).value, str(i).encode())

    async def test_a_dropped_client_leaks_no_descriptor(self):
        at = self.coordinator()
        for _ in range(3):
            job = await asyncio.wait_for(coxswain.AsyncClient(at.address).connect(), LIMIT)
            self.assertEqual(await job.try_get("k"), None)
            del job
            gc.collect()
        await asyncio.sleep(0)
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        readable = asyncio.Event()
        asyncio.get_running_loop().add_reader(reader, readable.set)
        os.write(writer, b"x")
        await asyncio.wait_for(readable.wait(), LIMIT)
        asyncio.get_running_loop().remove_reader(reader)

    async def test_connect_must_be_called_first_and_once(self):
        job = coxswain.AsyncClient(self.coordinator().address)
        job.close()
        for call in (lambda: job.task, lambda: job.watch()):
            with self.assertRaisesRegex(coxswain.FailedPrecondition, "not connected"):
                await call()
        await job.connect()
        self.addCleanup(job.close)
        with self.assertRaisesRegex(coxswain.FailedPrecondition, "connected before"):
            await job.connect()

    async def test_close_ends_awaited_calls(self):
        job = await self.client(self.coordinator())
        waiting = asyncio.create_task(job.get("never"))
        while (await job.status()).waiting_gets == 0:
            pass
        job.close()
        with self.assertRaises(coxswain.Cancelled):
            await waiting

    async def test_connecting_can_be_cancelled(self):
        connecting = asyncio.create_task(coxswain.AsyncClient("127.0.0.1:9").connect())
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(connecting, 0.05)


if __name__ == "__main__":
    main()
