"""The Conan recipe and the vcpkg port name the version, the dependencies and the options of CMakeLists.txt."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "tools/packaging"
CMAKE = (ROOT / "CMakeLists.txt").read_text()
CONAN = (PACKAGING / "conan/conanfile.py").read_text()
PORT = json.loads((PACKAGING / "vcpkg/vcpkg.json").read_text())
PORTFILE = (PACKAGING / "vcpkg/portfile.cmake").read_text()

VERSION = re.search(r"project\(coxswain VERSION (\S+)", CMAKE)[1]
# With their names in CMake.
LIBRARIES = {"boost": "Boost", "openssl": "OpenSSL", "protobuf": "Protobuf", "zlib": "ZLIB"}


def needed():
    """The least version of each library."""
    versions = {name: re.search(rf"find_package\({cmake} (\S+) REQUIRED", CMAKE)[1] for name, cmake in LIBRARIES.items()}
    return versions | {"nghttp2": re.search(r"libnghttp2>=([\d.]+)", CMAKE)[1]}


def without_zeros(version):
    return re.sub(r"(\.0)+$", "", version)


class Packaging(unittest.TestCase):

    def assert_versions(self, found):
        self.assertEqual({name: without_zeros(version) for name, version in found.items()},
                         {name: without_zeros(version) for name, version in needed().items()})

    def test_the_recipe_requires_what_cmake_finds(self):
        found = re.findall(r'self\.requires\("(?:lib)?(\w+)/\[>=([\d.]+)', CONAN)
        self.assert_versions(dict(found))

    def test_the_profile_has_no_older_versions(self):
        profile = (PACKAGING / "conan/debian").read_text().split("[platform_requires]")[1]
        found = dict(re.findall(r"^(?:lib)?(\w+)/([\d.]+)$", profile.split("[")[0], re.MULTILINE))

        self.assertEqual(found.keys(), needed().keys())
        for name, version in needed().items():
            self.assertGreaterEqual([int(part) for part in found[name].split(".")],
                                    [int(part) for part in version.split(".")], name)

    def test_the_port_requires_what_cmake_finds(self):
        found = {re.sub("^boost-.*", "boost", one["name"]): one["version>="]
                 for one in PORT["dependencies"] if "version>=" in one}
        self.assert_versions(found)
        self.assertEqual(PORT["version"], VERSION)

    def test_the_port_requires_the_parts_of_boost_that_are_included(self):
        included = {re.sub("_container$", "", name).replace("_", "-")
                    for file in (ROOT / "src/coxswain").rglob("*.?pp")
                    for name in re.findall(r"#include <boost/(\w+)", file.read_text())}
        ports = {one["name"].removeprefix("boost-") for one in PORT["dependencies"] if one["name"].startswith("boost-")}
        self.assertEqual(ports, included | {"headers"})

    def test_both_set_options_that_exist(self):
        options = set(re.findall(r"^option\((COXSWAIN_\w+)", CMAKE, re.MULTILINE))
        for text in CONAN, PORTFILE:
            given = set(re.findall(r"COXSWAIN_\w+", text))
            self.assertLessEqual(given, options)
            self.assertGreater(len(given), 5)


if __name__ == "__main__":
    unittest.main()
