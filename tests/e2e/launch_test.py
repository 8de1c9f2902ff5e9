"""Values taken from a launcher: coxswain detect, and all that needs the address, the task or the
number of tasks. The launchers are simulated; tests/launchers runs real ones.
"""

import json
import signal
import time
import unittest

from programs import BIN, PATH, EndToEnd, SLOWNESS, USAGE, free_port

SCRIPT = """coxswain all-gather ids $COXSWAIN_TASK_ID | paste -s -d ,"""
SLURM = {"SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "b[12-13]", "SLURM_NTASKS": "4",
         "SLURM_PROCID": "3", "SLURM_LOCALID": "1"}
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}
LSF = {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": "b12 2 b13 2"}


def everyone(tasks):
    """The environment of each task under a launcher that starts no coordinator."""
    port = str(free_port())
    return [{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(task),
             "WORLD_SIZE": str(tasks)} for task in range(tasks)]


class Detect(EndToEnd):

    def detect(self, env, *arguments):
        self.at = {}
        return self.coxswain("detect", *arguments, env=env)

    def test_detected_values_are_shown_with_their_variables(self):
        done = self.detect(SLURM | {"MASTER_ADDR": "b12", "MASTER_PORT": "1", "RANK": "3",
                                    "WORLD_SIZE": "4"})

        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out, """launcher slurm; ignored: torch
PARAMETER   VALUE      FROM
address     b12:61447  SLURM_STEP_NODELIST and SLURM_JOB_ID
job         slurm-7    SLURM_JOB_ID
task        3          SLURM_PROCID
num_tasks   4          SLURM_NTASKS
local_task  1          SLURM_LOCALID
""")

    def test_json_output_has_the_same_content(self):
        done = self.detect(SLURM | {"COXSWAIN_TASK_ID": "0"}, "--json")

        found = json.loads(done.out)
        self.assertEqual(found["launcher"], "slurm")
        self.assertEqual(found["passed_over"], [])
        self.assertEqual(found["task"], {"value": 0, "from": "COXSWAIN_TASK_ID"})
        self.assertEqual(found["num_tasks"], {"value": 4, "from": "SLURM_NTASKS"})
        self.assertIsNone(found["attempt"])

    def test_values_missing_from_a_launcher_are_listed_with_what_to_set(self):
        missing = ("No variable names a host. Set COXSWAIN_ADDRESS to the host of task 0, or of "
                   "coxswain serve, and a free port, for example: mpiexec -genv COXSWAIN_ADDRESS "
                   "b12:8476.")

        done = self.detect(MPICH)
        self.assertEqual((done.code, done.out, done.err), (0, f"""launcher pmi
PARAMETER   VALUE  FROM
task        1      PMI_RANK
num_tasks   2      PMI_SIZE
local_task  1      MPI_LOCALRANKID
no address: {missing}
""", ""))
        done = self.detect(MPICH, "--json")
        self.assertEqual(json.loads(done.out)["address"], {"value": None, "missing": missing})

    def test_an_invalid_variable_is_named_with_the_allowed_values(self):
        env = SLURM | {"SLURM_PROCID": "x"}
        problem = "SLURM_PROCID is 'x'; expected a whole number from 0 to 4294967295."

        done = self.detect(env)
        self.assertEqual((done.code, done.err), (USAGE, problem + "\n"))
        self.assertIn("task        ?          SLURM_PROCID", done.out)
        self.assertIn("num_tasks   4          SLURM_NTASKS", done.out)
        done = self.detect(env, "--json")
        self.assertEqual((done.code, json.loads(done.out)["task"]),
                         (USAGE, {"value": None, "from": "SLURM_PROCID", "problem": problem}))


