"""A job of real JAX, and what each of its programs must do. Not here: tests."""

import pathlib
import signal

from harness import SLOWNESS, TASKS, WithRealJobs

HERE = pathlib.Path(__file__).resolve().parent

# One after another in the same processes.
PROGRAMS = "collective", "client", "live", "checkpoint", "preemption"

LAST = TASKS - 1
ALL, OTHERS = list(range(TASKS)), list(range(TASKS - 1))

# Seconds from the end of a process until all others know; with XLA's own service that takes 60.
NOTIFIED_MAX = 10

# jaxlib ends its process by abort() when it hears of a failure, 0.8 by exit(1). A wrapper may be faster.
ENDED_BY_JAXLIB = {-signal.SIGABRT, 128 + signal.SIGABRT, 1}
ENDED_BY_WRAPPER = {128 + signal.SIGTERM}
KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}


class JaxCase(WithRealJobs):

    python = None  # the environment's

    def jax_job(self, way, *programs, **how):
        return self.job(way, [self.python, "-B", HERE / "programs" / "job.py", *programs],
                        env={"CHECKPOINTS": str(self.directory / "checkpoints")}, **how)

    def assert_passed(self, job, program):
        self.assertEqual(job.tasks_with(f"passed {program} "), ALL, job.output())

    def assert_agreed_on_preemption(self, job):
        steps = {line.partition("at step ")[2] for line in job.lines if "passed preemption" in line}
        self.assertEqual(len(steps), 1, job.output())

    def assert_notified_of_the_killed(self, job):
        killed = job.wait_for(1, "dies")[0].at
        if job.way in ("run", "relay"):
            where = job.wait_for(1, "what they wrote to standard error is in ")[0]
            self.assertLess(where.at - killed, NOTIFIED_MAX * SLOWNESS, job.output())
            said = pathlib.Path(str(where).rpartition(" is in ")[2]).read_text().lower().splitlines()
            for task in OTHERS:
                self.assertTrue(any(line.startswith(f"[{task}] ") and f"task {LAST} " in line for line in said),
                                f"process {task} was notified of nothing\n{said}")
            return
        for task in OTHERS:
            lines = [line for line in job.lines_of(task) if line.at >= killed and f"task {LAST} " in line.lower()]
            self.assertTrue(lines, f"process {task} was notified of nothing\n{job.output()}")
            self.assertLess(lines[0].at - killed, NOTIFIED_MAX * SLOWNESS, job.output())

    def assert_codes_after_a_kill(self, job, codes):
        if job.way in ("run", "relay"):
            self.assertEqual(codes, [128 + signal.SIGKILL], job.output())
            return
        self.assertIn(codes[LAST], KILLED, job.output())
        for code in codes[:LAST]:
            self.assertIn(code, ENDED_BY_JAXLIB | ENDED_BY_WRAPPER, job.output())

    def assert_absent_is_named(self, job):
        """By all others; but a wrapper may end its process first when the coordinator's own process has ended."""
        ended = []
        if job.way.startswith("host0"):
            ended = [task for task in OTHERS if job.programs[task].wait() in ENDED_BY_WRAPPER]
        job.wait_for(len(OTHERS) - len(ended), "Terminating process because")
        notified = job.tasks_with("Terminating process because", f"{LAST} (never connected)")
        self.assertEqual(sorted({*notified, *ended}), OTHERS, job.output())
        self.assertTrue(notified, job.output())
