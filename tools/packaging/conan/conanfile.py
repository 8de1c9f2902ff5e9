"""The C++ and C libraries as a package of Conan 2, made from this source tree: see ../README.md."""

import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps


class Coxswain(ConanFile):
    name = "coxswain"
    description = "A coordination service for distributed jobs"
    license = "Apache-2.0"
    topics = "distributed", "coordination", "barrier", "asio"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # Header-only parts of Boost suffice.
    default_options = {"boost/*:header_only": True}

    def root(self):
        return pathlib.Path(self.recipe_folder).parents[2]

    def set_version(self):
        self.version = re.search(r"project\(coxswain VERSION (\S+)", (self.root() / "CMakeLists.txt").read_text())[1]

    def export(self):
        copy(self, "CMakeLists.txt", self.root(), self.export_folder)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "proto/*", "src/coxswain/*",
                        "tools/cmake/*"):
            copy(self, pattern, self.root(), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.81]", transitive_headers=True)
        self.requires("openssl/[>=3 <4]", transitive_headers=True)
        self.requires("libnghttp2/[>=1.52]")
        self.requires("protobuf/[>=3.21]")
        self.requires("zlib/[>=1.2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("protobuf/<host_version>")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(
            COXSWAIN_UNITY=True, COXSWAIN_INSTALL=True, COXSWAIN_TOOLS=False, COXSWAIN_TESTS=False,
            COXSWAIN_BENCH=False, COXSWAIN_PYTHON=False, COXSWAIN_JEMALLOC=False)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="coxswain_installed")

    def package(self):
        CMake(self).install(component="development")
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder, "licenses"))

    def package_info(self):
        # Its own files for CMake also find libraries that are the system's.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/coxswain"]
        self.cpp_info.libs = ["coxswain_server", "coxswain_client"]
