"""Joining, failing and leaving by the address for JAX programs, as jaxlib's agent sees it."""

import datetime
import signal
import subprocess
import sys
import threading
import time
import unittest

from harness import GENERATIONS, HERE, LIMIT, SLOWNESS, Agent, WithAgents
from programs import PATH


class Joining(WithAgents):

    def test_both_generations_share_a_job_and_a_barrier(self):
        agents = self.job(2, generation=GENERATIONS)

        self.assertEqual(self.all(agents, lambda a: a.barrier("b")), [0, 0])

        own = {agent.requests.service_incarnation for agent in agents}
        self.assertEqual(len(own), 1)
        self.assertNotIn(0, own)
        tasks = self.status()["tasks"]
        self.assertTrue(all(t["process"].startswith("jax 0.") for t in tasks), tasks)
        self.all_succeed(agents, Agent.shutdown)

    def test_a_native_task_and_a_jax_task_share_a_barrier(self):
        self.coordinator = self.serve(2)
        native = self.start("coxswain", "task", "--task-id", 1, "--", "sh", "-c",
                            "coxswain barrier b && coxswain get k --wait 60s", env=self.at | PATH)

        jax = self.agent(0).connect()
        jax.barrier("b")
        jax.insert("k", b"v")
        jax.shutdown()

        self.assertEqual(native.wait(), 0, native.said())
        self.assertIn("v", native.out)

    def test_a_repeated_registration_is_answered_at_once(self):
        first, _ = self.job(2)

        reply = first.call("RegisterTask", first.requests.register(), 10)

        self.assertEqual(reply[1], [first.requests.service_incarnation])
        self.assertEqual(first.barrier("alone", tasks=[0]), 0)

    def test_a_newer_process_wins_while_the_join_is_pending(self):
        self.coordinator = self.serve(2)
        old = self.agent(0)
        pending = old.start("RegisterTask", old.requests.register(), 60)
        self.wait_for_state(0, "joining")

        new, other = self.agent(0), self.agent(1)
        self.all_succeed([new, other], Agent.connect)

        problem = self.outcome(pending)
        self.assertEqual(problem.code, "ALREADY_EXISTS", problem)
        self.assertTrue(problem.is_by_service)

    def test_a_second_process_of_a_live_task_is_refused_without_harm(self):
        agents = self.job(2)

        with self.fails("ABORTED") as caught:
            again = self.agent(0)
            again.call("RegisterTask", again.requests.register(), 8)

        self.assertTrue(caught[0].is_by_service)
        self.assertEqual(self.all(agents, lambda a: a.barrier("b")), [0, 0])

    def test_a_task_outside_the_job_is_refused_without_retries(self):
        self.coordinator = self.serve(2)

        with self.fails("INVALID_ARGUMENT") as caught:
            self.agent(2).connect()

        self.assertTrue(caught[0].is_by_service)

    def test_another_job_is_refused(self):
        self.coordinator = self.serve(1, "--job", "train")

        with self.fails("INVALID_ARGUMENT", "other", "train"):
            self.agent(0, 2, job="other").connect()
        self.agent(0, 2, job="train").connect()

    def test_the_first_generation_is_refused_with_a_clear_reason(self):
        self.coordinator = self.serve(1)
        old = self.agent(0, 2).connect()

        with self.fails("FAILED_PRECONDITION", "0.4.35"):
            old.barrier("PjRT_Client_Connect")


class Incarnations(WithAgents):

    def test_heartbeats_return_the_incarnation_of_the_registration(self):
        for agent in self.job(2, generation=GENERATIONS):
            self.assertEqual(agent.heartbeat()[1], [agent.requests.service_incarnation])

    def test_calls_for_another_coordinator_are_refused_with_ours(self):
        agent, = self.job(1, polls=False)
        requests = agent.requests
        ours = requests.service_incarnation
        for wrong in (ours ^ 1, 0):
            requests.service_incarnation = wrong
            calls = {
                "Heartbeat": requests.heartbeat(), "ShutdownTask": requests.shutdown(),
                "WatchTasks": requests.watch(-1), "InsertKeyValue": requests.insert("k", b"v", False),
                "GetKeyValue": requests.key("k"), "TryGetKeyValue": requests.key("k"),
                "IncrementKeyValue": requests.increment("k", 1), "GetKeyValueDir": requests.key("k"),
                "DeleteKeyValue": requests.delete("k"), "Barrier": requests.barrier("b", 1000, [], 0),
                "CancelBarrier": requests.cancel_barrier("b"), "GetAliveTasks": requests.alive([0]),
                "PollForError": requests.poll(), "ReportErrorToService": requests.report(2, "x")}
            for method, request in calls.items():
                with self.subTest(method=method, wrong=wrong):
                    problem = self.outcome(agent.start(method, request))
                    self.assertEqual(problem.code, "INTERNAL", problem)
                    self.assertIn("wrong service incarnation", problem.text)
                    self.assertTrue(problem.is_by_service)
                    self.assertEqual(problem.service_incarnation, ours)
        requests.service_incarnation = ours
        agent.heartbeat()

    def test_a_replaced_process_can_do_nothing(self):
        old, other = self.job(2, "--recoverable", "--reconnect-grace", "0", recoverable=True)
        old.close()
        self.wait_for_state(0, "failed")
        new = self.agent(0, recoverable=True)
        new.connect()

        zombie = Agent(self.coordinator.addresses[0], 0)
        zombie.requests = old.requests
        self.addCleanup(zombie.close)
        for call in (zombie.heartbeat, lambda: zombie.barrier("b", tasks=[0])):
            with self.fails("ABORTED"):
                call()
        self.assertEqual(self.all([new, other], lambda a: a.barrier("b")), [0, 0])


