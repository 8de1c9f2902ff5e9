"""Joining, failing and leaving by the address for JAX programs, as jaxlib's agent sees it."""

import datetime
import unittest

from harness import Agent, WithAgents
from programs import PATH


class Joining(WithAgents):

    def test_a_native_task_and_a_jax_task_share_a_barrier(self):
        self.coordinator = self.serve(2)
        native = self.start("coxswain", "task", "--task-id", 1, "--", "sh", "-c",
                            "coxswain barrier b && coxswain get k --wait 60s", env=self.at | PATH)

        jax = self.agent(0).connect()
        jax.barrier("b")
        jax.insert("k", b"v")
        jax.shutdown()

        self.assertEqual(native.wait(), 0, native.output())
        self.assertIn("v", native.out)


class Preempted(WithAgents):
    """What JAX's preemption manager does, and what others learn of it."""

    KEY, COUNTERS, BARRIER = "RECEIVED_PREEMPTION_NOTICE", "PREEMPTION_CURRENT_COUNTER", "PREEMPTION_SYNC_BARRIER"

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
        output = self.succeed("events").out
        self.assertRegex(output, r"task 2 will be preempted in \d+ ms\n")
        self.assertRegex(output, r"agreed to stop at step \d+, .*except JAX tasks, .*: 0,2")


if __name__ == "__main__":
    unittest.main()
