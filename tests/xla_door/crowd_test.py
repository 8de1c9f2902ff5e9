"""Many JAX tasks of one process, and whole jobs."""

import unittest

from house import GENERATIONS, Agent, WithAgents

TASKS = 200


class Crowds(WithAgents):

    def live(self, share):
        agents = self.job(TASKS, "--exit-when-done", share=share, generation=GENERATIONS * (TASKS // 2),
                          heartbeat_timeout=20)
        for agent in agents:
            self.assertIsNotNone(agent.heartbeat_thread, agent.task)
        # As JAX exchanges topologies.
        self.all_succeed(agents, lambda a: a.insert(f"local_topology/cpu/{a.task}", bytes([a.task]) * 1000))
        gets = [agents[0].start_get(f"local_topology/cpu/{task}") for task in range(TASKS)]
        whole = b"".join(agents[0].value_of(agents[0].result_of(get)) for get in gets)
        agents[0].insert("global_topology/cpu", whole)
        self.assertEqual(set(self.all_succeed(agents, lambda a: a.get("global_topology/cpu"))), {whole})
        for counter in range(3):
            self.assertEqual(set(self.all_succeed(agents, lambda a: a.barrier("step"))), {counter})
        self.assertEqual(agents[1].watch(-1)[1], [3] * TASKS)
        self.all_succeed(agents, Agent.shutdown)
        self.assertEqual(self.coordinator.wait(), 0, self.coordinator.said())

    def test_over_one_connection(self):
        self.live(share=True)

    def test_over_a_connection_each(self):
        self.live(share=False)

    def test_one_connection_that_is_cut_fails_the_job_once(self):
        agents = self.job(20, "--reconnect-grace", "100ms", share=True)

        agents[0].channel.close()

        failed = self.wait_for_status("all failed", lambda s: all(t["state"] == "failed" for t in s["tasks"]))
        self.assertTrue(failed["error"])


class Recordings(WithAgents):

    def test_a_recording_replays_without_http(self):
        file = self.directory / "recording"
        agents = self.job(2, "--record", file, "--exit-when-done", generation=GENERATIONS)
        agents[0].insert("k", b"v")
        agents[1].increment("n", 1)
        self.all_succeed(agents, lambda a: a.barrier("b"))
        with self.fails("NOT_FOUND"):
            agents[0].try_get("absent")
        self.all_succeed(agents, Agent.shutdown)
        self.assertEqual(self.coordinator.wait(), 0, self.coordinator.said())

        done = self.run_to_end("coxswain", "replay", "--compare", file)

        self.assertEqual(done.code, 0, done.said())


if __name__ == "__main__":
    unittest.main()
