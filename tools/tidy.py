#!/usr/bin/env python3
"""Checks the project's rules that no compiler checks. Runs as the CTest test `tidy`.

    tools/tidy.py [FILE...]      checks these or all files; exit code 1 if one breaks a rule
    tools/tidy.py --self-test    tries the rules on snippets that keep or break them

Layers are described in src/coxswain/ARCHITECTURE.md. Not here: formatting (tools/format).
"""

import ast
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What a file of each layer may include of coxswain/, as prefixes. A layer may include itself.
ARROWS = {
    "base": (),
    "core": ("base/",),
    "wire": ("base/", "core/model/", "core/kernel/text.hpp"),
    "http2": ("base/",),
    "net": ("base/", "wire/frame.hpp"),
    "etcd": ("base/", "http2/", "net/"),
    "xla": ("base/", "core/model/", "core/kernel/text.hpp", "wire/field_walk.hpp"),
    "tcp_store": ("base/", "core/model/"),
    "server": ("base/", "core/", "etcd/", "http2/", "wire/", "net/", "xla/", "tcp_store/"),
    "client": ("base/", "core/access/role.hpp", "core/model/", "wire/", "net/", "launch/"),
    "c": ("base/", "core/model/", "client/"),
    "launch": ("base/",),
    "relay": ("base/", "core/", "http2/", "wire/", "net/", "xla/", "tcp_store/", "client/",
              "server/"),
    "host": ("base/", "core/", "net/", "launch/", "client/", "server/"),
    "status": ("base/", "core/", "net/", "server/"),
    "python": ("base/", "core/", "net/", "launch/", "client/", "server/", "host/", "status/"),
}

# These get time and randomness as arguments and do no I/O: prefixes in src/coxswain/.
PURE = ("base/", "core/", "http2/", "wire/", "xla/", "tcp_store/", "launch/",
        "client/agent/",
        "client/process_table", "relay/switchboard", "server/dispatch")

LINE_LENGTH_MAX = 100
FILE_LENGTH_MAX = 500  # in src/
# Files of src/ that may be longer, each with the reason.
LONG_FILES: dict[str, str] = {
    "src/coxswain/core/model/messages.hpp": "one list of all that goes into the core and comes out",
    "src/coxswain/core/model/records.hpp": "one list of the fields of all messages",
}

DIRECTORY_SOURCES_MAX = 40
# Directories that may have more sources, each with the reason.
LARGE_DIRECTORIES: dict[str, str] = {}

DIRECTORIES = (".github", ".ci", "bench", "proto", "src", "tests", "tools")
SUFFIXES = ["", *(".c .cmake .cpp .css .h .hpp .html .in .js .json .map .md .mjs .proto .py .pyi .sh"
                  " .toml .txt").split()]
WEB = (".css", ".html", ".js", ".mjs")
PYTHON = (".py", ".pyi")
CODE = (".c", ".cpp", ".h", ".hpp", ".js", ".mjs", ".py")
THIRD_PARTY = ("CLI/", "boost/", "fmt/", "google/", "nghttp2/", "pybind11/", "spdlog/", "toml++/",
               "c10/", "torch/")


class Source:
    """One file: its text, and for C++ its code without comments and literals, and its includes."""
    LITERALS = re.compile(
        r"""//[^\n]* | /\*.*?\*/ | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
          | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])+'""", re.DOTALL | re.VERBOSE)
    INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)

    def __init__(self, path, text):
        self.path = path  # relative to the repository, with slashes
        self.text = text
        self.is_cpp = path.endswith((".c", ".cpp", ".h", ".hpp"))
        # Its place in src/coxswain/, such as "core/kernel/roster.cpp"; empty for all others.
        self.place = path.removeprefix("src/coxswain/") if path.startswith("src/coxswain/") else ""
        self.layer = self.place.split("/")[0] if "/" in self.place else ""
        if path.startswith("src/python/"):
            self.layer = "python"
        # Of the same length as the text, so that positions are the same.
        self.code = self.LITERALS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        self.includes = [(self.line(m.start(1)), m[1] == '"', m[2])
                         for m in self.INCLUDE.finditer(text)]

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def matches(self, pattern, text=None):
        """The line and the text of each match in the code, or in another text of its length."""
        return [(self.line(m.start()), m[0])
                for m in re.finditer(pattern, self.code if text is None else text)]


# Layers.


