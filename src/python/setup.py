"""Builds the native module and the program with CMake. pyproject.toml describes the package.

CMAKE_ARGS in the environment is passed to CMake: with -DCOXSWAIN_SELF_CONTAINED=ON both run on
other systems than the one that builds them (tools/release).
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig

import setuptools  # before distutils, which it brings
from distutils.command.build_scripts import build_scripts
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
# In a source distribution this file is on top.
ROOT = next(up for up in (HERE, *HERE.parents) if (up / "CMakePresets.json").exists())


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(coxswain VERSION (\S+)", text)[1]


def pybind11():
    """The directory of pip's pybind11; a system's is found by default."""
    try:
        import pybind11 as found
    except ImportError:
        return []
    return [f"-Dpybind11_DIR={found.get_cmake_dir()}"]


def install(built, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    strip = os.environ.get("STRIP", "strip")
    subprocess.run([strip, "--strip-unneeded", "-o", to, built], check=True)


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        # One build directory may serve several Pythons, one after another (tools/release).
        build = pathlib.Path(os.environ.get("COXSWAIN_PYTHON_BUILD", self.build_temp)).resolve()
        configure = ["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                     "-U", "Python3_*", "-U", "_Python3_*", "-U", "PYTHON_*", "-U", "pybind11_DIR",
                     "-DCOXSWAIN_PYTHON=ON", "-DCOXSWAIN_UNITY=ON",
                     f"-DPython3_EXECUTABLE={sys.executable}", *pybind11(),
                     *(f"-DCOXSWAIN_{part}=OFF" for part in ("TESTS", "BENCH")),
                     *shlex.split(os.environ.get("CMAKE_ARGS", ""))]
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", build, "--parallel", str(os.cpu_count()),
                        "--target", "coxswain_python", "coxswain"], check=True)
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        install(build / "python/coxswain" / f"_native{suffix}",
                pathlib.Path(self.get_ext_fullpath(extension.name)))
        # Where install_scripts takes it from, to put it on PATH.
        scripts = self.get_finalized_command("build_scripts")
        install(build / "bin/coxswain", pathlib.Path(scripts.build_dir, "coxswain"))


class NoScripts(build_scripts):
    """The program is no script that could be read."""

    def get_source_files(self):
        return []

    def run(self):
        pass


class WholeSource(sdist):
    """All that is committed, with this directory's files on top."""

    def make_release_tree(self, base_dir, files):
        os.mkdir(base_dir)
        subprocess.run(f"git -C {shlex.quote(str(ROOT))} archive HEAD | tar -x -C {base_dir}",
                       shell=True, check=True)
        for name in ("pyproject.toml", "setup.py"):
            shutil.copy(HERE / name, base_dir)
        self.distribution.metadata.write_pkg_info(base_dir)


setuptools.setup(
    version=version(),
    package_dir={"": os.path.relpath(ROOT / "src/python", HERE)},
    ext_modules=[setuptools.Extension("coxswain._native", [])],
    scripts=["coxswain"],
    cmdclass={"build_ext": BuildByCMake, "build_scripts": NoScripts, "sdist": WholeSource})
