"""Reports of the program while it waits, and when it gives up."""

import os
import signal
import socket
import time
import unittest

from programs import PATH, EndToEnd, SLOWNESS, UNAVAILABLE, free_port


# Ends with its `coxswain task`, even if that is killed.
STAYS = "while kill -0 $PPID 2> /dev/null; do sleep 0.1; done"


class Waiting(EndToEnd):

    def start_task(self, task, tasks, *options, text=STAYS):
        return self.start("coxswain", "task", "--task-id", task, "--num-tasks", tasks, *options, "--",
                          "sh", "-c", text, env=self.at | PATH)

    def test_a_refusing_address_is_named_within_a_second(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}
        began = time.monotonic()

        task = self.start_task(0, 1, "--connect-timeout", "3s")
        line = task.line("unreachable", "err")

        self.assertLess(time.monotonic() - began, 5 * SLOWNESS)  # 400 ms where nothing else runs
        self.assertIn(f"at {self.at['COXSWAIN_ADDRESS']} unreachable for ", line)
        self.assertIn("Connection refused; giving up in ", line)
        self.assertTrue(line.startswith("coxswain task: "), line)
        self.assertEqual(task.wait(), UNAVAILABLE, task.output())

    def test_a_peer_that_accepts_and_says_nothing_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.at = {"COXSWAIN_ADDRESS": "127.0.0.1:%d" % silent.getsockname()[1]}
            task = self.start_task(0, 1, "--connect-timeout", "5s")

            for _ in range(2):  # after 2 s, and again 2 s later
                line = task.line("unreachable", "err")
                self.assertRegex(line, r"for (?:[2-9]|\d\d)[\d.]* s \(1 try\): "
                                       "connected, but no reply to the greeting of a Coxswain client; giving up")
                task.lines["err"].remove(line)
            self.assertEqual(task.wait(), UNAVAILABLE, task.output())

    def test_the_process_of_task_0_is_named_if_it_hosts_the_coordinator(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}
        task = self.start_task(1, 2, "--host-if-task-0", "--connect-timeout", "1s")

        task.line(f"at {self.at['COXSWAIN_ADDRESS']} (in the process of task 0) unreachable for ", "err")

        task.wait()

    def test_task_0_hosts_but_its_address_leads_elsewhere(self):
        port = free_port()
        for address, text in (
                (f"nosuch.invalid:{port}", "its address leads nowhere: The host name 'nosuch.invalid'"),
                (f"192.0.2.7:{port}", f"its address 192.0.2.7:{port} is none of this machine (192.0.2.7:{port})")):
            with self.subTest(address):
                self.at = {"COXSWAIN_ADDRESS": address}
                task = self.start_task(0, 1, "--host-if-task-0", "--insecure", "--connect-timeout", "30s")

                line = task.line("task 0 hosts the coordinator, but", "err")

                self.assertIn(text, line)
                self.assertNotIn("unreachable", task.output())
                task.signal(signal.SIGTERM)
                task.wait()

    def test_task_0_hosts_at_its_own_address_without_a_warning(self):
        for host in ("127.0.0.1", "localhost", socket.gethostname()):
            with self.subTest(host):
                self.at = {"COXSWAIN_ADDRESS": f"{host}:{free_port()}"}
                task = self.start_task(0, 1, "--host-if-task-0", "--insecure", text="true")
                self.assertEqual(task.wait(), 0, task.output())
                self.assertNotIn("warning", task.output())

    def test_every_waiting_subcommand_says_what_it_waits_for(self):
        self.serve(1)
        for command, text in (
                (("get", "k", "--wait", "3s"), "get of key 'k' has waited for [0-9.]+ s: key 'k' has no value"),
                (("pop", "q", "--wait", "3s"), "pop of queue 'q' has waited for [0-9.]+ s: queue 'q' has no item"),
                (("barrier", "b", "--count", "2", "--timeout", "3s"),
                 "count barrier 'b' has waited for [0-9.]+ s: 1 of 2 have arrived")):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertRegex(done.err, f"(?m)^coxswain: {text}$")

    def test_a_barrier_of_a_guest_names_the_missing_tasks(self):
        self.serve(2)
        tasks = [self.start_task(n, 2, text=text) for n, text in
                 enumerate(("coxswain barrier b", STAYS))]

        line = tasks[0].line("barrier 'b' has waited for ", "err")
        self.assertIn(" s: 1 of 2 tasks is missing: 1 (connected", line)

    def test_tasks_learn_which_process_hosted_the_lost_coordinator(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}
        tasks = [self.start_task(n, 2, "--host-if-task-0", *options, text="echo up; " + STAYS)
                 for n, options in enumerate((("--coordinator-return", "1s"), ()))]
        tasks[1].line("up")

        os.kill(tasks[0].process.pid, signal.SIGKILL)
        tasks[1].wait()

        self.assertIn("(in the process of task 0) is gone: its address has refused all connections for 1 s",
                      tasks[1].err)


if __name__ == "__main__":
    unittest.main()
