"""Barriers, keys, watches and liveness by the address for JAX programs."""

import time
import unittest

from harness import GENERATIONS, LIMIT, WithAgents


class Barriers(WithAgents):

    def test_cancelling_with_counter_zero_ends_the_open_round(self):
        one, other = self.job(2)
        for _ in range(2):
            self.all_succeed([one, other], lambda a: a.barrier("b"))

        third = one.start_barrier("b")
        self.wait_for_arrivals("b", 1)
        one.cancel_barrier("b")

        problem = self.outcome(third)
        self.assertEqual((problem.code, problem.barrier), ("CANCELLED", ("b", 2)), problem)
        self.assertTrue(problem.is_by_service)

    def test_cancelling_a_barrier_that_is_not_open_is_refused(self):
        agent, = self.job(1)

        with self.fails("FAILED_PRECONDITION") as caught:
            agent.cancel_barrier("never")

        self.assertTrue(caught[0].is_by_service)

    def test_participants_must_agree(self):
        one, other = self.job(2)
        first = one.start_barrier("b", tasks=[0, 1])
        self.wait_for_arrivals("b", 1)

        with self.fails("INVALID_ARGUMENT", "Conflicting tasks specified"):
            other.barrier("b", tasks=[1])

        problem = self.outcome(first)
        self.assertEqual(problem.code, "INVALID_ARGUMENT", problem)

    def test_a_repeated_call_replaces_the_waiting_one(self):
        one, other = self.job(2)
        older = one.start_barrier("b")
        self.wait_for_arrivals("b", 1)

        newer = one.start_barrier("b")

        self.assertEqual(self.outcome(older).code, "CANCELLED")
        other.barrier("b")
        one.result_of(newer)
        one.result_of(one.start_barrier("b"))  # its outcome is still kept

    def test_deadlocks_of_jax_tasks_are_named(self):
        one, other = self.job(2)
        one.start_barrier("left")
        other.start_barrier("right")

        self.wait_for_status("both barriers", lambda s: len(s["barriers"]) >= 2)

        self.assertIn("deadlock", self.succeed("why").out)


class Keys(WithAgents):

    def test_keys_are_text_without_nul(self):
        agent, = self.job(1)
        for key in (b"\xff\xfe", b"a\0b"):
            with self.fails("INVALID_ARGUMENT"):
                agent.insert(key, b"")

    def test_abandoned_gets_stay_open_without_harm(self):
        agent, = self.job(1)
        waiting = [agent.start_get(f"never/{n}") for n in range(2000)]

        agent.insert("never/1999", b"now")

        self.assertEqual(agent.value_of(agent.result_of(waiting[-1])), b"now")
        self.assertIsNone(agent.error)

    def test_blocked_gets_end_when_the_job_fails(self):
        one, other = self.job(2)
        waiting = one.start_get("k")
        self.waits(waiting)

        other.report(2, "broken")

        self.assertEqual(self.outcome(waiting).code, "CANCELLED")
        one.insert("still", b"here")


class Watching(WithAgents):

    def test_states_are_returned_at_once_and_then_on_change(self):
        for generation in GENERATIONS:
            with self.subTest(generation=generation):
                agents = self.job(2, "--recoverable", "--reconnect-grace", "0", generation=generation,
                                  recoverable=generation == 2)
                version, states = agents[0].watch(-1)
                self.assertEqual(states, [3, 3])
                waiting = agents[0].start_watch(version)
                self.waits(waiting)

                agents[1].close()

                later, states = agents[0].states_of(agents[0].result_of(waiting))
                self.assertGreater(later, version)
                while states[1] == 3:  # suspect
                    later, states = agents[0].watch(later)
                self.assertEqual(states, [3, 4])
                self.stop(self.coordinator)

    def test_a_future_version_is_answered_at_once(self):
        agent, = self.job(1)

        self.assertEqual(agent.watch(1 << 40)[1], [3])


class Alive(WithAgents):

    def test_the_caller_must_be_among_the_queried_tasks(self):
        agent, _ = self.job(2)

        with self.fails("INVALID_ARGUMENT") as caught:
            agent.alive([1])

        self.assertFalse(caught[0].is_by_service)

    def test_the_time_limit_can_be_set(self):
        agent, _ = self.job(2, "--xla-alive-timeout", "200ms")

        begun = time.monotonic()
        with self.fails("DEADLINE_EXCEEDED"):
            agent.alive([0, 1])
        self.assertLess(time.monotonic() - begun, LIMIT)


class Strict(WithAgents):

    def test_a_second_process_of_a_live_task_fails_the_job(self):
        one, other = self.job(2, "--xla-strict", polls=True)
        again = self.agent(0)
        again.keep(again.start("RegisterTask", again.requests.register(), 10))

        self.assertTrue(one.has_failed.wait(LIMIT))
        self.assertTrue(other.has_failed.wait(LIMIT))


if __name__ == "__main__":
    unittest.main()
