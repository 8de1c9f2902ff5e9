"""coxswain lock, take, task and run, and the commands that they wrap: they live, stop and die together."""

import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from programs import BIN, EndToEnd, LIMIT, TIMED_OUT, UNAVAILABLE, clean_environment  # noqa: E402

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)

# Prints the numbers of a shell and of a process that it has started, and works for ever.
WORK = "tail -f /dev/null & echo work $$ $!; wait"
STUBBORN = "trap '' HUP INT QUIT TERM; " + WORK


def stat_of(pid):
    """The state, the parent and the name of a process; a state of its own if there is none."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "gone", 0, ""
    name, _, rest = text.partition("(")[2].rpartition(") ")
    state, parent, *_ = rest.split()
    return state, int(parent), name


def is_gone(pid):
    return stat_of(pid)[0] in ("gone", "Z", "X")


def children_of(pid):
    return [int(one.name) for one in pathlib.Path("/proc").iterdir()
            if one.name.isdigit() and stat_of(one.name)[1] == pid]


class Wrapped(EndToEnd):

    def setUp(self):
        super().setUp()
        self.coordinator = self.serve(1, "--recoverable")
        self.wrappers = {
            "lock": ("lock", "l"), "take": ("take", "q"), "task": ("task", "--task-id", 0),
            "run": ("run", "-n", 1),
            "run and task": ("run", "-n", 1, "--", BIN / "coxswain", "task")}

    def wrap(self, kind, script, *options, **how):
        """The wrapper of a shell script."""
        if kind == "take":
            self.succeed("push", "q", "item")
        return self.start("coxswain", *self.wrappers[kind], *options, "--", "sh", "-c", script,
                          env={} if kind.startswith("run") else self.at, **how)

    def wait_until(self, condition, what):
        deadline = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), deadline, what())

    def pids_of(self, wrapper):
        pids = [int(one) for one in wrapper.line("work ").split()[-2:]]
        self.addCleanup(self.kill_all, pids)
        return pids

    @staticmethod
    def kill_all(pids):
        for pid in pids:
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)

    def assert_gone(self, pids):
        self.wait_until(lambda: all(map(is_gone, pids)),
                        lambda: f"{[stat_of(pid) for pid in pids]} live")

    def assert_state(self, pids, states):
        self.wait_until(lambda: all(stat_of(pid)[0] in states for pid in pids),
                        lambda: f"{[stat_of(pid) for pid in pids]} instead of {states}")


class Deaths(Wrapped):

    def test_a_killed_wrapper_takes_all_of_its_command_with_it(self):
        for kind in self.wrappers:
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, STUBBORN)
                pids = self.pids_of(wrapper)

                wrapper.signal(signal.SIGKILL)

                self.assertEqual(wrapper.wait(), -signal.SIGKILL)
                self.assert_gone(pids)

    def test_a_stopped_command_dies_with_its_wrapper_too(self):
        for kind in ("lock", "run"):
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, WORK)
                pids = self.pids_of(wrapper)
                os.kill(-pids[0], signal.SIGSTOP)

                wrapper.signal(signal.SIGKILL)

                self.assert_gone(pids)

    def test_signals_reach_all_of_the_group(self):
        for kind in ("lock", "take", "task"):
            with self.subTest(wrapper=kind):
                for number in ENDING:
                    with self.subTest(signal=number.name):
                        wrapper = self.wrap(kind, WORK)
                        pids = self.pids_of(wrapper)

                        wrapper.signal(number)

                        # A shell starts processes in the background without SIGINT and SIGQUIT.
                        self.assertEqual(wrapper.wait(), 128 + number, wrapper.output())
                        self.assert_gone(pids)

    def test_run_ends_all_processes_at_each_signal(self):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                wrapper = self.wrap("run", f"trap 'echo bye; exit 0' TERM; {WORK}")
                pids = self.pids_of(wrapper)

                wrapper.signal(number)

                self.assertEqual(wrapper.wait(), 128 + number, wrapper.output())
                self.assertIn("[0] bye", wrapper.out)
                self.assert_gone(pids)

    def test_a_closed_terminal_ends_the_command(self):
        for kind in self.wrappers:
            with self.subTest(wrapper=kind):
                if kind == "take":
                    self.succeed("push", "q", "item")
                wrapper, terminal = pty.fork()
                if wrapper == 0:
                    environment = clean_environment(self.directories())
                    if not kind.startswith("run"):
                        environment |= self.at
                    command = [str(BIN / "coxswain"), *map(str, self.wrappers[kind]), "--", "sh", "-c", WORK]
                    os.execve(command[0], command, environment)
                self.addCleanup(os.waitpid, wrapper, 0)
                given = b""
                while b"work" not in given or not given.endswith(b"\n"):
                    given += os.read(terminal, 1000)
                pids = [int(one) for one in given.split(b"work")[1].split()[:2]]
                self.addCleanup(self.kill_all, [wrapper, *pids])

                os.close(terminal)

                self.assert_gone([wrapper, *pids])

    def test_what_ignores_hangups_goes_on(self):
        for kind in ("lock", "task"):
            with self.subTest(wrapper=kind):
                command = [str(BIN / "coxswain"), *map(str, self.wrappers[kind]), "--", "sh", "-c",
                           f"echo work $$ $$; exec {BIN}/coxswain get go-{kind} --wait forever"]
                environment = clean_environment(self.directories() | self.at)
                wrapper = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command],
                                           env=environment, stdout=subprocess.PIPE, text=True)
                self.addCleanup(wrapper.stdout.close)
                self.addCleanup(wrapper.kill)
                pid = int(wrapper.stdout.readline().split()[1])

                for one in (wrapper.pid, pid):
                    os.kill(one, signal.SIGHUP)

                self.succeed("put", f"go-{kind}", "now")
                self.assertEqual(wrapper.wait(LIMIT), 0)


class Ends(Wrapped):

    def test_the_lock_is_held_until_the_command_has_cleaned_up(self):
        end = self.directory / "end"
        os.mkfifo(end)
        owner = self.wrap("lock", f"trap 'echo cleans; read x < {end}; exit 5' TERM; {WORK}",
                          "--kill-grace", "forever")
        pids = self.pids_of(owner)

        owner.signal(signal.SIGTERM)

        owner.line("cleans")
        self.assertEqual(self.coxswain("lock", "l", "--wait", "0s", "--", "true").code, TIMED_OUT)
        end.write_text("\n")
        self.assertEqual(owner.wait(), 5, owner.output())
        self.assert_gone(pids)
        self.succeed("lock", "l", "--", "true")

    def test_an_item_is_done_if_its_interrupted_command_says_so(self):
        for code in (0, 5):
            with self.subTest(code=code):
                wrapper = self.wrap("take", f"trap 'exit {code}' TERM; {WORK}")
                self.pids_of(wrapper)

                wrapper.signal(signal.SIGTERM)

                self.assertEqual(wrapper.wait(), code, wrapper.output())
                self.assertEqual(self.coxswain("pop", "q").code, TIMED_OUT if code == 0 else 0)

    def test_a_command_that_does_not_end_is_killed_after_the_grace(self):
        for kind in ("lock", "take"):
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, STUBBORN, "--kill-grace", "100ms")
                pids = self.pids_of(wrapper)

                wrapper.signal(signal.SIGTERM)

                self.assertEqual(wrapper.wait(), 128 + signal.SIGKILL, wrapper.output())
                self.assertIn("'sh' still runs 100 ms after SIGTERM (--kill-grace): SIGKILL", wrapper.err)
                self.assert_gone(pids)

    def test_a_command_that_is_stopped_ends_when_its_lock_is_lost(self):
        owner = self.wrap("lock", WORK)
        pids = self.pids_of(owner)
        os.kill(-pids[0], signal.SIGSTOP)

        self.stop(self.coordinator)

        self.assertEqual(owner.wait(), UNAVAILABLE, owner.output())
        self.assertNotIn("SIGKILL", owner.err)
        self.assert_gone(pids)


class Supervisors(Wrapped):

    def supervisor_of(self, wrapper):
        def found():
            return [pid for pid in children_of(wrapper.pid) if stat_of(pid)[2] == "supervisor"]

        self.wait_until(found, lambda: "there is none")
        supervisor, = found()
        return supervisor

    def test_the_end_of_the_supervisor_has_no_effect(self):
        end = self.directory / "end"
        os.mkfifo(end)
        for kind in self.wrappers:
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, f"echo work $$ $$; read x < {end}; exit 3")
                self.pids_of(wrapper)

                os.kill(self.supervisor_of(wrapper), signal.SIGKILL)
                end.write_text("\n")

                self.assertEqual(wrapper.wait(), 3, wrapper.output())

    def test_the_supervisor_ends_with_the_wrapper(self):
        for kind in self.wrappers:
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, WORK)
                self.pids_of(wrapper)
                supervisor = self.supervisor_of(wrapper)

                wrapper.signal(signal.SIGTERM)

                wrapper.wait()
                self.assert_gone([supervisor])

    def test_what_is_sent_to_the_name_or_group_of_the_wrapper_spares_the_supervisor(self):
        wrapper = self.wrap("lock", WORK)
        pids = self.pids_of(wrapper)
        supervisor = self.supervisor_of(wrapper)

        self.assertEqual(pathlib.Path(f"/proc/{supervisor}/cmdline").read_bytes().strip(b"\0"), b"")
        self.assertEqual(os.getsid(supervisor), supervisor)
        self.assertEqual(os.getpgid(supervisor), supervisor)
        self.assertEqual(len(os.listdir(f"/proc/{supervisor}/fd")), 1)
        for number in ENDING:
            os.kill(supervisor, number)
        wrapper.signal(signal.SIGKILL)
        self.assert_gone([*pids, supervisor])


class Stops(Wrapped):
    """Ctrl-Z."""

    def stop_and_continue(self, wrapper, pids):
        wrapper.signal(signal.SIGTSTP)
        self.assert_state([wrapper.pid, *pids], "T")
        wrapper.signal(signal.SIGCONT)
        self.assert_state([wrapper.pid, *pids], "SR")

    def test_the_command_stops_and_continues_with_its_wrapper(self):
        for kind in self.wrappers:
            with self.subTest(wrapper=kind):
                wrapper = self.wrap(kind, WORK)
                pids = self.pids_of(wrapper)

                for _ in range(3):
                    self.stop_and_continue(wrapper, pids)
                wrapper.signal(signal.SIGTERM)

                self.assertEqual(wrapper.wait(), 128 + signal.SIGTERM, wrapper.output())

    def test_a_command_that_ignores_it_goes_on_with_its_wrapper(self):
        wrapper = self.wrap("lock", f"trap '' TSTP; {WORK}")
        pids = self.pids_of(wrapper)

        wrapper.signal(signal.SIGTSTP)
        wrapper.signal(signal.SIGCONT)
        wrapper.signal(signal.SIGTERM)

        self.assertEqual(wrapper.wait(), 128 + signal.SIGTERM, wrapper.output())
        self.assert_gone(pids)

    def test_a_terminal_stops_and_continues_all(self):
        wrapper, terminal = pty.fork()
        if wrapper == 0:
            command = [str(BIN / "coxswain"), "lock", "l", "--", "sh", "-c", WORK]
            os.execve(command[0], command, clean_environment(self.directories() | self.at))
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.waitpid, wrapper, 0)
        pids = [int(one) for one in os.read(terminal, 1000).split()[1:3]]
        self.addCleanup(self.kill_all, [wrapper, *pids])

        os.write(terminal, b"\x1a")
        self.assert_state([wrapper, *pids], "T")
        os.kill(wrapper, signal.SIGCONT)
        self.assert_state([wrapper, *pids], "SR")
        os.write(terminal, b"\x03")

        self.assert_gone([wrapper, *pids])


class Lost(EndToEnd):

    def test_a_stopped_command_does_not_go_on_without_its_lock(self):
        self.serve(1, "--heartbeat-timeout", "1s", "--reconnect-grace", "0")
        done = self.directory / "done"
        owner = self.start("coxswain", "lock", "l", "--", "sh", "-c",
                           f"echo x >> {done}; echo up; while :; do echo x >> {done}; done", env=self.at)
        owner.line("up")

        owner.signal(signal.SIGTSTP)
        next_one = self.coxswain("lock", "l", "--wait", "2min", "--", "true")
        work = done.stat().st_size
        owner.signal(signal.SIGCONT)

        self.assertEqual(next_one.code, 0, next_one.err)
        self.assertEqual(owner.wait(), UNAVAILABLE, owner.output())
        self.assertEqual(done.stat().st_size, work)


if __name__ == "__main__":
    unittest.main()
