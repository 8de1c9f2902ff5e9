"""The coordinator of a job of 64 processes is killed and started again at random moments; behind relays,
these and tasks are killed or stopped as well.

COXSWAIN_KILLS: how many times for each durability, and half of the faults behind relays (default 3;
tools/nightly: 50). COXSWAIN_SEED: repeats a run, but for its timing.
"""

import os
import random
import signal
import time
import unittest

from ordeal import Ordeal, PYTHON
from programs import SLOWNESS
from restart_test import WithJournal

KILLS = int(os.environ.get("COXSWAIN_KILLS", "3"))
TASKS, RELAYS = 64, 8


class WithKills(WithJournal):

    def start_seeded(self, title, *arguments):
        """A coordinator, with these arguments each time."""
        seed = int(os.environ.get("COXSWAIN_SEED", random.randrange(1 << 32)))
        print(f"{title}: seed {seed}", flush=True)
        random.seed(seed)
        self.arguments = ("--keep", *arguments)
        self.coordinator = self.serve_journal(TASKS, *self.arguments)

    def end_coordinator(self):
        if random.random() < 0.2:
            self.stop(self.coordinator)
        else:
            self.kill(self.coordinator)

    def start_again(self):
        self.coordinator = self.serve_journal(TASKS, *self.arguments)

    def end(self, job):
        job.end()
        self.kill(self.coordinator)
        verified = self.run_to_end("coxswain", "journal", "verify", self.journal)
        self.assertEqual(verified.code, 0, verified.output())


@unittest.skipUnless(PYTHON, "the Python package is not built")
class Kills(WithKills):

    def test_nothing_is_lost_or_done_twice(self):
        self.go_through("process")

    def test_nothing_is_lost_or_done_twice_with_a_synchronized_journal(self):
        self.go_through("disk")

    def go_through(self, durability):
        self.start_seeded(durability, "--durability", durability)
        job = Ordeal(self, TASKS)
        job.await_rounds(1)

        for kill in range(KILLS):
            time.sleep(random.uniform(0, 0.5))
            if random.random() < 0.1:
                job.kill_a_task()
            self.end_coordinator()
            if random.random() < 0.1:
                job.kill_a_task()
            if random.random() < 0.2:
                self.kill_in_start()
            self.start_again()
            if kill % 3 == 2:
                job.await_rounds(1)
        job.await_rounds(2)
        self.end(job)

    def kill_in_start(self):
        program = self.start("coxswain", "serve", "-n", TASKS, "--listen", f"127.0.0.1:{self.port}",
                             "--journal", self.journal, *self.arguments)
        time.sleep(random.uniform(0, 0.05))
        program.signal(signal.SIGKILL)
        program.wait()


@unittest.skipUnless(PYTHON, "the Python package is not built")
class BehindRelays(WithKills):

    def test_nothing_is_lost_or_done_twice_and_no_task_fails_with_its_relay(self):
        # Clients leave a relay that is silent for a third of the heartbeat timeout.
        self.start_seeded("relays", "--heartbeat-timeout", f"{9 * SLOWNESS}s",
                          "--relay-grace", f"{10 * SLOWNESS}s")
        self.relays = [self.start_relay(number) for number in range(RELAYS)]
        self.job = Ordeal(self, TASKS, self.addresses)
        self.job.await_rounds(1)
        self.assertEqual(self.behind_relays(), TASKS)

        faults = [self.kill_relay, self.stop_relay, self.kill_task, self.kill_coordinator]
        for number in range(2 * KILLS):
            if number % len(faults) == 0:
                random.shuffle(faults)
            time.sleep(random.uniform(0, 0.5))
            began = time.monotonic()
            what = faults[number % len(faults)]()
            ended = time.monotonic()
            if number % 3 == 2:
                self.job.await_rounds(1)
            print(f"{number + 1}: {what}: {ended - began:.1f} s, then {time.monotonic() - ended:.1f} s; "
                  f"{self.behind_relays()} tasks are behind relays", flush=True)
        self.job.await_rounds(2)
        self.wait_for_status("every relay", lambda status: len(status["relays"]) == RELAYS)
        self.end(self.job)

    def addresses(self, task):
        """Its relay's; for a third of the tasks also the next relay's, for another the coordinator's."""
        relay = task * RELAYS // TASKS
        others = ([], [self.relays[(relay + 1) % RELAYS].address], self.coordinator.addresses)
        return ",".join([self.relays[relay].address, *others[task % 3]])

    def behind_relays(self):
        return sum(" via relay" in task["peer"] for task in self.status()["tasks"])

    def start_relay(self, number):
        return self.relay(self.coordinator, name=f"relay-{number}")

    def kill_relay(self):
        number = random.randrange(RELAYS)
        self.kill(self.relays[number])
        meanwhile = self.let_pass(random.uniform(0, 2), kills_behind=number)
        self.relays[number] = self.start_relay(number)
        return f"relay {number} was killed{meanwhile}"

    def stop_relay(self):
        number = random.randrange(RELAYS)
        self.relays[number].signal(signal.SIGSTOP)
        meanwhile = self.let_pass(random.uniform(1, 5))  # a killed task's next process may be refused (§1.2.5)
        self.relays[number].signal(signal.SIGCONT)
        return f"relay {number} was stopped{meanwhile}"

    def kill_task(self):
        self.job.kill_a_task()
        return "a task was killed"

    def kill_coordinator(self):
        self.end_coordinator()
        self.start_again()
        return "the coordinator was killed"

    def let_pass(self, seconds, kills_behind=None):
        """While a relay is away, something else may fail as well."""
        time.sleep(seconds / 2)
        what = ""
        if (chance := random.random()) < 0.2 and kills_behind is not None:
            first = kills_behind * TASKS // RELAYS
            self.job.kill_a_task(among=(first, first + 4))
            what = ", and a task behind it"
        elif chance < 0.4:
            self.kill_coordinator()
            what = ", and the coordinator"
        time.sleep(seconds / 2)
        return what


if __name__ == "__main__":
    unittest.main()
