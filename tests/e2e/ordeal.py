"""A job of everything, whose coordinators and tasks may be killed, stopped and cut off while it runs,
and what must hold nevertheless: counters, queues, versions, barriers, locks, ephemeral keys and membership.
Its tasks are ordeal_worker.py, which logs each step. Not here: who is killed.
"""

import collections
import os
import pathlib
import random
import signal
import sys
import threading
import time

from programs import LIMIT

PYTHON = os.environ.get("COXSWAIN_PYTHON", "")
if PYTHON:
    sys.path.insert(0, PYTHON)
    import coxswain

WORKER = pathlib.Path(__file__).with_name("ordeal_worker.py")
QUEUES = 8
SPARE_ITEMS = 30  # in each queue: a killed task may have popped without having pushed


class Ordeal:
    """The job's tasks, and an observer that watches keys and tasks."""

    def __init__(self, test, tasks, address=None):
        """`address`: where a task of this number connects."""
        self.test, self.tasks = test, tasks
        self.address = address or (lambda task: test.at["COXSWAIN_ADDRESS"])
        self.directory = test.directory / "ordeal"
        self.directory.mkdir()
        for lock in range(4):
            (self.directory / f"lock-{lock}").write_text("0")
        self.client = coxswain.Client(test.at["COXSWAIN_ADDRESS"])
        for queue in range(QUEUES):
            for item in range(SPARE_ITEMS):
                self.client.push(f"queue/{queue}", f"spare-{queue}:{item}")
        self.changes = []
        self.gaps = 0
        self.watch = self.client.watch("swap")
        self.members = []
        self.listed = set()  # processes that were connected, as (task, incarnation)
        self.lost = []  # (task, incarnation, when)
        self.watchers = [threading.Thread(target=of) for of in (self.collect_changes, self.collect_members)]
        for watcher in self.watchers:
            watcher.start()
        test.addCleanup(self.client.close)
        self.incarnations = collections.Counter()
        self.killed = {}  # name: when it was killed, when the next one had joined
        self.running = {}
        for task in range(tasks):
            self.start(task)

    def start(self, task):
        self.incarnations[task] += 1
        name = f"{task}-{self.incarnations[task]}"
        arguments = (self.directory / f"log-{name}", name, self.directory)
        env = {"COXSWAIN_ADDRESS": self.address(task), "COXSWAIN_TASK_ID": str(task),
               "COXSWAIN_NUM_TASKS": str(self.tasks)}
        self.running[task] = self.test.start(sys.executable, "-B", WORKER, *arguments,
                                             env=env | {"PYTHONPATH": PYTHON})

    def kill_a_task(self, among=None):
        """Kills a recoverable one, and starts another process of it."""
        task = random.choice(among or range(0, self.tasks, 4))
        name = f"{task}-{self.incarnations[task]}"
        self.killed[name] = time.monotonic_ns()
        self.running[task].signal(signal.SIGKILL)
        self.running[task].wait()
        self.start(task)

    def collect_changes(self):
        try:
            while True:
                try:
                    self.changes += self.watch.next()
                except coxswain.OutOfRange:
                    self.gaps += 1
                    self.watch.list()
        except coxswain.Cancelled:
            pass

    def collect_members(self):
        try:
            for change in self.client.process_monitor():
                now = time.monotonic_ns()
                self.lost += ((one.task, one.incarnation, now) for one in change.lost)
                self.listed |= {(one.id, one.incarnation) for one in change.tasks if one.state == "connected"}
                self.members = change.tasks
        except coxswain.Cancelled:
            pass

    def rounds(self):
        """How many rounds the first task that is never killed has gone through."""
        log = self.directory / "log-1-1"
        return log.read_text().count("released") if log.exists() else 0

    def await_rounds(self, count):
        """Waits until the job has made as many further rounds."""
        goal, deadline = self.rounds() + count, time.monotonic() + LIMIT
        while self.rounds() < goal:
            for task, program in self.running.items():
                if program.process.poll() is not None:
                    raise AssertionError(f"task {task} has ended: {program.output()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"the job has stopped\n{self.why()}")
            time.sleep(0.02)

    def why(self):
        return "\n".join(self.test.coxswain(*words).out for words in (("status",), ("why",), ("events",)))

    def end(self):
        """Lets the tasks leave, and checks everything."""
        self.stopped = time.monotonic_ns()
        self.client.put("stop", "1")
        for task, program in self.running.items():
            try:
                code = program.wait()
            except AssertionError:
                raise AssertionError(f"task {task} still runs\n{self.why()}") from None
            self.test.assertEqual(code, 0, f"task {task}: {program.output()}\n{self.why()}")
        rest = {item for queue in range(QUEUES) for item in self.drain(f"queue/{queue}")}
        count = int(self.client.try_get("count"))
        own = sum(int(self.client.get(f"own/{task}")) for task in range(self.tasks))
        guarded = {f"lock-{lock}": int(self.client.get(f"guarded/lock-{lock}")) for lock in range(4)}
        last = self.client.put("last", "x")
        deadline = time.monotonic() + LIMIT
        while (self.watch.version < max((one.version for one in self.client.list("swap")), default=0)
               or any(one.state != "left" for one in self.members)):
            self.test.assertLess(time.monotonic(), deadline, "a watch is behind")
            time.sleep(0.01)
        self.test.assertGreater(last, self.changes[-1].version)
        self.test.assertFalse(self.client.list("alive"), "ephemeral keys outlived all tasks")
        self.client.close()
        for watcher in self.watchers:
            watcher.join()
        Record(self).check(rest, count, own, guarded)

    def drain(self, queue):
        while True:
            try:
                yield self.client.pop(queue, timeout=0).value.decode()
            except coxswain.DeadlineExceeded:
                return


class Record:
    """The logs of all processes of all tasks."""

    def __init__(self, ordeal):
        self.ordeal, self.test, self.tasks = ordeal, ordeal.test, ordeal.tasks
        self.steps = {}  # by task: (time, verb, words, name) of all its processes
        self.pending = collections.Counter()
        for task in range(self.tasks):
            self.steps[task] = []
            for number in range(1, ordeal.incarnations[task] + 1):
                self.read(task, f"{task}-{number}")

    def read(self, task, name):
        file = self.ordeal.directory / f"log-{name}"
        steps = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        for at, verb, *words in steps:
            self.test.assertNotEqual(verb, "wrong", (name, words))
            self.steps[task].append((int(at), verb, words, name))
        if name not in self.ordeal.killed:
            self.test.assertEqual(steps[-1][1], "left", name)
        elif steps and steps[-1][1].endswith("?"):
            self.pending[" ".join(steps[-1][1:])] += 1
            self.pending[steps[-1][1]] += 1

    def all(self, verb):
        return [words for steps in self.steps.values() for _, what, words, _ in steps if what == verb]

    def check(self, rest, count, own, guarded):
        self.check_counts(count, own)
        self.check_queues(rest)
        self.check_swaps()
        self.check_rounds()
        self.check_absences()
        self.check_members()
        for lock, found in guarded.items():
            counts = sorted(int(words[2]) for words in self.all("guarded") if words[0] == lock)
            self.check_series(counts, found, self.pending[f"guarded? {lock}"])

    def check_series(self, confirmed, found, pending):
        """The confirmed values are distinct, and all but the pending ones of 1 to the found one."""
        self.test.assertEqual(len(set(confirmed)), len(confirmed))
        self.test.assertLessEqual(max(confirmed), found)
        self.test.assertLessEqual(found - len(confirmed), pending)

    def check_counts(self, count, own):
        counts = [int(words[0]) for words in self.all("count")]
        self.check_series(counts, count, self.pending["count?"])
        # The own counter has no line of its own: it follows the common one.
        self.test.assertLessEqual(abs(own - len(counts)), len(self.ordeal.killed))

    def check_queues(self, rest):
        popped = [words[0] for words in self.all("pop")]
        self.test.assertEqual(len(set(popped)), len(popped), "an item was given out twice")
        self.test.assertFalse(set(popped) & rest, "an item was given out and kept")
        pushed = {words[0] for words in self.all("push")}
        pushed |= {f"spare-{queue}:{item}" for queue in range(QUEUES) for item in range(SPARE_ITEMS)}
        begun = {words[0] for words in self.all("push?")} - pushed
        self.test.assertFalse((set(popped) | rest) - pushed - begun, "items from nowhere")
        self.test.assertLessEqual(len(begun), self.pending["push?"])
        self.test.assertLessEqual(len(pushed - set(popped) - rest), self.pending["pop?"], "items were lost")
        numbers = [int(words[1]) for words in self.all("pop")]
        self.test.assertEqual(len(set(numbers)), len(numbers), "two items with one number")

    def check_swaps(self):
        seen = [one.version for one in self.ordeal.changes]
        self.test.assertEqual(seen, sorted(set(seen)), "versions went back")
        confirmed = {int(words[1]) for words in self.all("swap")}
        self.test.assertEqual(len(confirmed), len(self.all("swap")))
        pending = sum(n for what, n in self.pending.items() if what == "swap?")
        self.test.assertLessEqual(len(set(seen) - confirmed), pending, "changes that nobody made")
        if not self.ordeal.gaps:
            self.test.assertFalse(confirmed - set(seen), "changes that the watch has not seen")

    def check_rounds(self):
        released = collections.defaultdict(dict)  # by round: when, by task
        for task, steps in self.steps.items():
            for at, verb, words, _ in steps:
                if verb == "released":
                    self.test.assertNotIn(task, released[int(words[0])], "released twice")
                    released[int(words[0])][task] = at
        self.test.assertEqual(sorted(released), list(range(1, len(released) + 1)))
        before = 0
        for round, when in sorted(released.items()):
            first = min(when.values())
            for task, steps in self.steps.items():
                since = released[round - 1].get(task, before) if round > 1 else 0
                self.test.assertTrue(any(verb == "arrive" and since < at < first for at, verb, _, _ in steps),
                                     f"round {round} was released without task {task}")
            before = first
        steady = collections.Counter(int(words[0]) for words in self.all("steady"))
        members = sum(1 for task in range(self.tasks) if task % 4)
        self.test.assertEqual(set(steady.values()), {members})
        self.test.assertEqual(max(steady) - min(steady) + 1, len(steady))

    def check_absences(self):
        """A task missed the ephemeral key of its neighbour only while that was dead."""
        for task, steps in self.steps.items():
            for at, verb, words, _ in steps:
                if verb == "absent":
                    self.test.assertTrue(self.was_dead(int(words[0]), at), f"an ephemeral key of {words[0]}")

    def check_members(self):
        """Each process was reported as lost once, and not before it was killed or left."""
        lost = [process for *process, _ in self.ordeal.lost]
        self.test.assertEqual(sorted(map(tuple, lost)), sorted(self.ordeal.listed))
        joined = {(task, int(words[0])): name for task, steps in self.steps.items()
                  for _, verb, words, name in steps if verb == "joined"}
        for *process, at in self.ordeal.lost:
            name = joined.get(tuple(process))
            if at < self.ordeal.stopped and name:
                self.test.assertLess(self.ordeal.killed.get(name, at), at, f"{name} was reported as lost")
        silent = self.ordeal.killed.keys() - set(joined.values())
        self.test.assertLessEqual(len(self.ordeal.listed - joined.keys()), len(silent))
        unseen = {joined[process] for process in joined.keys() - self.ordeal.listed}
        self.test.assertFalse(unseen - self.ordeal.killed.keys(), "processes that joined unseen")

    def was_dead(self, task, at):
        for name, killed in self.ordeal.killed.items():
            if name.partition("-")[0] == str(task):
                back = next((when for when, verb, _, _ in self.steps[task]
                             if verb == "released" and when > killed), at + 1)
                if killed < at < back:
                    return True
        return False