def check_layers(source, _):
    allowed = ARROWS.get(source.layer)
    for line, _, name in source.includes:
        inside = name.removeprefix("coxswain/")
        if allowed is not None and inside != name and not inside.startswith(
                (source.layer + "/", *allowed)):
            yield line, "layers", f"{source.layer} may not include {name}"
        if name.startswith("boost/asio") and source.layer and not source.place.startswith("net/asio"):
            yield line, "layers", "Asio is included through coxswain/net/asio*.hpp only"
        if name.startswith("boost/beast") and source.layer not in ("", "status"):
            yield line, "layers", "Beast is for status/ only"
        if is_protobuf(name) and source.layer not in ("", "etcd"):
            yield line, "layers", "Protobuf is for etcd/ only"
    if source.layer and allowed is None:
        yield 1, "layers", f"the layer {source.layer} is not known; add its arrows to tools/tidy.py"


def check_purity(source, _):
    if not source.place.startswith(PURE):
        return
    for line, _, name in source.includes:
        if re.match(r"coxswain/net/|(thread|mutex|shared_mutex|future|condition_variable|stop_token"
                    r"|unistd\.h|sys/.*|poll\.h)$", name):
            yield line, "purity", f"no threads and no I/O here: {name}"
    for line, found in source.matches(
            r"::now\s*\(|\brandom_device\b|\bs?rand\s*\(|\bclock_gettime\b|\bgettimeofday\b"
            r"|\bstd::(j?thread|async|mutex)\b"):
        yield line, "purity", f"time and chance are arguments, threads the shells': '{found}'"


def is_protobuf(name):
    return name.startswith("google/protobuf") or name.endswith(".pb.h")


def check_installed(source, installed):
    """Headers included by an installed header are installed too, and not generated."""
    if source.place not in installed:
        return
    for line, _, name in source.includes:
        if is_protobuf(name):
            yield line, "installed", f"an installed header shows no Protobuf: {name}"
        elif name.startswith("coxswain/") and name.removeprefix("coxswain/") not in installed:
            yield line, "installed", f"an installed header includes {name}: list it in HEADERS"


def python_imports(source):
    """The package's modules imported by a module, also late or for type checkers only."""
    for node in ast.walk(ast.parse(source.text)):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            path = f"src/python/{name.replace('.', '/')}.py"
            if name.startswith("coxswain.") and (ROOT / path).is_file():
                yield path


def check_circles(source, _):
    """The package's modules have no import cycles."""
    if not source.path.startswith("src/python/coxswain/") or not source.path.endswith(".py"):
        return
    ways = {path: [path] for path in python_imports(source)}
    open_ones = list(ways)
    while open_ones and source.path not in ways:
        last = open_ones.pop()
        imported = Source(last, (ROOT / last).read_text(encoding="utf-8"))
        for path in python_imports(imported):
            if path not in ways:
                ways[path] = [*ways[last], path]
                open_ones.append(path)
    if source.path in ways:
        names = " -> ".join(pathlib.PurePath(path).stem for path in ways[source.path])
        yield 1, "circles", f"imports itself: {names}"


# Coroutines under GCC 12.2, which silently miscompiles some expressions: an owning aggregate or a
# lambda with captures made inside a statement with co_await is destroyed twice or used after its
# end, as are the elements of a braced list or '?:' around co_await.


def brackets(code):
    """Each bracket's partner, in both directions."""
    partner, open_ones = {}, []
    for at, char in enumerate(code):
        if char in "([{":
            open_ones.append(at)
        elif char in ")]}" and open_ones:
            partner[at] = open_ones.pop()
            partner[partner[at]] = at
    return partner


def opens_block(code, at):
    """Whether the brace opens a block rather than a braced list."""
    before = code[max(0, at - 300):at].rstrip()
    result = re.search(r"\)[\w\s]*->([^;{}=]*)$", before)  # that of a function or lambda
    return not before or before[-1] in ");{}:]" or bool(
        re.search(r"\b(else|do|try|mutable|noexcept|const|override|final)$", before)
        or (result and result[1].count("(") == result[1].count(")"))
        or re.search(r"\b(struct|class|enum|union|namespace)\b[^;{}()=]*$", before))


def heads(code, at):
    """Whether the parenthesis belongs to an if or a loop."""
    return bool(re.search(r"\b(if|while|for|switch)\s*(constexpr\s*)?$", code[max(0, at - 40):at]))


