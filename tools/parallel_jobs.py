#!/usr/bin/env python3
"""Prints how many compilers may run at once: one per core, if there is enough memory for each.

Cores and memory are those that this process may use: the limits of its control groups count.

Usage: parallel_jobs.py [--self-test]
"""

import os
import pathlib
import re
import sys
import tempfile

GIB = 1 << 30
# Few sources need more than half of it; sanitizers and precompiled headers need the rest.
MEMORY_PER_COMPILER = 1.5 * GIB


def text_of(file):
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""


def numbers_of(file):
    """The `name value` lines of a file of statistics."""
    return {name: int(value) for name, value in re.findall(r"^(\w+):?\s+(\d+)", text_of(file), re.M)}


def control_groups(root, controller):
    """The directories of this process's group and its parents. In a container, the name of the group
    may be valid only on the host; the mounted group is then the container's own."""
    name, mount = None, None
    for line in text_of(root / "proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and name is None:
            name, mount = path, root / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            name, mount = path, root / "sys/fs/cgroup" / controller
    if name is None:
        return []
    group = mount / name.strip("/")
    return [directory for directory in (group, *group.parents)
            if directory.is_relative_to(mount) and directory.is_dir()]


def memory_available(root):
    """In bytes. A group's file cache is reclaimable."""
    room = [1024 * numbers_of(root / "proc/meminfo").get("MemAvailable", 0)]
    for group in control_groups(root, "memory"):
        statistics = numbers_of(group / "memory.stat")
        for limit, used, prefix in (("memory.max", "memory.current", ""),
                                    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")):
            bytes_max, bytes_used = text_of(group / limit).strip(), text_of(group / used).strip()
            if bytes_max.isdigit() and bytes_used.isdigit():
                files = sum(statistics.get(f"{prefix}{age}_file", 0) for age in ("active", "inactive"))
                room.append(int(bytes_max) - int(bytes_used) + files)
    return min(room)


def cores(root):
    count = len(os.sched_getaffinity(0))
    for group in control_groups(root, "cpu"):
        quota, _, period = text_of(group / "cpu.max").strip().partition(" ")
        quota = quota or text_of(group / "cpu.cfs_quota_us").strip()
        period = period or text_of(group / "cpu.cfs_period_us").strip()
        if quota.isdigit() and period.isdigit():  # neither "max" nor -1
            count = min(count, -(-int(quota) // int(period)))
    return max(count, 1)


def parallel_jobs(root=pathlib.Path("/")):
    return max(1, min(cores(root), int(memory_available(root) // MEMORY_PER_COMPILER)))


def self_test():
    def machine(**files):
        root = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        memory = f"MemFree: 1 kB\nMemAvailable: {64 << 20} kB\n"
        for name, text in ({"proc/meminfo": memory} | files).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return root

    with tempfile.TemporaryDirectory() as scratch:
        of_process = {"proc/self/cgroup": "0::/user/build\n"}
        version_2 = "sys/fs/cgroup/user"
        assert memory_available(machine()) == 64 * GIB
        assert parallel_jobs(machine(**{"proc/meminfo": f"MemAvailable: {2 << 20} kB\n"})) == 1
        assert parallel_jobs(machine(**{"proc/meminfo": ""})) == 1

        # The group is unlimited and its parent is not; 2 GiB of its usage are file cache.
        root = machine(**of_process, **{
            f"{version_2}/build/memory.max": "max\n", f"{version_2}/build/memory.current": "1\n",
            f"{version_2}/memory.max": f"{8 * GIB}\n", f"{version_2}/memory.current": f"{6 * GIB}\n",
            f"{version_2}/memory.stat": f"anon 5\nactive_file {GIB}\ninactive_file {GIB}\n",
            f"{version_2}/cpu.max": "50000 100000\n"})
        assert memory_available(root) == 4 * GIB
        assert cores(root) == 1 and parallel_jobs(root) == 1

        # Version 1, in a container in which the named group is not visible.
        memory = "sys/fs/cgroup/memory/memory"
        root = machine(**{
            "proc/self/cgroup": "4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n0::/\n",
            f"{memory}.limit_in_bytes": f"{4 * GIB}\n", f"{memory}.usage_in_bytes": f"{3 * GIB}\n",
            f"{memory}.stat": f"inactive_file 7\ntotal_inactive_file {GIB}\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"})
        assert memory_available(root) == 2 * GIB
        assert cores(root) == len(os.sched_getaffinity(0)) and parallel_jobs(root) == 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        print(parallel_jobs())