class Launched(EndToEnd):

    def played(self, coordinator, task, tasks):
        host, port = coordinator.addresses[0].rsplit(":", 1)
        return {"MASTER_ADDR": host, "MASTER_PORT": port, "RANK": str(task),
                "WORLD_SIZE": str(tasks)}

    def test_each_command_takes_missing_values_from_the_launcher(self):
        coordinator = self.serve(2)
        self.at = {}
        tasks = [self.start("coxswain", "task", "--", "sh", "-c", "echo $COXSWAIN_TASK_ID",
                            env=self.played(coordinator, task, 2)) for task in range(2)]

        self.assertEqual([task.wait() for task in tasks], [0, 0], tasks[0].output() + tasks[1].output())
        self.assertEqual([task.out for task in tasks], ["0", "1"])
        done = self.coxswain("incr", "visits", env=self.played(coordinator, 0, 2))
        self.assertEqual((done.code, done.out), (0, "1\n"), done.err)

    def test_a_coordinator_takes_the_number_of_tasks_from_the_launcher(self):
        coordinator = self.start("coxswain", "serve", "--listen", "127.0.0.1:0", env=SLURM)
        self.assertEqual(json.loads(coordinator.line('"event"'))["num_tasks"], 4)

    def test_the_process_of_task_0_hosts_the_coordinator(self):
        self.at = {}
        env = everyone(3)
        tasks = [self.start("coxswain", "task", "--host-if-task-0", "--", "sh", "-c", SCRIPT,
                            env=env[task] | PATH)
                 for task in (1, 2, 0)]

        codes = [task.wait() for task in tasks]
        self.assertEqual(codes, [0, 0, 0], "".join(task.output() for task in tasks))
        self.assertEqual([task.out for task in tasks], ["0,1,2"] * 3)

    def test_all_tasks_learn_of_the_failure_of_the_hosting_task(self):
        self.at = {}
        env = everyone(2)
        host = self.start("coxswain", "task", "--host-if-task-0", "--", "sh", "-c", "exit 7", env=env[0])
        other = self.start("coxswain", "task", "--host-if-task-0", "--kill-grace", "100ms", "--", "sleep", 600,
                           env=env[1])

        self.assertEqual(host.wait(), 7, host.output())
        self.assertNotEqual(other.wait(), 0)
        self.assertIn("task 0 failed", other.err)
        self.assertIn("exited with status 7", other.err)

    def test_the_hosting_process_ends_with_the_last_of_a_failed_job(self):
        self.at = {}
        env = everyone(2)
        died = self.directory / "died"
        host = self.start("coxswain", "task", "--host-if-task-0", "--jax", "--kill-grace", "100ms", "--",
                          BIN / "coxswain-e2e-task", "barrier:never", env=env[0])
        other = self.start("coxswain", "task", "--host-if-task-0", "--jax", "--", BIN / "coxswain-e2e-task",
                           f"die:{died}", env=env[1])

        self.assertEqual(other.wait(), 128 + signal.SIGKILL, other.output())
        failed_at = time.monotonic()
        self.assertNotEqual(host.wait(), 0)
        self.assertLess(time.monotonic() - failed_at, 20 * SLOWNESS)
        self.assertIn("killed by signal 9 (SIGKILL)", host.err)

    def test_the_hosting_task_needs_the_number_of_tasks(self):
        self.at = {}
        self.assert_ended(self.coxswain("task", "--host-if-task-0", "--task-id", 0, "--", "true"),
                          USAGE, "the number of tasks is unknown")

    def test_values_missing_from_the_launcher_are_named_at_once(self):
        self.at = {}
        for env, arguments, text in (
                (MPICH, ("task", "--", "true"), "--address is required. No variable names a host."),
                (MPICH, ("get", "key"), "--address is required. No variable names a host."),
                (LSF, ("task", "--", "true"), "see coxswain detect. LSF does not number processes."),
                (LSF, ("serve",), "see coxswain detect."),
                ({"PMIX_RANK": "0", "COXSWAIN_ADDRESS": "127.0.0.1:1"},
                 ("task", "--host-if-task-0", "--", "true"), "Set COXSWAIN_NUM_TASKS.")):
            with self.subTest(arguments):
                self.assert_ended(self.coxswain(*arguments, env=env), USAGE, text)

    def test_without_any_values_the_error_says_what_to_set(self):
        self.at = {}
        self.assert_ended(self.coxswain("task", "--", "true"), USAGE,
                          "--task-id is required", "coxswain detect")


if __name__ == "__main__":
    unittest.main()
