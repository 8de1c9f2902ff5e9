"""Writes the examples of a document as files that compile. Whole programs and blocks of CMake stay as they are;
the blocks of C++ and of C that are no programs become functions, whose parameters are what their text leaves out.

Usage: examples.py DOCUMENT DIRECTORY
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"(?:<!-- (?:\S*/)?(\w+)\.cpp -->\n)?```(cpp|c|cmake)\n(.*?)```\n", re.DOTALL)

CPP = """#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/client/process_monitor.hpp"
#include "coxswain/host/hosted_coordinator.hpp"

#include <span>

using namespace std;
using namespace coxswain;
"""
CPP_FUNCTION = """
asio::awaitable<void> example_{number}(client& job) {{
  {{
{text}  }}
  co_await job.leave();
}}
"""
C = """#include "coxswain/c/coxswain.h"

static int work(coxswain_string value) { return value.size != 0; }
static void abort_collectives_with_the_lost(coxswain_process_update const* update, void* runtime) {}
"""
C_FUNCTION = """
void example_{number}(coxswain_client* job, coxswain_string queue, void* runtime, coxswain_monitor* monitor,
                      coxswain_process const* members, size_t member_count) {{
{text}}}
"""


def main():
    document, directory = map(pathlib.Path, sys.argv[1:])
    directory.mkdir(parents=True, exist_ok=True)
    files = {"fragments.cpp": CPP, "fragments.c": C}
    for number, (name, language, text) in enumerate(BLOCK.findall(document.read_text())):
        if name:
            files[f"{name}.cpp"] = text
        elif language == "cmake":
            files[re.search(r"find_package|FetchContent", text)[0] + ".cmake"] = text
        else:
            text = text.replace("{ ... }", "{}").replace("\n...\n", "\n")
            function = CPP_FUNCTION if language == "cpp" else C_FUNCTION
            files[f"fragments.{language}"] += function.format(number=number, text=text)
    for name, text in files.items():
        (directory / name).write_text(text)


main()
