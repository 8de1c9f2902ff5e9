"""Builds the native module with CMake. pyproject.toml describes the package."""

import os
import pathlib
import re
import subprocess
import sys
import sysconfig

import setuptools
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parents[2]


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


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        # One build directory may serve several Pythons, one after another (tools/wheels).
        build = pathlib.Path(os.environ.get("COXSWAIN_PYTHON_BUILD", self.build_temp)).resolve()
        configure = ["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                     "-U", "Python3_*", "-U", "_Python3_*", "-U", "PYTHON_*", "-U", "pybind11_DIR",
                     "-DCOXSWAIN_PYTHON=ON", "-DCOXSWAIN_UNITY=ON", "-DCOXSWAIN_INSTALL=OFF",
                     f"-DPython3_EXECUTABLE={sys.executable}", *pybind11(),
                     *(f"-DCOXSWAIN_{part}=OFF" for part in ("TESTS", "BENCH", "TOOLS"))]
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", build, "--parallel", str(os.cpu_count()),
                        "--target", "coxswain_python"], check=True)
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        module = build / "python/coxswain" / f"_native{suffix}"
        to = pathlib.Path(self.get_ext_fullpath(extension.name))
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["strip", "--strip-unneeded", "-o", to, module], check=True)


setuptools.setup(
    version=version(),
    ext_modules=[setuptools.Extension("coxswain._native", [])],
    cmdclass={"build_ext": BuildByCMake})
