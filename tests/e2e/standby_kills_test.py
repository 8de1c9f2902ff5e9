"""Members of etcd and coordinators of one job are killed, stopped and cut off in turn.

COXSWAIN_STANDBY_FAULTS: how many times (default 4; tools/nightly: 100). COXSWAIN_SEED: repeats a run.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

from ordeal import Ordeal, PYTHON
from programs import SLOWNESS, EndToEnd, clean_environment, free_port
from standby_test import ETCD, Etcd

FAULTS = int(os.environ.get("COXSWAIN_STANDBY_FAULTS", "4"))
TASKS = 16
STOPPED = 10 if FAULTS > 10 else 4  # seconds
PROXY = pathlib.Path(__file__).with_name("proxy.py")


@unittest.skipUnless(PYTHON and ETCD.exists(), "no Python package, or no etcd-server")
class StandbyKills(EndToEnd):

    PATIENT = ("--reconnect-grace", f"{STOPPED + 10}s")

    def setUp(self):
        super().setUp()
        self.etcd = Etcd(self.directory)
        self.addCleanup(self.etcd.stop)
        self.ports = {name: free_port() for name in "ab"}
        self.clients_ports = {name: free_port() for name in "ab"}
        self.etcd_ports = {name: [free_port() for _ in range(3)] for name in "ab"}
        links = [f"clients-{name}={self.clients_ports[name]}:{self.ports[name]}" for name in "ab"]
        links += [f"etcd-{name}=" + ",".join(map("{}:{}".format, self.etcd_ports[name], self.etcd.clients))
                  for name in "ab"]
        self.proxy = subprocess.Popen([sys.executable, "-B", PROXY, *links], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=clean_environment())
        self.addCleanup(self.end_proxy)
        self.assertEqual(self.proxy.stdout.readline(), "ready\n")
        self.at = {"COXSWAIN_ADDRESS": ",".join(f"127.0.0.1:{port}" for port in self.clients_ports.values())}
        self.coordinators = {}

    def end_proxy(self):
        self.proxy.kill()
        self.proxy.wait()
        self.proxy.stdin.close()
        self.proxy.stdout.close()

    def command_proxy(self, verb, name):
        print(verb, name, file=self.proxy.stdin, flush=True)
        self.assertEqual(self.proxy.stdout.readline(), f"{verb} {name}\n")

    def start_coordinator(self, name, *arguments):
        engine = "etcd://" + ",".join(f"127.0.0.1:{port}" for port in self.etcd_ports[name])
        self.coordinators[name] = self.start(
            "coxswain", "serve", "-n", TASKS, "--listen", f"127.0.0.1:{self.ports[name]}", "--engine", engine,
            *arguments)

    def start_both(self, *arguments):
        self.start_coordinator("a", *arguments)
        self.coordinators["a"].line('"ready"')
        self.start_coordinator("b", *arguments)
        self.coordinators["b"].line('"standby"')

    def test_nothing_is_lost_or_done_twice(self):
        seed = int(os.environ.get("COXSWAIN_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}", flush=True)
        random.seed(seed)
        self.start_both(*self.PATIENT)
        job = Ordeal(self, TASKS)
        job.await_rounds(1)

        faults = [self.kill_coordinator, self.stop_coordinator, self.cut_clients, self.cut_from_etcd,
                  self.kill_member, self.stop_member, self.resign]
        for number in range(FAULTS):
            if number % len(faults) == 0:
                random.shuffle(faults)
            time.sleep(random.uniform(0, 0.5))
            if random.random() < 0.1:
                job.kill_a_task()
            begin = time.monotonic()
            what = faults[number % len(faults)]()
            ended = time.monotonic()
            job.await_rounds(2)
            print(f"{number + 1}: {what}: {ended - begin:.1f} s, goes on after "
                  f"{time.monotonic() - ended:.1f} s more", flush=True)

        job.end()

    def test_work_goes_on_within_15_s_after_the_leaders_machine_was_lost(self):
        self.start_both()
        upstream = self.coordinators["a"]
        upstream.addresses = self.at["COXSWAIN_ADDRESS"].split(",")
        relay = self.relay(upstream)
        job = Ordeal(self, TASKS, lambda task: relay.address if task % 2 else self.at["COXSWAIN_ADDRESS"])
        job.await_rounds(2)

        begin = time.monotonic()
        self.command_proxy("drop", "clients-a")
        self.coordinators["a"].signal(signal.SIGSTOP)
        self.coordinators["b"].line('"ready"')
        job.await_rounds(2)

        self.assertLess(time.monotonic() - begin, 15 * SLOWNESS)
        self.assertIn("sessions resumed", self.coordinators["b"].err)
        job.end()
        self.assertIsNone(relay.process.poll())

    def one_of_two(self):
        return random.choice("ab")

    def kill_coordinator(self):
        name = self.one_of_two()
        self.coordinators[name].signal(signal.SIGKILL)
        self.coordinators[name].wait()
        time.sleep(random.uniform(0, 3))
        self.start_coordinator(name, *self.PATIENT)
        return f"{name} was killed"

    def resign(self):
        name = self.one_of_two()
        self.stop(self.coordinators[name])
        self.start_coordinator(name, *self.PATIENT)
        return f"{name} was ended"

    def stop_coordinator(self):
        name = self.one_of_two()
        self.coordinators[name].signal(signal.SIGSTOP)
        time.sleep(STOPPED)
        self.coordinators[name].signal(signal.SIGCONT)
        return f"{name} was stopped"

    def cut_clients(self):
        return self.cut(f"clients-{self.one_of_two()}")

    def cut_from_etcd(self):
        return self.cut(f"etcd-{self.one_of_two()}")

    def cut(self, link):
        verb = random.choice(("drop", "close"))
        self.command_proxy(verb, link)
        time.sleep(random.uniform(1, STOPPED))
        self.command_proxy("heal", link)
        return f"{verb} {link}"

    def kill_member(self):
        member = random.randrange(3)
        self.etcd.kill(member)
        time.sleep(random.uniform(0, 3))
        self.etcd.restart(member)
        return f"member {member} was killed"

    def stop_member(self):
        member = random.randrange(3)
        self.etcd.signal(signal.SIGSTOP, member)
        time.sleep(STOPPED)
        self.etcd.signal(signal.SIGCONT, member)
        return f"member {member} was stopped"


if __name__ == "__main__":
    unittest.main()
