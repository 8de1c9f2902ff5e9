#!/usr/bin/env python3
"""Determines which sources of one directory may be compiled as one, for CoxswainUnity.cmake.

Usage: unity_groups.py MOST SOURCE...

Prints the number of each source's group, one per line; at most MOST sources share one. Names in a
file's anonymous namespace must keep their meaning in a group, so two files share a group only if
none of these names of one is a word of the other.
"""

import pathlib
import re
import sys

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", re.S)
TEST_CASE = re.compile(r"BOOST_\w+_TEST_(?:CASE|SUITE)\w*\((\w+)")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union|namespace|using) (\w+)")
NO_NAME = re.compile(r"template|static_assert|using namespace")
OTHER = re.compile(r"[^({=;]*?(\w+)\s*(?:[({=;\[]|$)")
WORD = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*|(?<!-)(?<=>)[A-Za-z_]\w*")
# The effects of these are not visible here.
FOR_ITSELF = re.compile(
    r"^\s*(?:#\s*define|#\s*undef|using namespace (?!.*(?:_literals|awaitable_operators);)|void\s*\*\s*operator new)", re.M)


class source:
    def __init__(self, text):
        code = NOT_CODE.sub('""', text.replace("\n}  // namespace\n", "\n} namespace\n"))
        self.alone = bool(FOR_ITSELF.search(code))
        self.words = set(WORD.findall(code))
        self.names = set(own_names(code))

    def bears(self, other):
        return not (self.alone or other.alone or self.names & other.words
                    or other.names & self.words)


def own_names(code):
    """The names at file level: clang-format indents all others."""
    anonymous, suites = False, 0
    for line in code.split("\n"):
        if line.startswith("namespace {"):
            anonymous = True
        elif line == "} namespace":
            anonymous = False
        elif re.match(r"BOOST_AUTO_TEST_SUITE_END", line):
            suites -= 1
        elif test := TEST_CASE.match(line):
            if not suites:
                yield test[1]
            suites += "_SUITE" in line
        elif suites or not re.match(r"[A-Za-z_\[]", line) or NO_NAME.match(line):
            continue
        elif anonymous or line.startswith("static "):
            line = re.sub(r"\[\[.*?\]\] ?|decltype\(.*?\) ?", "", line)
            if name := TYPE.match(line) or OTHER.match(line):
                yield name[1]


def groups(texts, most):
    """First fit, in the order given."""
    made, numbers = [], []
    for one in map(source, texts):
        for number, members in enumerate(made):
            if len(members) < most and all(one.bears(member) for member in members):
                break
        else:
            number, members = len(made), []
            made.append(members)
        members.append(one)
        numbers.append(number)
    return numbers


def self_test():
    def together(one, other):
        return groups([one, other], 2) == [0, 0]

    def own(text):
        return f"namespace x {{\nnamespace {{\n\n{text}\n}}  // namespace\n}}  // namespace x\n"

    assert together(own("int one() { return 1; }"), own("int two() { return 2; }"))
    assert not together(own("int one() { return 1; }"), own("int one() { return 2; }"))
    assert not together(own("int one() { return 1; }"), "int f(int x) { return one(x); }")
    assert not together("void f(int one);", own("std::vector<int> const one{1};"))
    assert together(own("int one() { return 1; }"), "int f(y x) { return x.one() + y::one; }")
    assert together(own("int one() { return 1; }"), 'char const* f() { return "one"; }  // one')
    assert not together(own("struct one {\n  int x;\n};"), own("enum class one { x };"))
    assert not together(own("template <typename T>\nT one(T x);"), own("using one = int;"))
    suite = "BOOST_AUTO_TEST_SUITE({})\nint one;\nBOOST_AUTO_TEST_SUITE_END()"
    assert together(own(suite.format("a")), own(suite.format("b")))
    assert not together(own(suite.format("a")), own(suite.format("a")))
    assert together(own("int one;") + "void two() {}\n", own("int y(two);"))
    assert not together("#define F 1\n", "")
    assert not together("using namespace y;\n", "")
    assert not together("void* operator new(std::size_t size) {\n", "")
    assert together("using namespace std::chrono_literals;\n", "")
    assert together("using namespace asio::experimental::awaitable_operators;\n", "")
    assert groups(["", own("int a;"), "a", ""], 2) == [0, 0, 1, 1]


if sys.argv[1:] == ["--self-test"]:
    self_test()
else:
    files = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[2:])
    print("\n".join(map(str, groups(files, int(sys.argv[1])))))
