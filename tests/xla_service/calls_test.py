"""Every call of JAX processes by their address, as jaxlib's agents of both generations make them."""

import time
import unittest

from harness import GENERATIONS, LIMIT, WithAgents


class Calls(WithAgents):

    def test_every_call(self):
        for generation in GENERATIONS:
            with self.subTest(generation=generation):
                one, other = self.job(2, generation=generation)
                self.assertEqual(one.heartbeat()[1], [one.requests.service_incarnation])
                waiting = one.start_get("d/k")
                self.waits(waiting)
                other.insert("d/k", b"v")
                self.assertEqual(one.value_of(one.result_of(waiting)), b"v")
                with self.fails("NOT_FOUND"):
                    one.try_get("none")
                with self.fails("INVALID_ARGUMENT"):
                    one.insert(b"\xff\xfe", b"")
                self.assertEqual(one.increment("n", 5), b"5")
                self.assertEqual([value for _, value in one.directory("d")], [b"v"])
                self.assertEqual(self.all([one, other], lambda a: a.barrier("b")), [0, 0])
                cancelled = one.start_barrier("b")
                self.wait_for_arrivals("b", 1)
                one.cancel_barrier("b")
                problem = self.outcome(cancelled)
                self.assertEqual((problem.code, problem.barrier), ("CANCELLED", ("b", 1)), problem)
                self.assertTrue(problem.is_by_service)
                version, states = one.watch(-1)
                self.assertEqual(states, [3, 3])
                waiting = one.start_watch(version)
                alive = self.all_succeed([one, other], lambda a: a.alive([0, 1]))
                self.assertEqual(alive[0], alive[1])

                other.report(8, "out of memory in step 7")

                self.assertEqual(one.states_of(one.result_of(waiting))[1], [3, 4])
                self.assertTrue(one.has_failed.wait(LIMIT))
                self.assertEqual((one.error.code, one.error.source_task), ("RESOURCE_EXHAUSTED", 1))
                self.assertIn("out of memory in step 7", one.error.text)
                self.assertTrue(one.error.is_reported)

    def test_the_time_limit_of_alive_tasks_can_be_set(self):
        agent, _ = self.job(2, "--xla-alive-timeout", "200ms")

        begun = time.monotonic()
        with self.fails("DEADLINE_EXCEEDED"):
            agent.alive([0, 1])
        self.assertLess(time.monotonic() - begun, LIMIT)


if __name__ == "__main__":
    unittest.main()
