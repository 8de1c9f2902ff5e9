"""Barriers, keys, watches and liveness by the address for JAX programs."""

import time
import unittest

from harness import GENERATIONS, LIMIT, Agent, WithAgents


class Barriers(WithAgents):

    def test_a_name_can_be_reused_and_counters_are_echoed(self):
        agents = self.job(2, generation=GENERATIONS)

        for counter in range(3):
            self.assertEqual(self.all(agents, lambda a: a.barrier("b")), [counter] * 2)

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

    def test_a_timeout_names_the_missing_tasks(self):
        for generation in GENERATIONS:
            with self.subTest(generation=generation):
                agents = self.job(3, generation=generation)

                with self.fails("DEADLINE_EXCEEDED", "2") as caught:
                    self.raise_first(self.all(agents[:2], lambda a: a.barrier("b", timeout=0.2)))

                problem = caught[0]
                self.assertTrue(problem.text.startswith("Barrier timed out"), problem)
                self.assertEqual(problem.barrier, ("b", 0))
                # A late task gets that failure once, then all use the same round again.
                with self.fails("DEADLINE_EXCEEDED"):
                    agents[2].barrier("b")
                self.assertEqual(self.all(agents, lambda a: a.barrier("b")), [1] * 3)
                self.stop(self.coordinator)

    @staticmethod
    def raise_first(results):
        for result in results:
            if isinstance(result, Exception):
                raise result

    def test_only_participants_may_call(self):
        for generation in GENERATIONS:
            with self.subTest(generation=generation):
                agents = self.job(3, generation=generation)

                with self.fails("INVALID_ARGUMENT") as caught:
                    agents[1].barrier("some", tasks=[0, 2])

                self.assertTrue(caught[0].text.startswith("A non-participating task"), caught[0])
                self.assertEqual(caught[0].barrier, ("some", 0))
                some = [agents[0], agents[2]]
                self.assertEqual(self.all(some, lambda a: a.barrier("some", tasks=[2, 0])), [0, 0])
                self.stop(self.coordinator)

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

    def test_a_lost_task_fails_a_barrier_at_once_and_is_named(self):
        agents = self.job(3, "--reconnect-grace", "100ms")
        waiting = agents[0].start_barrier("b", timeout=300)
        self.wait_for_arrivals("b", 1)

        agents[2].close()

        problem = self.outcome(waiting)
        self.assertEqual((problem.code, problem.barrier), ("INTERNAL", ("b", 0)), problem)
        self.assertRegex(problem.text, r"[Tt]ask 2\b")

    def test_deadlocks_of_jax_tasks_are_named(self):
        one, other = self.job(2)
        one.start_barrier("left")
        other.start_barrier("right")

        self.wait_for_status("both barriers", lambda s: len(s["barriers"]) >= 2)

        self.assertIn("deadlock", self.succeed("why").out)


class Keys(WithAgents):

    def test_a_key_is_overwritten_only_when_allowed(self):
        for agent in self.job(2, generation=GENERATIONS):
            key = f"k{agent.task}"
            waiting = agent.start_get(key)
            self.waits(waiting)
            agent.insert(key, b"one")
            self.assertEqual(agent.value_of(agent.result_of(waiting)), b"one")

            with self.fails("ALREADY_EXISTS") as caught:
                agent.insert(key, b"two")
            self.assertRegex(str(caught[0]), rf"^ALREADY_EXISTS: key {key} already exists\.")
            self.assertFalse(caught[0].is_by_service)

            agent.insert(key, b"two", overwrite=True)
            self.assertEqual(agent.get(key), b"two")
            self.assertEqual(agent.try_get(key), b"two")

    def test_increments_are_decimal_text(self):
        for agent in self.job(2, generation=GENERATIONS):
            key = f"n{agent.task}"
            self.assertEqual(agent.increment(key, -3), b"-3")
            self.assertEqual(agent.increment(key, 10), b"7")
            agent.insert("abc", b"abc", overwrite=True)
            with self.fails("FAILED_PRECONDITION") as caught:
                agent.increment("abc", 1)
            self.assertTrue(caught[0].is_by_service)

    def test_directories_are_listed_and_removed_completely(self):
        for agent in self.job(2, generation=GENERATIONS):
            agent.delete("a")
            for key in ("a/c", "a/b/2", "a/b/1", "a", "ab"):
                agent.insert(key, key.encode(), overwrite=True)
            below = [(key, key.encode()) for key in ("a/b/1", "a/b/2", "a/c")]
            self.assertEqual(agent.directory("a/"), below)
            self.assertEqual(agent.directory("a"), below)

            agent.delete("/")
            self.assertEqual(agent.directory("a"), below)
            agent.delete("a")
            self.assertEqual(agent.directory("a"), [])
            with self.fails("NOT_FOUND"):
                agent.try_get("a")
            self.assertEqual(agent.try_get("ab"), b"ab")

    def test_a_large_directory_is_listed_completely(self):
        agent, = self.job(1)
        value = bytes(range(256)) * 4096
        for n in range(10):
            agent.insert(f"large/{n}", value)

        self.assertEqual(agent.directory("large"), [(f"large/{n}", value) for n in range(10)])

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

    def test_a_preemption_notice_sets_the_key_that_jax_waits_for(self):
        one, other = self.job(2)

        self.succeed("preempt", 1, "--in", "1s")

        for agent in (one, other):
            notice = agent.value_of(agent.result_of(agent.open[1]))
            self.assertTrue(notice)


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

    def test_alive_tasks_have_incarnations(self):
        agents = self.job(3, generation=(2, 3, 3))
        expected = {agent.task: agent.requests.incarnation for agent in agents}

        self.assertEqual(self.all(agents, lambda a: a.alive([0, 1, 2])), [expected] * 3)

    def test_a_dead_task_is_not_waited_for(self):
        agents = self.job(3, "--recoverable", "--reconnect-grace", "0")
        agents[1].close()
        self.wait_for_state(1, "failed")

        self.assertEqual([sorted(a) for a in self.all([agents[0], agents[2]], lambda a: a.alive([0, 1, 2]))],
                         [[0, 2]] * 2)

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

    def test_a_call_by_a_non_participant_fails_the_barrier_for_all(self):
        agents = self.job(3, "--xla-strict")
        waiting = agents[0].start_barrier("b", tasks=[0, 2])
        self.wait_for_arrivals("b::0", 1)

        with self.fails("INVALID_ARGUMENT", "A non-participating task"):
            agents[1].barrier("b", tasks=[0, 2])

        self.assertEqual(self.outcome(waiting).code, "INVALID_ARGUMENT")

    def test_different_counters_are_internal(self):
        one, other = self.job(2, "--xla-strict")
        self.all_succeed([one, other], lambda a: a.barrier("b"))
        waiting = one.start_barrier("b")
        self.wait_for_arrivals("b::1", 1)

        other.counters["b"] = 5
        with self.fails("INTERNAL"):
            other.barrier("b")

        self.assertEqual(self.outcome(waiting).code, "INTERNAL")

    def test_a_second_process_of_a_live_task_fails_the_job(self):
        one, other = self.job(2, "--xla-strict", polls=True)
        again = self.agent(0)
        again.keep(again.start("RegisterTask", again.requests.register(), 10))

        self.assertTrue(one.has_failed.wait(LIMIT))
        self.assertTrue(other.has_failed.wait(LIMIT))


if __name__ == "__main__":
    unittest.main()
