"""Many JAX tasks of one process, whole jobs, and the variables by which programs find them."""

import subprocess
import unittest

from harness import GENERATIONS, Agent, WithAgents
from programs import USAGE

TASKS = 200


class ManyClients(WithAgents):

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
        self.assertEqual(self.coordinator.wait(), 0, self.coordinator.output())

    def test_over_one_connection(self):
        self.live(share=True)

    def test_over_separate_connections(self):
        self.live(share=False)


class Programs(WithAgents):

    def test_run_without_a_token_needs_no_other_address(self):
        job = self.run_to_end("coxswain", "run", "-n", 2, "--insecure", "--", "sh", "-c",
                              "echo at $JAX_COORDINATOR_ADDRESS")

        self.assertEqual(job.code, 0, job.output())
        self.assertRegex(job.out, r"at 127\.0\.0\.1:\d+")

    def test_run_within_a_slurm_job_counts_its_own_processes(self):
        job = self.run_to_end("coxswain", "run", "-n", 2, "--", "sh", "-c", "echo $SLURM_PROCID of $SLURM_NTASKS", env={
            "SLURM_JOB_ID": "77", "SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0",
            "SLURM_STEP_NODELIST": "b12", "SLURM_STEP_NUM_TASKS": "1"})

        self.assertEqual(job.code, 0, job.output())
        self.assertIn("[1] 1 of 2", job.out)

    def test_task_needs_an_address_for_programs_without_a_token(self):
        done = self.run_to_end("coxswain", "task", "--jax", "--task-id", 0, "--address", "127.0.0.1:1", "--", "true",
                               env={"COXSWAIN_TOKEN": "secret"})

        self.assertEqual(done.code, USAGE, done.output())
        self.assertIn("--xla-listen", done.err)

    def test_serve_prints_the_variables_for_a_shell(self):
        at = self.start("coxswain", "serve", "-n", 2, "--listen", "127.0.0.1:0", "--print-env", "--job", "it's")
        at.line("JAX_COORDINATOR_BIND_ADDRESS")

        script = at.out + '\necho "$COXSWAIN_JOB|$COXSWAIN_NUM_TASKS|$JAX_COORDINATOR_BIND_ADDRESS"'
        done = self.run_shell(script)
        self.assertEqual(done, "it's|2|127.0.0.1:0\n")
        self.assertRegex(at.out, r"export JAX_COORDINATOR_ADDRESS='127\.0\.0\.1:\d+'")

    @staticmethod
    def run_shell(script):
        return subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
