"""Slurm on this machine, for a test: its daemons, with all their state in one directory."""

import os
import pathlib
import random
import shutil
import socket
import subprocess
import time

from programs import LIMIT

PROGRAMS = "munged", "slurmctld", "slurmd", "srun"

CONFIGURATION = """
ClusterName=oars
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
# Seconds. By default a batch job waits for others to be submitted, and messages get lost on a busy machine.
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MessageTimeout=100
TCPTimeout=60
# A coordinator's port depends on the job's id, and there may be another Slurm like this one.
FirstJobId={first_job}
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why Slurm cannot run here; empty if it can."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} not installed: tools/install_dependencies --launchers"
    if os.geteuid() != 0:
        return "Slurm's daemons run as root only"
    return ""


def free_ports(count):
    probes = [socket.create_server(("", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Slurm:

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.configuration = self.directory / "slurm.conf"
        self.environment = os.environ | {"SLURM_CONF": str(self.configuration)}
        self.daemons = []

    def start(self):
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        key = self.directory / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        controller_port, node_port = free_ports(2)
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], directory=self.directory,
            controller_port=controller_port, node_port=node_port,
            first_job=random.randrange(1, 60_000_000)))
        # The directory belongs to a test, and munged trusts none that others may write to.
        self.run("munged", "--foreground", "--force", f"--key-file={key}",
                 *(f"--{what}-file={self.directory}/munge.{what}" for what in ("pid", "log", "seed")),
                 f"--socket={self.directory}/munge.socket")
        self.run("slurmctld", "-D", "-f", self.configuration)
        self.run("slurmd", "-D", "-f", self.configuration)
        self.wait_until_idle()

    def run(self, name, *arguments):
        self.daemons.append(subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", name, *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def wait_until_idle(self):
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            seen = subprocess.run(["sinfo", "--noheader", "--format=%T"], env=self.environment,
                                  capture_output=True, text=True, timeout=LIMIT)
            if seen.stdout.strip() == "idle":
                return
        raise AssertionError("Slurm does not start:\n" + "".join(
            log.read_text() for log in self.directory.glob("*.log")))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(LIMIT)
