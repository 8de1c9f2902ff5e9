"""JAX processes behind a relay: their connections end there, and outlive the coordinator's."""

import signal
import time
import unittest

from harness import LIMIT, Agent, WithAgents
from programs import PATH, SLOWNESS
from restart_test import WithJournal
from standby_test import WithStandby


class BehindRelay(WithAgents):

    def behind(self, relay, tasks, **how):
        agents = [self.agent(task, address=relay.address, **how) for task in range(tasks)]
        self.all_succeed(agents, Agent.connect)
        return agents


class OnEtcd(WithStandby, BehindRelay):

    def test_a_job_behind_a_relay_survives_the_loss_of_the_leaders_machine(self):
        leader, _ = self.pair(tasks=2)
        leader.addresses = self.at["COXSWAIN_ADDRESS"].split(",")
        relay = self.relay(leader)
        agents = self.behind(relay, 2)
        agents[0].insert("before", b"v")
        waiting = agents[1].start_get("after")
        arrived = agents[1].start_barrier("step")
        self.wait_for_arrivals("step", 1)
        lost = time.monotonic()
        leader.signal(signal.SIGSTOP)

        late = agents[0].start_barrier("step")
        for call in (arrived, late):
            agents[0].result_of(call)

        self.assertLess(time.monotonic() - lost, 15 * SLOWNESS)
        self.assertEqual(agents[1].get("before"), b"v")
        agents[0].insert("after", b"w")
        agents[1].value_of(agents[1].result_of(waiting))
        self.assertEqual([agent.error for agent in agents], [None, None])
        self.all_succeed(agents, Agent.shutdown)
        self.assertIsNone(relay.process.poll())


class Relay(WithJournal, BehindRelay):

    def test_a_coordinator_that_has_lost_the_job_ends_it_for_jax_as_well(self):
        self.coordinator = self.serve_journal(1)
        relay = self.relay(self.coordinator)
        agent, = self.behind(relay, 1)
        waiting = agent.start_get("never")

        self.kill(self.coordinator)
        self.journal = self.directory / "another"
        self.coordinator = self.serve_journal(1)

        failure = self.outcome(waiting)
        self.assertEqual(failure.code, "UNAVAILABLE", failure)
        self.assertIn("restarted", failure.text)
        self.assertTrue(agent.has_failed.wait(LIMIT))

    def test_a_lost_connection_to_a_relay_is_reported_after_the_same_short_grace(self):
        self.coordinator = self.serve(2)
        agents = self.behind(self.relay(self.coordinator), 2)
        begun = time.monotonic()
        agents[1].channel.close()  # its process lives

        self.assertTrue(agents[0].has_failed.wait(LIMIT))
        self.assertLess(time.monotonic() - begun, 0.4 + 0.7 * SLOWNESS)
        self.assertIn("its process has probably ended", agents[0].error.text)

    def test_a_relay_that_is_stopped_says_so(self):
        self.coordinator = self.serve(1)
        relay = self.relay(self.coordinator)
        agent, = self.behind(relay, 1)
        relay.signal(signal.SIGTERM)

        self.assertTrue(agent.has_failed.wait(LIMIT))
        self.assertIn(f"the relay at {relay.address} was stopped", agent.error.text)
        self.assertTrue(agent.error.is_by_service)

    def test_a_program_of_a_task_with_a_relay_survives_restarts_of_the_coordinator(self):
        runtime = self.directory / "runtime"
        runtime.mkdir(mode=0o700)
        token = self.with_token("secret")
        self.coordinator = self.serve_journal(1, *token)
        task = self.start("coxswain", "task", "--relay", "--jax", "--task-id", 0, *token, "--", "sh", "-c",
                          "echo $JAX_COORDINATOR_ADDRESS $JAX_COORDINATOR_BIND_ADDRESS; exec sleep 300",
                          env=self.at | PATH | {"XDG_RUNTIME_DIR": str(runtime)})
        address, bind = task.line("unix:").split()
        self.assertEqual(bind, "127.0.0.1:0")
        agent = self.agent(0, address=address)
        agent.connect()
        agent.insert("k", b"v")
        waiting = agent.start_get("late")

        self.kill(self.coordinator)
        agent.heartbeat()  # is answered while there is no coordinator
        self.coordinator = self.serve_journal(1, *token)

        self.assertEqual(agent.get("k"), b"v")
        agent.insert("late", b"w")
        self.assertEqual(agent.value_of(agent.result_of(waiting)), b"w")
        self.assertIsNone(agent.error)
        agent.shutdown()
        task.signal(signal.SIGTERM)
        task.wait()
        self.stop(self.coordinator)

    def with_token(self, token):
        path = self.directory / "token"
        path.write_text(token)
        path.chmod(0o600)
        return "--token-file", path

    def test_the_relays_token_speaks_for_the_processes_of_its_user(self):
        self.coordinator = self.serve(1, *self.with_token("worker for-tasks\nrelay for-relays\n"))

        relay = self.relay(self.coordinator, *self.with_token("for-relays"))
        agent = self.agent(0, address=relay.address)
        with self.fails("PERMISSION_DENIED", "use the job's token"):
            agent.connect()
        self.kill(relay)

        relay = self.relay(self.coordinator, *self.with_token("for-tasks"))
        agent, = self.behind(relay, 1)
        agent.insert("k", b"v")
        self.assertEqual(agent.get("k"), b"v")


if __name__ == "__main__":
    unittest.main(verbosity=2)
