"""coxswain serve: readiness, access, and how it ends."""

import os
import re
import resource
import signal
import socket
import sys
import unittest

from programs import (BIN, EndToEnd, LIMIT, REFUSED, UNAVAILABLE, USAGE, wait_for_file)


class Ready(EndToEnd):

    def test_the_ready_line_lists_services_and_addresses(self):
        coordinator = self.serve(3, "--job", "train")

        ready = coordinator.ready
        self.assertEqual(ready["event"], "ready")
        self.assertEqual(ready["job"], "train")
        self.assertEqual(ready["num_tasks"], 3)
        self.assertEqual(ready["pid"], coordinator.pid)
        self.assertRegex(ready["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(ready["addresses"][0], r"^127\.0\.0\.1:[1-9]\d*$")

    def test_each_of_several_listeners_serves(self):
        path = self.directory / "socket"
        coordinator = self.serve(1, "--listen", "127.0.0.1:0", "--listen", f"unix:{path}",
                                 "--listen", "127.0.0.1:0")

        self.assertEqual(len(coordinator.addresses), 3)
        self.assertEqual(coordinator.addresses[1], f"unix:{path}")
        for address in coordinator.addresses:
            done = self.succeed("incr", "visits", "--address", address)
        self.assertEqual(self.coxswain("get", "visits").out, "3")

    def test_the_port_file_is_written_atomically(self):
        path = self.directory / "ports"
        listeners = [f"unix:{self.directory}/{number}" for number in range(200)]

        self.start("coxswain", "serve", "-n", 1, "--port-file", path,
                   *(word for one in listeners for word in ("--listen", one)))

        self.assertEqual(wait_for_file(path), "".join(one + "\n" for one in listeners))
        self.assertEqual([f.name for f in self.directory.iterdir() if f.is_file()], ["ports"])

    def test_a_port_file_may_be_a_link_or_a_pipe(self):
        real, link, pipe = (self.directory / name for name in ("real", "link", "pipe"))
        link.symlink_to(real)
        real.touch()
        os.mkfifo(pipe)
        for path in (link, pipe):
            self.start("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0", "--port-file", path)
        self.assertRegex(pipe.read_text(), r"^127\.0\.0\.1:\d+\n$")
        while not real.read_text():
            pass
        self.assertRegex(real.read_text(), r"^127\.0\.0\.1:\d+\n$")
        self.assertTrue(link.is_symlink() and pipe.is_fifo())

    def test_a_port_file_that_cannot_be_written_is_an_error(self):
        path = self.directory / "missing" / "ports"

        serve = self.run_to_end("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0",
                                "--port-file", path)

        self.assertEqual(serve.code, 1)
        self.assertIn(str(path), serve.err)

    def test_options_are_variables_too(self):
        path = self.directory / "socket"
        coordinator = self.serve(2, env={
            "COXSWAIN_LISTEN": f"unix:{path},127.0.0.1:0", "COXSWAIN_JOB": "from-variable",
            "COXSWAIN_NUM_TASKS": "7"})

        self.assertEqual(coordinator.ready["job"], "from-variable")
        self.assertEqual(coordinator.ready["num_tasks"], 2, "the command line wins")
        self.assertEqual(coordinator.addresses[0], f"unix:{path}")
        self.assertEqual(len(coordinator.addresses), 2)

    def test_the_limit_of_open_files_is_raised(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

        coordinator = self.serve(1)

        self.assertEqual(resource.prlimit(coordinator.pid, resource.RLIMIT_NOFILE), (hard, hard))


    @unittest.skipUnless(os.environ.get("COXSWAIN_PYTHON"), "the Python package is not built")
    def test_the_python_coordinator_has_the_same_options(self):
        program = self.run_to_end(
            sys.executable, "-c", "import coxswain, inspect\n"
            "print(*inspect.signature(coxswain.Coordinator).parameters)",
            env={"PYTHONPATH": os.environ["COXSWAIN_PYTHON"]})
        theirs = set(program.out.split())
        flags = re.findall(r"^ +(?:-\w, ?)?--([a-z0-9-]+)",
                           self.run_to_end("coxswain", "serve", "--help-all").out, re.M)
        renamed = {"no-join-barrier": "join_barrier", "no-leave-barrier": "leave_barrier",
                   "memory-max": "memory_bytes_max", "max-epochs": "epochs_max",
                   "journal-max": "journal_bytes_max", "token-file": "tokens"}
        ours = {renamed.get(one, one.replace("-", "_")) for one in flags}

        of_the_program = {"help", "help_all", "config", "print_config", "print_env", "log_format", "log_level",
                          "port_file", "exit_when_done", "advertise", "keep", "engine", "engine_ca",
                          "engine_cert", "engine_key", "engine_login", "large_values",
                          "goodbye_timeout"}
        self.assertEqual(ours - theirs, of_the_program)
        self.assertEqual(theirs - ours, {"token", "hosted_by_task", "linger"})


class ServiceManager(EndToEnd):
    """Notifications to systemd, and sockets from it."""

    def manager(self):
        path = self.directory / "notify"
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(path))
        manager.settimeout(LIMIT)
        return manager, {"NOTIFY_SOCKET": str(path)}

    def serve_with(self, listener, *arguments):
        """A coordinator that inherits the listener like the service of a socket unit."""
        self.addCleanup(listener.close)
        command = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        return self.start("/bin/sh", "-c", command, "sh", BIN / "coxswain", "serve", "-n", 1,
                          *arguments, pass_fds=(listener.fileno(),))

    def test_a_service_manager_is_notified_of_ready_and_stopping(self):
        manager, env = self.manager()

        coordinator = self.serve(2, "--job", "train", env=env)
        self.assertEqual(manager.recv(4096).decode(), "READY=1\nSTATUS=job 'train' of 2 tasks at "
                         + coordinator.addresses[0])
        coordinator.signal(signal.SIGTERM)
        self.assertEqual(manager.recv(4096).decode(),
                         "STOPPING=1\nSTATUS=the coordinator was ended by SIGTERM")
        self.assertEqual(coordinator.wait(), 0)

    def test_the_watchdog_is_fed_while_the_loop_runs(self):
        manager, env = self.manager()

        coordinator = self.serve(1, env=env | {"WATCHDOG_USEC": "20000"})
        manager.recv(4096)
        for _ in range(3):
            self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
        coordinator.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, coordinator.pid, os.WSTOPPED | os.WNOWAIT)
        manager.settimeout(0)
        with self.assertRaises(BlockingIOError):
            while manager.recv(4096):  # what was sent before
                pass
        manager.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            manager.recv(4096)

    def test_the_sockets_of_a_socket_unit_are_used(self):
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"

        coordinator = self.serve_with(listener)

        self.at = {"COXSWAIN_ADDRESS": address}
        self.assertEqual(self.coxswain("incr", "visits").code, 0, coordinator.output())
        self.assertIn(f'"{address}"', coordinator.line('"event"'))

    def test_an_inherited_socket_that_others_can_reach_needs_a_token(self):
        refused = self.serve_with(socket.create_server(("0.0.0.0", 0)))
        self.assertEqual(refused.wait(), USAGE)
        self.assertIn("neither a token nor client certificates protect the coordinator", refused.err)

    def test_an_explicit_listen_option_overrides_a_socket_unit(self):
        coordinator = self.serve_with(socket.create_server(("127.0.0.1", 0)),
                                      "--listen", f"unix:{self.directory}/s")
        self.assertIn(f'"addresses":["unix:{self.directory}/s"]', coordinator.line('"event"'))


class Refusals(EndToEnd):

    def assert_usage(self, words, *arguments, env=None):
        serve = self.run_to_end("coxswain", "serve", *arguments, env=env)
        self.assertEqual(serve.code, USAGE, serve.output())
        self.assertEqual(serve.out, "")
        for word in words:
            self.assertIn(word, serve.err)

    def test_an_elastic_job_refuses_the_time_to_come_back_which_it_does_not_have(self):
        for how in (["--elastic"], ["--min-tasks", 2]):
            self.assert_usage(["--come-back cannot be given together with --"], "-n", 4, *how, "--come-back", "5s")

    def test_missing_and_unknown_options_are_named(self):
        self.assert_usage(["--num-tasks"])
        self.assert_usage(["--speed"], "-n", "1", "--speed", "9")
        self.assert_usage(["'fd://99' is not a listening socket"], "-n", "1", "--listen", "fd://99")

    def test_an_address_in_use_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            serve = self.run_to_end("coxswain", "serve", "-n", 1, "--listen", address)

        self.assertEqual(serve.code, UNAVAILABLE)
        self.assertIn(address, serve.err)

    def test_an_open_listener_needs_a_token(self):
        self.assert_usage(["0.0.0.0:0", "token", "--insecure"], "-n", "1",
                          "--listen", "0.0.0.0:0")

        token = self.directory / "token"
        token.write_text("a-secret\n")
        self.serve(1, "--listen", "0.0.0.0:0", "--token-file", token)
        self.serve(1, "--listen", "0.0.0.0:0", "--insecure")

    def test_clients_need_the_token(self):
        right, wrong = self.directory / "right", self.directory / "wrong"
        right.write_text("  open-sesame\n")
        wrong.write_text("open-barley\n")
        self.serve(1, "--token-file", right)

        self.assertEqual(self.coxswain("put", "a", "1", env=self.elsewhere()).code, REFUSED)
        self.assertEqual(self.coxswain("put", "a", "1", "--token-file", wrong).code, REFUSED)
        self.assertEqual(self.coxswain("put", "a", "1", "--token-file", right).code, 0)
        self.assertEqual(self.coxswain("get", "a", env={"COXSWAIN_TOKEN": "open-sesame"}).code, 0)
        worker = self.worker(0, 1, "--rounds", 2, env={"COXSWAIN_TOKEN_FILE": str(right)})
        self.assertEqual(worker.wait(), 0, worker.output())


class Ends(EndToEnd):

    def test_sigterm_sends_goodbye_and_exits_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                coordinator = self.serve(1)
                waiter = self.start("coxswain", "get", "never", "--wait", "forever", env=self.at)
                self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)

                coordinator.signal(number)

                self.assertEqual(coordinator.wait(), 0, coordinator.output())
                self.assertNotEqual(waiter.wait(), 0)
                self.assertIn(number.name, waiter.err)

    def test_a_second_sigterm_ends_it_at_once(self):
        coordinator = self.serve(1, "--goodbye-timeout", "1h")
        waiter = self.start("coxswain", "get", "never", "--wait", "forever", env=self.at)
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)
        waiter.signal(signal.SIGSTOP)  # it will not read its goodbye

        coordinator.signal(signal.SIGTERM)
        coordinator.line("sending the reason", "err")
        coordinator.signal(signal.SIGTERM)

        self.assertEqual(coordinator.wait(), 128 + signal.SIGTERM)

    def test_exit_when_done_gives_1_after_a_failure(self):
        coordinator = self.serve(2, "--exit-when-done", "--reconnect-grace", "0")
        victim, survivor = (self.worker(task, 2, "--rounds", 10**9) for task in range(2))
        self.wait_for_status("a round", lambda s: any(b["name"] == "step" for b in s["barriers"]))

        victim.signal(signal.SIGKILL)

        self.assertNotEqual(survivor.wait(), 0)
        self.assertIn("task 0", survivor.err)
        self.assertEqual(coordinator.wait(), 1, coordinator.output())

    def test_exit_when_done_gives_1_when_all_recoverable_tasks_have_failed(self):
        coordinator = self.serve(1, "--recoverable", "--exit-when-done", "--reconnect-grace", "0")
        victim = self.worker(0, 1, "--rounds", 10**9)
        self.wait_for_status("the task", lambda s: s["tasks"][0]["state"] == "connected")

        victim.signal(signal.SIGKILL)

        self.assertEqual(coordinator.wait(), 1, coordinator.output())
        self.assertIn("all tasks have failed", coordinator.err)


if __name__ == "__main__":
    unittest.main()