def statement_of(code, partner, at):
    """Begin and end of the statement that holds the co_await, and the braces of lists around it."""
    begin, lists = at, []
    while begin > 0:
        last = begin - 1
        opener = partner.get(last)
        if code[last] == ";" or (code[last] in ")]}" and opener is None):
            break
        if code[last] in ")]}":
            in_list = re.match(r"\s*([,).?:\]|=<]|->)", code[begin:begin + 200])
            if code[last] == "}" and not in_list or code[last] == ")" and heads(code, opener):
                break
            last = opener
        elif code[last] == "{":
            if opens_block(code, last):
                break
            lists.append(last)
        elif code[last] == "(" and heads(code, last):
            break
        begin = last
    end = at
    while end < len(code) and code[end] != ";":
        if code[end] in ")]}" and partner.get(end, -1) < begin:
            break
        end = partner.get(end, end) + 1 if code[end] in "([{" else end + 1
    return begin, end, lists


def take_lambdas(code, partner, begin, end):
    """The statement's lambdas as (position, captures), and its text without their bodies."""
    lambdas, rest, at = [], code[begin:end], begin
    while (at := code.find("[", at, end)) >= 0:
        before = code[begin:at].rstrip()
        if code[at:at + 2] == "[[":
            at = partner.get(at, at)
        elif at in partner and (
                not re.search(r"[\w)\]>]$", before)  # otherwise a subscript
                or re.search(r"\b(return|co_return|co_await)$", before)):
            lambdas.append((at, code[at + 1:partner[at]]))
            body = re.compile(r"[^;{]*").match(code, partner[at] + 1, end).end()
            if code[body:body + 1] == "{" and body in partner:
                at = partner[body]
                rest = rest[:body - begin] + " " * (at + 1 - body) + rest[at + 1 - begin:]
        at += 1
    return lambdas, rest


def top_level_parts(text):
    depth, parts = 0, [""]
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def check_coroutines(source, _):
    code = source.code
    partner = brackets(code)
    found = set()
    for keyword in re.finditer(r"(?<!operator )\bco_await\b", code):
        begin, end, lists = statement_of(code, partner, keyword.start())
        lambdas, rest = take_lambdas(code, partner, begin, end)
        for at, captures in lambdas:
            for capture in map(str.strip, top_level_parts(captures)):
                if capture and capture != "this" and not capture.startswith("&"):
                    found.add((source.line(at), f"lambda with the capture '{capture}'"))
        for at in lists:
            found.add((source.line(at), "braced list around co_await"))
        for at in (begin + m.start() for m in re.finditer(r"\{", rest)):
            inside = code[at + 1:partner.get(at, at + 1)]
            if re.search(r"([(,=]|\breturn)$", code[:at].rstrip()[-20:]):
                found.add((source.line(at), "braced list"))
            elif re.search(r"(^|,)\s*\.\w+\s*[={]", inside):
                found.add((source.line(at), "aggregate"))
            elif len(top_level_parts(inside)) > 1:
                found.add((source.line(at), "temporary in braces, maybe an aggregate"))
        found.update((source.line(begin + m.start()), "'?:'") for m in re.finditer(r"\?", rest))
        if binding := re.match(r"\s*(const\s+)?auto\s*(const)?\s*&{0,2}\s*\[", rest):
            found.add((source.line(begin + binding.end()), "structured binding"))
    for line, what in sorted(found):
        yield line, "coroutines", f"{what} in a statement with co_await: name it on the line before"


# Form.


def include_rank(source, quoted, name):
    if not quoted:
        return 2 if name.startswith(THIRD_PARTY) else 3
    stem = re.sub(r"(_test)?\.cpp$", "", pathlib.PurePath(source.path).name)
    return 0 if pathlib.PurePath(name).stem == stem else 1


def check_includes(source, _):
    if source.path.endswith(".hpp") and not re.search(r"^#pragma once$", source.text, re.MULTILINE):
        yield 1, "includes", "a header begins with #pragma once"
    own = source.path.removeprefix("src/").replace(".cpp", ".hpp")
    last = None
    for line, quoted, name in source.includes:
        if name == own and last:
            yield line, "includes", "the own header comes first"
        # As clang-format sorts within a block: .h before the others, capitals first.
        key = (not name.endswith(".h") and not quoted, name)
        rank = include_rank(source, quoted, name)
        if last and line == last[0] + 1:
            if max(rank, 1) != max(last[1], 1):
                yield line, "includes", f"a blank line belongs before the group of {name}"
            elif rank == last[1] and key < last[2]:
                yield line, "includes", f"{name} is not in order"
        if last and max(rank, 1) < max(last[1], 1):
            yield line, "includes", f"{name}: own header, coxswain/, third party, std"
        last = (line, rank, key)


