"""What people see of JAX tasks: in status, why, top, on the page and in metrics."""

import json
import time
import unittest

from harness import GENERATIONS, LIMIT, WithAgents
from jax_agent import channel_to
from programs import fetch
from screen import Screen

# What jaxlib 0.9.1 and 0.10 say of themselves.
USER_AGENT = "grpc-c++/1.78.1"


class Shown(WithAgents):

    def setUp(self):
        super().setUp()
        self.coordinator = self.serve(2, "--http", "127.0.0.1:0")
        agents = [self.agent(task, generation, channel=self.channel()) for task, generation in enumerate(GENERATIONS)]
        self.all_succeed(agents, lambda a: a.connect())
        self.agents = agents

    def channel(self):
        made = channel_to(self.coordinator.addresses[0], user_agent=USER_AGENT)
        self.addCleanup(made.close)
        return made

    def page(self, path):
        return fetch(f"http://{self.coordinator.ready['http']}{path}")[1]

    def wait_for_page(self, path, *words):
        """It is at most 200 ms old."""
        deadline = time.monotonic() + LIMIT
        while not all(word in (text := self.page(path)) for word in words):
            self.assertLess(time.monotonic(), deadline, f"{path} has not {words}:\n{text}")
            time.sleep(0.05)
        return text

    def test_a_task_is_shown_as_a_jax_program_with_its_version(self):
        versions = ("jax 0.9.1-0.9.2", "jax 0.10")

        self.assertEqual([t["process"].split(", ")[0] for t in self.status()["tasks"]], list(versions))
        for version in versions:
            self.assertIn(version, self.succeed("status").out)
        for task, version in enumerate(versions):
            self.assertIn(version, self.page(f"/api/v1/tasks/{task}"))

    def test_why_and_top_name_the_missing_tasks_of_a_jax_barrier(self):
        self.agents[0].start_barrier("b")
        self.wait_for_arrivals("b", 1)

        output = self.succeed("why").out
        self.assertRegex(output, r"(?s)\bb\b.*\b1\b")
        self.assertIn("jax 0.10", output)
        self.wait_for_page("/api/v1/why", '"b"', "jax 0.10")
        screen = Screen("top", env=self.directories() | self.at)
        self.addCleanup(screen.end)
        screen.wait_for("2 tasks: 2 connected", "barrier 'b' round 1", "1/2", "missing 1: 1")

    def test_a_lost_task_is_shown_with_its_version(self):
        self.agents[1].close()

        self.wait_for_state(1, "failed")
        self.assertRegex(self.succeed("status").out, r"FAILED: task 1: .*\(jax 0\.10")
        self.assertIn("jax 0.10", self.succeed("events").out)

    def test_the_events_name_the_tasks_that_joined(self):
        events = json.loads(self.page("/api/v1/events"))
        self.assertIn("jax 0.10, 127.0.0.1:", json.dumps(events))


if __name__ == "__main__":
    unittest.main()