class Dying(WithAgents):

    def assert_all_learn_of(self, task, agents, begun, within):
        for agent in agents:
            self.assertTrue(agent.has_failed.wait(LIMIT), "nobody has told it")
        took = time.monotonic() - begun
        self.assertLess(took, within)
        for agent in agents:
            problem = agent.error
            self.assertEqual(problem.code, "UNAVAILABLE", problem)
            self.assertIn(f"task {task}", problem.text.lower())
            self.assertTrue(problem.is_by_service)
            self.assertEqual(problem.source_task, task)
            self.assertFalse(problem.is_reported)

    def test_a_lost_connection_is_reported_to_all_after_a_short_grace(self):
        agents = self.job(4, generation=(2, 3, 2, 3))
        self.assertFalse(any(agent.poll_ended.is_set() for agent in agents))

        begun = time.monotonic()
        agents[2].channel.close()

        others = [agents[0], agents[1], agents[3]]
        self.assert_all_learn_of(2, others, begun, 0.25 + 0.7 * SLOWNESS)

    def test_an_agent_destroyed_without_leaving_has_failed_though_its_connection_is_open(self):
        agents = self.job(3, "--reconnect-grace", "200ms", share=True)

        begun = time.monotonic()
        agents[1].stop()  # others use the same connection

        self.assert_all_learn_of(1, [agents[0], agents[2]], begun, 0.25 + 0.7 * SLOWNESS)
        self.assertIn("failed", self.status()["tasks"][1]["state"])

    def test_a_reported_error_reaches_all_unchanged(self):
        agents = self.job(2, generation=GENERATIONS)

        agents[1].report(8, "out of memory in step 7")

        self.assertTrue(agents[0].has_failed.wait(LIMIT))
        problem = agents[0].error
        self.assertEqual((problem.code, problem.source_task), ("RESOURCE_EXHAUSTED", 1), problem)
        self.assertIn("out of memory in step 7", problem.text)
        self.assertTrue(problem.is_reported)

    def test_an_error_with_code_cancelled_is_internal_for_polls(self):
        agents = self.job(2)

        agents[0].report(1, "given up")

        self.assertTrue(agents[1].has_failed.wait(LIMIT))
        self.assertEqual(agents[1].error.code, "INTERNAL", agents[1].error)
        self.assertIn("given up", agents[1].error.text)

    def test_a_late_poll_gets_the_error_at_once(self):
        agents = self.job(2, polls=False)
        agents[0].report(2, "broken")
        self.wait_for_status("an error", lambda s: s["error"])

        poll = agents[1].start("PollForError", agents[1].requests.poll())
        self.assertIn("broken", self.outcome(poll).text)
        with self.fails("ABORTED", "broken"):
            agents[1].heartbeat()  # it has no other way to learn of it
        with self.fails("FAILED_PRECONDITION") as caught:
            again = self.agent(1)
            again.call("RegisterTask", again.requests.register(), 10)
        self.assertTrue(caught[0].is_by_service)

    def test_a_silent_task_fails_after_its_heartbeat_timeout(self):
        # gRPC's own threads answer PINGs: only a stopped process is silent.
        self.coordinator = self.serve(2, "--heartbeat-timeout", "2s", "--recoverable")
        script = ("import sys; from jax_agent import Agent; agent = Agent(sys.argv[1], 1).connect(); "
                  "print('in', flush=True); agent.has_failed.wait()")
        process = subprocess.Popen([sys.executable, "-B", "-c", script, self.coordinator.addresses[0]],
                                   cwd=HERE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        agent = self.agent(0).connect()  # it sends no heartbeat for long
        process.stdout.readline()

        process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        self.wait_for_state(1, "failed")

        self.assertGreater(time.monotonic() - begun, 1)
        self.assertIsNone(agent.error)
        self.assertEqual(self.status()["tasks"][0]["state"], "connected")

class Preempted(WithAgents):
    """What JAX's preemption manager does, and what others learn of it."""

    KEY, COUNTERS, BARRIER = "RECEIVED_PREEMPTION_NOTICE", "PREEMPTION_CURRENT_COUNTER", "PREEMPTION_SYNC_BARRIER"

    def notice_of(self, agent):
        """What ends its wait for the key, which is always open."""
        text = agent.value_of(agent.result_of(agent.open[1])).decode()
        return datetime.datetime.fromisoformat(text)

    def agree(self, agents, steps):
        """The step at which each agent's manager would stop."""
        def act(agent):
            agent.insert(f"{self.COUNTERS}/{agent.task}", str(steps[agent.task]).encode())
            agent.barrier(self.BARRIER)
            return 1 + max(int(value) for _, value in agent.directory(self.COUNTERS))

        return self.all_succeed(agents, act)

    def test_a_notice_of_a_jax_process_reaches_native_tasks(self):
        self.coordinator = self.serve(3)
        steps = ("i=0; until coxswain sync-point $i; do i=$((i + 1)); coxswain put step $i --overwrite; done; "
                 "echo stopped at $i")
        native = self.start("coxswain", "task", "--task-id", 1, "--", "sh", "-c", steps, env=self.at | PATH)
        agents = [self.agent(task, generation) for task, generation in ((0, 2), (2, 3))]
        self.all_succeed(agents, Agent.connect)
        agents[0].get("step")  # it has begun

        # As on SIGTERM.
        agents[1].insert(self.KEY, datetime.datetime.now(datetime.timezone.utc).isoformat().encode())

        native.line("stopped at")
        self.assertEqual(set(self.agree(agents, {0: 7, 2: 9})), {10})
        said = self.succeed("events").out
        self.assertRegex(said, r"task 2 will be preempted in \d+ ms\n")
        self.assertRegex(said, r"agreed to stop at step \d+, .*except JAX tasks, .*: 0,2")

    def test_an_operator_tells_when_a_preemption_is(self):
        agents = self.job(2, generation=GENERATIONS)
        before = datetime.datetime.now(datetime.timezone.utc)

        self.succeed("preempt", 1, "--in", "10min")

        for agent in agents:
            self.assertAlmostEqual((self.notice_of(agent) - before).total_seconds(), 600, delta=30)
        self.assertEqual(set(self.agree(agents, {0: 7, 1: 9})), {10})
        said = self.succeed("events").out
        self.assertIn("JAX tasks agree on a step among themselves", said)
        self.assertNotIn("agreed to stop at step", said)


class Leaving(WithAgents):

    def test_a_leave_fails_at_once_when_another_task_dies(self):
        agents = self.job(3, "--reconnect-grace", "200ms")
        results = []
        leaving = [threading.Thread(target=lambda a=a: results.append(self.all([a], Agent.shutdown)[0]))
                   for a in agents[:2]]
        for thread in leaving:
            thread.start()
        self.wait_for_status("the leave", lambda s: any(
            b["kind"] == "leave" and b["arrived"] == 2 for b in s["barriers"]))

        begun = time.monotonic()
        agents[2].close()
        for thread in leaving:
            thread.join(LIMIT)

        self.assertLess(time.monotonic() - begun, 0.25 + 0.7 * SLOWNESS)
        self.assertEqual([p.code for p in results], ["INTERNAL"] * 2, results)
        for problem in results:
            self.assertRegex(problem.text, r"^(?s:Shutdown barrier has failed.*task 2\b)")

    def test_a_leave_that_misses_its_deadline_fails_the_job_for_the_others(self):
        missing, leaves, waits = self.job(3)
        leaves.shutdown_timeout = waits.shutdown_timeout = 1

        for problem in self.all([leaves, waits], Agent.shutdown):
            self.assertEqual(problem.code, "INTERNAL", problem)
            self.assertIn("Shutdown barrier has failed", problem.text)
            self.assertIn("timed out", problem.text)

        self.assertTrue(missing.has_failed.wait(LIMIT))
        # The error is its own.
        self.assertEqual(missing.error.code, "FAILED_PRECONDITION", missing.error)
        self.assertRegex(missing.error.text, r"1 of 3 tasks is missing: 0\b")

    def test_the_task_that_missed_a_leave_is_named_to_the_tasks_that_did_not_leave(self):
        leaves, *others = self.job(4)
        leaves.shutdown_timeout = 1

        with self.fails("INTERNAL", "Shutdown barrier has failed", "timed out"):
            leaves.shutdown()

        for agent in others:
            self.assertTrue(agent.has_failed.wait(LIMIT))
            self.assertRegex(agent.error.text, r"3 of 4 tasks are missing: 1 .* 2 .* 3 ")
        self.assertIn("INTERNAL", {agent.error.code for agent in others})

    def test_a_final_stop_ends_polls_with_the_reason(self):
        agents = self.job(2, generation=GENERATIONS)

        self.stop(self.coordinator)

        for agent in agents:
            self.assertTrue(agent.has_failed.wait(LIMIT))
            self.assertEqual(agent.error.code, "UNAVAILABLE", agent.error)
            self.assertTrue(agent.error.is_by_service, agent.error)


if __name__ == "__main__":
    unittest.main()