def check_length(source, _):
    lines = source.text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_LENGTH_MAX:
            yield number, "length", f"{len(line)} characters; {LINE_LENGTH_MAX} are the limit"
    is_long = source.path.startswith("src/") and len(lines) > FILE_LENGTH_MAX
    if is_long and source.path not in LONG_FILES:
        yield len(lines), "length", f"{len(lines)} lines; {FILE_LENGTH_MAX} are the limit: split it"
    if source.path in LONG_FILES and not is_long:
        yield 1, "length", "is in LONG_FILES of tools/tidy.py and no longer long"


def check_web(source, _):
    """The page and its tests: limited length, and no external resources."""
    if not source.path.endswith(WEB):
        return
    yield from check_length(source, _)
    for line, found in source.matches(r"""(src|href|url|import)\b[\s=(]*["']?https?://""",
                                      source.text):
        yield line, "web", f"the page needs nothing from elsewhere: '{found}'"


def check_python(source, _):
    """The package's modules have the length limits of src/."""
    if source.path.startswith("src/python/") and source.path.endswith(PYTHON):
        yield from check_length(source, _)


def check_words(source, _):
    for line, found in source.matches(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b"):
        if source.path.startswith("tests/") and source.is_cpp:
            yield line, "sleep", f"a test does not sleep: '{found}'"
    for line, found in source.matches(r"\b(TO[D]O|FIX[M]E)\b", source.text):
        yield line, "words", f"'{found}': write a failing test, or an issue"
    for line, found in source.matches(r"(?<![\w.})*])/(work|home|root|Users)/\w*", source.text):
        yield line, "words", f"the path of a machine: '{found}'"


# References to documents and their numbered rules.

GAP = r"(?:\s|//|#)+"  # also to the next line of a comment
RULE = r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?"
SEMANTICS, BEHAVIOURS = "src/coxswain/SEMANTICS.md", "tests/BEHAVIOURS.md"


@functools.cache
def known_rules():
    """The numbers of rules and of upstream's sharp edges, once per definition."""
    rules = (ROOT / SEMANTICS).read_text(encoding="utf-8")
    edges = (ROOT / BEHAVIOURS).read_text(encoding="utf-8").partition("## Sharp edges")[2]
    return (re.findall(rf"^(?:### |- \*\*|\| )({RULE})", rules, re.MULTILINE),
            re.findall(r"^\| (\d+) \|", edges, re.MULTILINE))


@functools.cache
def documents():
    return {path.name for path in all_files() if path.suffix == ".md"}


def check_references(source, _):
    """A cited rule has its number in SEMANTICS.md, and a named document exists."""
    rules, edges = known_rules()
    if source.path == SEMANTICS:
        for number in sorted({rule for rule in rules if rules.count(rule) > 1}):
            yield 1, "references", f"{number} is defined twice"
    for line, cited in source.matches(r"§\d+(?:\.\d+)*", source.text):
        if cited[1:] not in rules:
            yield line, "references", f"SEMANTICS.md has no rule {cited[1:]}"
    for m in re.finditer(rf"\b[Ss]harp edges?{GAP}(\d+)(?:{GAP}and{GAP}(\d+))?", source.text):
        for number in filter(None, m.groups()):
            if number not in edges:
                yield (source.line(m.start()), "references",
                       f"{BEHAVIOURS} has no sharp edge {number}")
    if source.is_cpp or source.path.endswith((".md", ".proto")):
        for line, name in source.matches(r"[\w-]+\.md\b", source.text):
            if name not in documents():
                yield line, "references", f"there is no document {name}"


def check(source, installed):
    """All findings in one file, as (line, rule, message)."""
    rules = (check_words, check_web, check_python, check_circles, check_references) if not source.is_cpp else (
        check_layers, check_purity, check_installed, check_coroutines, check_includes,
        check_length, check_words, check_references)
    return sorted(finding for rule in rules for finding in rule(source, installed))



def check_directories(paths):
    """Directories with too many sources, as (directory, message)."""
    counts = collections.Counter(path.rpartition("/")[0] for path in paths if path.endswith(CODE))
    for directory, count in sorted(counts.items()):
        if count > DIRECTORY_SOURCES_MAX and directory not in LARGE_DIRECTORIES:
            yield directory, f"{count} sources; {DIRECTORY_SOURCES_MAX} are the limit: split it"
    for directory in LARGE_DIRECTORIES:
        if counts[directory] <= DIRECTORY_SOURCES_MAX:
            yield directory, "is in LARGE_DIRECTORIES of tools/tidy.py and no longer large"


# Snippets: the rule that each breaks (none: it is fine), its path, and its text. Headers get a
# #pragma once, coroutines a function.
SNIPPETS = (
    ("", "src/coxswain/net/a.cpp", '#include "coxswain/base/a.hpp"'),
    ("", "src/coxswain/client/client.cpp", '#include "coxswain/core/model/messages.hpp"'),
    ("", "bench/a.cpp", '#include "coxswain/core/kernel/roster.hpp"\n\n#include <boost/asio/read.hpp>'),
    ("layers", "src/coxswain/base/a.cpp", '#include "coxswain/core/a.hpp"'),
    ("layers", "src/coxswain/client/a.cpp", '#include "coxswain/core/kernel/roster.hpp"'),
    ("purity", "src/coxswain/client/agent/agent.cpp", '#include "coxswain/net/asio.hpp"'),
    ("layers", "src/coxswain/server/a.cpp", "#include <boost/asio/read.hpp>"),
    ("layers", "src/coxswain/core/a.cpp", "#include <google/protobuf/arena.h>"),
    ("layers", "src/coxswain/mess/a.cpp", ""),
    ("", "src/coxswain/core/a.cpp", "// std::random_device\nauto s = \"steady_clock::now()\";"),
    ("", "src/coxswain/server/server.cpp", "auto t = clock::now();"),
    ("purity", "src/coxswain/core/a.cpp", "auto t = clock::now();"),
    ("purity", "src/coxswain/wire/a.cpp", "std::random_device d;"),
    ("purity", "src/coxswain/base/bytes.hpp", "#include <thread>"),
    ("", "src/coxswain/base/ids.hpp", '#include "coxswain/base/ids.hpp"'),
    ("installed", "src/coxswain/base/ids.hpp", '#include "coxswain/base/hidden.hpp"'),
    ("installed layers", "src/coxswain/base/ids.hpp", "#include <google/protobuf/arena.h>"),
    ("", "co", "auto p = x ? S{.a = 1, .b = 2} : S{1, 2}; co_await f(std::move(p));"),
    ("", "co", "co_await f([this, &x](int i) { return S{i, i ? 1 : 2}; }, task{3}, v[i]);"),
    ("", "co", "auto g = [p]() -> awaitable<void> { co_await h(); }; co_await g(); S s{1, 2};"),
    ("", "co", "[[maybe_unused]] auto a = co_await f();"),
    ("", "co", "if (x ? y : z) co_await f(); else { S s{1, 2}; } co_await f(\"a ? {1, 2}\");"),
    ("", "co", "while (auto r = co_await f()) { g([p] { return p; }); } if (co_await f()) g({1});"),
    ("coroutines", "co", "co_await f([p] { return 1; });"),
    ("coroutines", "co", "co_await co_spawn(e, [s = s]() -> awaitable<void> { co_return; }, u);"),
    ("coroutines", "co", "co_await [=]() -> awaitable<void> { co_return; }();"),
    ("coroutines", "co", "co_await f({a});"),
    ("coroutines", "co", "auto r = co_await f(\n    options{.key = 1});"),
    ("coroutines", "co", "co_await f(S{p, 1});"),
    ("coroutines", "co", "S s{co_await g()};"),
    ("coroutines", "co", "P q = c ? co_await g() : p;"),
    ("coroutines", "co", "if (co_await f(c ? a : b)) g();"),
    ("coroutines", "co", "auto const& [a, b] = co_await g();"),
    ("", "src/coxswain/net/a.cpp", '#include "coxswain/net/a.hpp"\n\n#include <boost/b.hpp>\n\n'
     '#include <sys/a.h>\n#include <array>\n#include <map>'),
    ("", "tests/base/b_test.cpp", '#include "coxswain/base/b.hpp"\n#include "coxswain/base/a.hpp"'),
    ("includes", "src/coxswain/base/a.cpp", "#include <map>\n#include <array>"),
    ("includes", "src/coxswain/base/a.cpp", "#include <map>\n\n#include <boost/b.hpp>"),
    ("includes", "src/coxswain/base/a.cpp", '#include "coxswain/base/b.hpp"\n#include <map>'),
    ("includes", "src/coxswain/base/b.cpp", "#include <a>\n" '#include "coxswain/base/b.hpp"'),
    ("length", "tools/a.cpp", "/" * 101),
    ("length", "src/coxswain/base/a.cpp", "\n" * 501),
    ("sleep", "tests/a.cpp", "std::this_thread::sleep_for(1s);"),
    ("words", "tools/a.cpp", "// TO" "DO"),
    ("", "src/coxswain/status/site/a.html", '<a href="#b">b</a><script src="a.js"></script>'),
    ("length", "src/coxswain/status/site/a.js", "\n" * 501),
    ("", "src/python/native/a.cpp", '#include "coxswain/host/a.hpp"'),
    ("layers", "src/python/native/a.cpp", '#include "coxswain/wire/a.hpp"'),
    ("layers", "src/coxswain/c/a.cpp", '#include "coxswain/server/a.hpp"'),
    ("length", "src/python/coxswain/a.py", "\n" * 501),
    ("", "src/python/coxswain/_code.py", "from coxswain import _native\nimport coxswain._build"),
    ("circles", "src/python/coxswain/_code.py",
     "def late():\n    from coxswain import _types\n    return _types"),
    ("circles", "src/python/coxswain/_code.py", "if X:\n    from coxswain._errors import Error"),
    ("web", "src/coxswain/status/site/a.html", '<script src="https://a.example/b.js"></script>'),
    ("words", "tools/a.sh", "cd /ho" "me/me"),
    ("", "src/coxswain/core/a.cpp", "// See §7.1 and §7.1.1."),
    ("", "tests/a.cpp", "// TLS 1.3; sharp edges 5 and 6; README.md"),
    ("references", "src/coxswain/core/a.cpp", "// A round is numbered (semantics §" "99.1)."),
    ("references", "proto/a.proto", "// See §7.1.9" "9."),
    ("references", "tests/a.py", "# Sharp edge 9" "99."),
    ("references", "bench/a.cpp", "// as in styl" "e.md"),
)


def self_test():
    failures = 0
    for expected, path, text in SNIPPETS:
        if path == "co":
            path, text = "tests/a.cpp", "awaitable<void> f() {\n  " + text + "\n}"
        elif path.endswith(".hpp"):
            text = "#pragma once\n" + text
        found = sorted({f[1] for f in check(Source(path, text), {"base/ids.hpp"})})
        if found != expected.split():
            failures += 1
            print(f"expected {expected.split()}, found {found} in {path}:\n{text}\n")
    full = [f"src/a/{i}.cpp" for i in range(DIRECTORY_SOURCES_MAX)]
    for paths, expected in ((full, 0), ([*full, "src/a/a.txt"], 0), ([*full, "src/a/a.py"], 1)):
        found = [one for one in check_directories(paths) if one[0] == "src/a"]
        if len(found) != expected:
            failures += 1
            print(f"expected {expected} findings, found {found} of {len(paths)} files")
    print(f"{len(SNIPPETS)} snippets, {failures} failures")
    return 1 if failures else 0


# The program.


def installed_headers():
    """The HEADERS in the layers' CMakeLists.txt, such as "base/status.hpp"."""
    found = set()
    for cmake in ROOT.glob("src/coxswain/*/CMakeLists.txt"):
        text = re.sub(r"#.*", "", cmake.read_text(encoding="utf-8"))
        for headers in re.findall(r"\bHEADERS\s+([^)]*?)(?:\)|\b[A-Z]{4,}\b)", text):
            found.update(f"{cmake.parent.name}/{name}" for name in headers.split())
    return found


def all_files():
    for path in sorted([*ROOT.iterdir(), *(p for f in DIRECTORIES for p in (ROOT / f).rglob("*"))]):
        parts = path.relative_to(ROOT).parts
        ignored = any(p in (".git", "build", "__pycache__") or p.startswith(".venv") for p in parts)
        if path.is_file() and path.suffix in SUFFIXES and not ignored:
            yield path


def main(names):
    findings = 0
    installed = installed_headers()
    paths = [pathlib.Path(name).resolve() for name in names] or list(all_files())
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        source = Source(path.relative_to(ROOT).as_posix(), text)
        for line, rule, message in check(source, installed):
            findings += 1
            print(f"{source.path}:{line}: [{rule}] {message}")
    for directory, message in [] if names else check_directories(
            path.relative_to(ROOT).as_posix() for path in paths):
        findings += 1
        print(f"{directory}: [length] {message}")
    print(f"{len(paths)} files, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(main(sys.argv[1:]))
