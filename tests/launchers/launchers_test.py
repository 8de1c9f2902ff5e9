"""Jobs under real launchers: mpirun of Open MPI, mpiexec of MPICH, and Slurm on one machine, also
with that mpiexec in its jobs. Each starts a C++, a Python and a JAX program. The argument names the
launcher; if it is not installed, the test says so and is skipped.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import slurm  # noqa: E402: found by the line above
from programs import BIN, EndToEnd, LIMIT, clean_environment, free_port, wait_for_file  # noqa: E402

SKIPPED = 77
TASKS = 3
SCRIPT = 'coxswain all-gather ids "$COXSWAIN_TASK_ID of $COXSWAIN_NUM_TASKS"'
GATHERED = [f"{task} of {TASKS}" for task in range(TASKS)]

CPP = "coxswain-example-worker", "--rounds", "3"
PYTHON = sys.executable, "-B", str(HERE / "python_program.py")


def jax_command():
    made = subprocess.run([sys.executable, HERE.parent / "real/environment", "jax-0.10.2"],
                          stdout=subprocess.PIPE, text=True)
    if made.returncode:
        print(made.stdout)
        sys.exit(made.returncode)
    return made.stdout.strip(), "-B", str(HERE / "jax_program.py")


def programs():
    """What each task runs, as which of `coxswain task`, and what it prints at the end."""
    return {"C++": (CPP, (), "3 rounds"), "Python": (PYTHON, (), "sum 6"),
            "JAX": (jax_command(), ("--jax",), "sum 6")}


class Launched(EndToEnd):
    """The tests common to all launchers."""

    def launch(self, *command, env=None):
        """Runs the command as three tasks until they end."""
        path = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(self.directory),
                "PYTHONPATH": os.environ["COXSWAIN_PYTHON"], "JAX_PLATFORMS": "cpu"}
        return subprocess.run(
            [*self.launcher, *command], env=clean_environment(path | self.environment | (env or {})),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)

    def check_what_is_detected(self, launcher=None):
        done = self.launch("coxswain", "detect", "--json")

        self.assertEqual(done.returncode, 0, done.stderr)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(one["task"]["value"] for one in found), list(range(TASKS)))
        for one in found:
            self.assertEqual(one["launcher"], launcher or self.name)
            self.assertEqual(one["num_tasks"]["value"], TASKS)
            self.assertEqual(one["address"], found[0]["address"])
            self.assertGreaterEqual(int(one["address"]["value"].rsplit(":", 1)[1]), 61440)
            self.assertTrue(one["job"]["value"].startswith(f"{self.name}-"))

    def check_program(self, command, last_words, env):
        done = self.launch(*command, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(last_words), TASKS, done.stdout + done.stderr)

    def check_that_task_0_hosts(self):
        token = {"COXSWAIN_TOKEN": "pull"}
        host = "coxswain", "task", "--host-if-task-0"

        done = self.launch(*host, "--", "sh", "-c", SCRIPT, env=token)

        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(GATHERED * TASKS), done.stderr)
        for language, (program, kind, last_words) in self.programs.items():
            with self.subTest(language):
                command = *host, *kind, "--relay", "--", *program
                self.check_program(command, last_words, token)

    def check_that_run_starts_a_job_of_its_own(self, *launcher):
        self.launcher = launcher
        done = self.launch("coxswain", "run", "-n", str(TASKS), "--", "coxswain", "task", "--", "sh", "-c", SCRIPT)

        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted(f"[{task}] {line}" for task in range(TASKS) for line in GATHERED), done.stderr)

    def check_that_a_coordinator_of_its_own_is_found(self, wraps_jax=False):
        for language, (program, kind, last_words) in self.programs.items():
            with self.subTest(language):
                self.serve(TASKS)
                is_wrapped = wraps_jax and language == "JAX"
                command = (*("coxswain", "task", *kind, "--"), *program) if is_wrapped else program
                address = self.at["COXSWAIN_ADDRESS"]
                self.check_program(command, last_words, self.at | {
                    "JAX_COORDINATOR_ADDRESS": address, "JAX_COORDINATOR_BIND_ADDRESS": "127.0.0.1:0"})


class Mpirun(Launched):
    name = "ompi"
    launcher = "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(TASKS)
    environment = {}

    def test_mpirun_numbers_the_tasks(self):
        self.check_what_is_detected()

    def test_task_0_of_mpirun_hosts_the_coordinator(self):
        self.check_that_task_0_hosts()

    def test_programs_under_mpirun_find_a_separate_coordinator(self):
        self.check_that_a_coordinator_of_its_own_is_found()

    def test_run_within_mpirun_starts_a_job_of_its_own(self):
        self.check_that_run_starts_a_job_of_its_own(*self.launcher[:-1], "1")


class Mpiexec(Launched):
    launcher = "mpiexec.mpich", "-n", str(TASKS)

    def setUp(self):
        super().setUp()
        self.environment = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}

    def test_mpiexec_numbers_the_tasks_and_names_what_is_missing(self):
        self.environment = {}

        done = self.launch("coxswain", "detect", "--json")

        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(one["task"]["value"] for one in found), list(range(TASKS)))
        for one in found:
            self.assertEqual((one["launcher"], one["num_tasks"]["value"]), ("pmi", TASKS))
            self.assertIn("Set COXSWAIN_ADDRESS", one["address"]["missing"])

    def test_task_0_of_mpiexec_hosts_the_coordinator(self):
        self.check_that_task_0_hosts()

    def test_programs_under_mpiexec_find_a_separate_coordinator(self):
        # JAX does not know this launcher.
        self.check_that_a_coordinator_of_its_own_is_found(wraps_jax=True)

    def test_run_within_mpiexec_starts_a_job_of_its_own(self):
        self.check_that_run_starts_a_job_of_its_own(*self.launcher[:-1], "1")


class Srun(Launched):
    name = "slurm"
    launcher = "srun", "-n", str(TASKS)

    @classmethod
    def setUpClass(cls):
        # In a place where munged trusts all parent directories.
        directory = tempfile.mkdtemp(prefix="coxswain-slurm-", dir="/run")
        cls.addClassCleanup(shutil.rmtree, directory)
        cls.slurm = slurm.Slurm(directory)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.environment = {"SLURM_CONF": str(cls.slurm.configuration)}

    def test_srun_numbers_the_tasks(self):
        self.check_what_is_detected()

    def test_task_0_of_srun_hosts_the_coordinator(self):
        self.check_that_task_0_hosts()

    def test_programs_under_srun_find_a_separate_coordinator(self):
        self.check_that_a_coordinator_of_its_own_is_found()

    def test_run_within_an_allocation_or_a_step_starts_a_job_of_its_own(self):
        for launcher in ("salloc", "-n", str(TASKS)), ("srun", "-n", "1"):
            with self.subTest(launcher[0]):
                self.check_that_run_starts_a_job_of_its_own(*launcher)

    def test_srun_with_pmi_is_detected_as_slurm(self):
        self.launcher = (*self.launcher, "--mpi=pmi2")
        self.check_what_is_detected()

    def test_a_step_beside_the_job_needs_no_token_of_its_own(self):
        number, end = self.directory / "number", self.directory / "end"
        script = (f"echo $SLURM_JOB_ID >{number}.$SLURM_PROCID; mv {number}.$SLURM_PROCID {number}; "
                  f"until [ -e {end} ]; do sleep 0.1; done")
        host = "coxswain", "task", "--host-if-task-0", "--", "sh", "-c", script
        with concurrent.futures.ThreadPoolExecutor() as pool:
            job = pool.submit(self.launch, *host, env={"COXSWAIN_TOKEN": "pull"})
            try:
                self.launcher = "srun", f"--jobid={wait_for_file(number).strip()}", "--overlap", "-n1"
                done = self.launch("coxswain", "why")
            finally:
                end.touch()

        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(job.result().returncode, 0, job.result().stderr)

    @unittest.skipUnless(shutil.which("mpiexec.mpich"), "MPICH is not installed")
    def test_mpiexec_in_a_slurm_job_numbers_the_tasks(self):
        self.launcher = "salloc", "-n", str(TASKS), "mpiexec.mpich", "-n", str(TASKS)
        self.check_what_is_detected("pmi")

    def test_the_deployed_batch_script_runs(self):
        script = HERE.parents[1] / "tools/deploy/job.sbatch"
        self.launcher = "sbatch", "--wait", "--nodes=1", f"--ntasks-per-node={TASKS}", script

        def run(language):
            program, kind, _ = self.programs[language]
            options = {"COXSWAIN_JAX": "true", "COXSWAIN_RELAY": "true"} if kind else {}
            return self.launch(*program, env=options | {"SBATCH_OUTPUT": str(self.directory / language)})

        # sbatch takes seconds to notice the end of a job.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ended = dict(zip(self.programs, pool.map(run, self.programs)))

        for language, (_, _, last_words) in self.programs.items():
            with self.subTest(language):
                output = (self.directory / language).read_text()
                self.assertEqual(ended[language].returncode, 0, ended[language].stderr + output)
                self.assertEqual(output.count(last_words), TASKS, output)


CLASSES = {"mpirun": Mpirun, "mpich": Mpiexec, "slurm": Srun}


def why_not(launcher):
    if launcher == "slurm":
        return slurm.why_not()
    program = CLASSES[launcher].launcher[0]
    return "" if shutil.which(program) else \
        f"{program} is not installed: tools/install_dependencies --launchers"


if __name__ == "__main__":
    which = sys.argv.pop(1)
    if reason := why_not(which):
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    Launched.programs = programs()
    unittest.main(defaultTest=CLASSES[which].__name__)
