#!/usr/bin/env python3
"""The training loop in the README: with a task that is killed and started again, and with a
preemption notice."""

import pathlib
import re
import tempfile

from support import PythonTest, eventually, main

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/train.py"


class Train(PythonTest):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="coxswain-train-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.at = self.coordinator(4, recoverable=True, reconnect_grace=0)
        self.observer = self.client(self.at)

    def start(self, task):
        return self.python(TRAIN.read_text(), self.directory,
                           COXSWAIN_ADDRESS=self.at.address, COXSWAIN_TASK_ID=str(task))

    def has_done(self, step):
        progress = self.observer.status().tasks[1].progress
        return progress is not None and progress.step >= step

    def result(self, programs):
        """The final output of all of them, which must be equal."""
        output = {re.search(r"stopped after (\d+) steps with weight (\S+)", self.out_of(one)).groups()
                for one in programs}
        self.assertEqual(len(output), 1, output)
        step, weight = output.pop()
        return int(step), float(weight)

    def test_a_killed_task_returns_without_lost_work(self):
        programs = [self.start(task) for task in range(4)]
        for kill_at in (25, 140):
            eventually(lambda: self.has_done(kill_at))
            programs[2].kill()
            programs[2].communicate()
            programs[2] = self.start(2)

        step, weight = self.result(programs)

        expected = 0.0
        for number in range(400):
            expected += sum([1 / (1 + number + task) for task in range(4)]) / 4
        self.assertEqual((step, f"{weight:.9f}"), (400, f"{expected:.9f}"))

    def test_all_save_the_same_step_before_a_preemption(self):
        programs = [self.start(task) for task in range(4)]
        eventually(lambda: self.has_done(5))

        self.observer.preempt(task=3)

        step, _ = self.result(programs)
        self.assertEqual(int((self.directory / "latest").read_text()), step)
        self.assertEqual(len(list(self.directory.glob(f"{step}.*"))), 4)


if __name__ == "__main__":
    main()
