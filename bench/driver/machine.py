"""What the benchmark asks the operating system: CPUs, who used them, memory, and what machine this
is; and what a person sees while it works."""

import dataclasses
import os
import platform
import re
import resource
import sys
import time
from pathlib import Path
from typing import NamedTuple

# The program's exit codes; the same as those of the program coxswain.
FAILED, USAGE, UNAVAILABLE, INTERRUPTED = 1, 64, 69, 130


class BenchError(Exception):
    """What went wrong, for the person who runs it: what happened, and what to do."""

    def __init__(self, text, code=FAILED):
        super().__init__(text)
        self.code = code


def refuse(text):
    raise BenchError(text, USAGE)


def need_descriptors(needed):
    """Raises the limit of open files of this process and of those that it starts, where it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), max(hard, needed)))
    except (ValueError, OSError):
        raise BenchError(f"this run needs {needed} open files in each of its processes, but the hard limit is {hard}: "
                         f"use fewer --tasks, or raise the limit as root ('ulimit -Hn {needed}')") from None


def plan_cpus():
    """Those of the servers and of the loads: the first and the last that this process may use, or none to bind to."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[-1]) if len(allowed) > 1 else (None, None)


def cpu_time_of(pid):
    """What a process has used, user and kernel, in nanoseconds."""
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)  # as clock_getcpuclockid makes it
    except OSError as problem:
        raise BenchError(f"the CPU time of process {pid} cannot be read: {problem}") from None


def wait_time_of(pid):
    """How long the process was ready to run but had no CPU; zero if the kernel does not show it."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1])
    except (OSError, IndexError):
        return 0


class Memory(NamedTuple):
    """A process's memory that is in RAM, in bytes."""
    now: int
    peak: int  # since the last `forget_peak`, or its start


def memory_of(pid):
    kib = dict(re.findall(r"^(VmRSS|VmHWM):\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE))
    return Memory(int(kib["VmRSS"]) * 1024, int(kib["VmHWM"]) * 1024)


def forget_peak(pid):
    """Where the kernel allows it."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5\n")
    except OSError:
        pass


def machine_time():
    """Of all CPUs together so far, in nanoseconds: busy, taken by the hypervisor, and in all."""
    # cpu user nice system idle iowait irq softirq steal; the guests' time is part of user and nice.
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    tick = 10**9 // os.sysconf("SC_CLK_TCK")
    return [(sum(ticks[:3]) + sum(ticks[5:7])) * tick, ticks[7] * tick, sum(ticks) * tick]


@dataclasses.dataclass
class Disturbance:
    """Shares of the machine's or the processes' time (0 to 1)."""
    others: float  # CPU used by processes that are not ours
    stolen: float  # CPU taken by the hypervisor
    waiting: float  # our processes ready, but without a CPU

    @classmethod
    def during(cls, busy, stolen, total, used, waited):
        """Of times that have passed; those of our processes are the last two."""
        def share(part, whole):
            return min(max(part / whole, 0), 1) if whole > 0 else 0
        return cls(share(busy - used, total), share(stolen, total), share(waited, used + waited))

    def is_too_much(self):
        return self.others > 0.03 or self.stolen > 0.02 or self.waiting > 0.03

    def warning(self):
        if not self.is_too_much():
            return ""
        return (f"WARNING: the machine was busy: other processes used {self.others:.0%} of its CPUs, the hypervisor "
                f"took {self.stolen:.0%},\nand ours waited for a CPU {self.waiting:.0%} of their time. Only the ratios "
                "are worth something; repeat when it is quiet.\n")

    def to_json(self):
        return {**dataclasses.asdict(self), "is_too_much": self.is_too_much()}


def machine():
    """ "AMD EPYC 7B13, 2 CPUs, 24 GiB, Linux 6.1.0-18-amd64"."""
    found = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / 2**30
    return (f"{found[1] if found else 'unknown processor'}, {os.cpu_count()} CPUs, "
            f"{gib:.0f} GiB, {platform.system()} {platform.release()}")


def show(text):
    """A line on standard error that is written over, if a person looks at it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
