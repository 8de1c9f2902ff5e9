#!/usr/bin/env python3
"""Lets PyPI's torch for Linux, which is built for CUDA, be imported without CUDA's libraries.

They are 2 GB to download and only have to be there: torch with gloo on CPUs calls none of their
functions. This compiles a library of each missing name, whose functions all return the error "no
device", into torch's own directory. Usage: cuda_stand_ins.py .../site-packages/torch/lib
"""

import collections
import pathlib
import subprocess
import sys
import tempfile


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def needed(library):
    """The names of the libraries that this one is linked with."""
    return [line.split("[")[1].rstrip("]") for line in lines("readelf", "-dW", library)
            if "(NEEDED)" in line]


def symbols(library):
    """(name, version, whether it is defined here) of each global symbol."""
    for line in lines("readelf", "--dyn-syms", "-W", library):
        field = line.split()
        if len(field) >= 8 and field[4] in ("GLOBAL", "WEAK"):
            name, _, version = field[7].partition("@")
            yield name, version.strip("@"), field[6] != "UND"


def missing_in(directory, libraries):
    """The libraries and the functions, by their symbol version, that nothing here provides."""
    known = {line.split()[0] for line in lines("/sbin/ldconfig", "-p") if line.startswith("\t")}
    known |= {one.name for one in libraries}
    absent = {name for one in libraries for name in needed(one)} - known
    defined, wanted = set(), set()
    for library in libraries:
        for name, version, is_defined in symbols(library):
            defined.add(name) if is_defined else wanted.add((name, version))
    functions = collections.defaultdict(list)
    for name, version in wanted:
        is_cuda = name.startswith(("cu", "nccl", "__cuda")) if not version else (
            not version.startswith(("GLIBC", "GCC", "CXXABI", "GOMP", "OMP")))
        if is_cuda and name not in defined:
            functions[version].append(name)
    return absent, functions


def build(path, version, functions, scratch):
    source, script = scratch / "functions.S", scratch / "versions"
    source.write_text(".text\n" + "".join(
        f".globl {name}\n.type {name},@function\n{name}:\n" for name in sorted(functions)) +
        "mov $100,%eax\nret\n.section .note.GNU-stack,\"\",@progbits\n")
    script.write_text(f"{version} {{ global: *; }};\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", path, source,
                    f"-Wl,-soname,{path.name},--version-script,{script}"], check=True)


def main():
    directory = pathlib.Path(sys.argv[1])
    libraries = [*directory.glob("*.so*"), *directory.parent.glob("_C*.so")]
    absent, functions = missing_in(directory, libraries)
    # A version is named like its library, but NVSHMEM's.
    version_of = {name: version for version in functions if version for name in absent
                  if name == version or name.startswith(f"lib{version.lower()}")}
    with tempfile.TemporaryDirectory() as scratch:
        for name in sorted(absent):
            version = version_of.get(name, "")
            # Those without a version may be in any library that all the others are linked with.
            given = functions[version] if version or name.startswith("libnccl") else []
            build(directory / name, version, given, pathlib.Path(scratch))
    print(f"{len(absent)} stand-ins in {directory}")


if __name__ == "__main__":
    main()
