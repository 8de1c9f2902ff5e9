#include "stacks/thread_stacks.hpp"

#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

// "main: a, b; worker: c"
std::string text_of(std::vector<thread_stack> const& all) {
  std::string text;
  for (auto const& one : all) {
    if (!text.empty()) text += "; ";
    text += one.name + ":";
    for (auto const& frame : one.frames) text += " [" + frame + "]";
  }
  return text;
}

BOOST_AUTO_TEST_SUITE(thread_stacks)

BOOST_AUTO_TEST_CASE(py_spy_prints_the_main_thread_among_others) {
  auto const all = py_spy_stacks(
      "Process 3391: python3 train.py\nPython v3.11.2 (/usr/bin/python3.11)\n\n"
      "Thread 3400 (idle): \"loader\"\n    get (queue.py:171)\n    run (threading.py:975)\n\n"
      "Thread 3391 (active): \"MainThread\"\n    load (train.py:31)\n    <module> (train.py:50)\n");

  BOOST_TEST(text_of(all) ==
             "MainThread: [load (train.py:31)] [<module> (train.py:50)]; "
             "loader: [get (queue.py:171)] [run (threading.py:975)]");
}

BOOST_AUTO_TEST_CASE(eu_stack_has_the_main_thread_first) {
  auto const all = eu_stacks(
      "PID 77 - process\nTID 77:\n#0  0x00007f1c22 clock_nanosleep@GLIBC_2.2.5\n#1  0x00007f1c23 "
      "main\n"
      "TID 78:\n#0  0x00007f1c24 futex_wait - 1\n");

  BOOST_TEST(text_of(all) == ": [clock_nanosleep] [main]; : [futex_wait - 1]");
}

BOOST_AUTO_TEST_CASE(gdb_has_the_main_thread_last) {
  auto const all = gdb_stacks(
      "[New LWP 78]\n[Thread debugging using libthread_db enabled]\n"
      "0x00007f in ?? () from /lib/libc.so.6\n\n"
      "Thread 2 (Thread 0x7f12 (LWP 78) \"worker\"):\n"
      "#0  0x00007f1c22 in read () from /lib/x86_64-linux-gnu/libc.so.6\n\n"
      "Thread 1 (Thread 0x7f11 (LWP 77) \"task\"):\n"
      "#0  spin (n=3, f=0x55) at /src/app/spin.c:12\n#1  0x000055ee in main ()\n"
      "[Inferior 1 (process 77) detached]\n");

  BOOST_TEST(text_of(all) == "main: [spin (spin.c:12)] [main]; : [read]");
}

BOOST_AUTO_TEST_CASE(errors_have_no_frames) {
  BOOST_TEST(py_spy_stacks("Error: Failed to open process 77\n").empty());
  BOOST_TEST(
      eu_stacks("eu-stack: dwfl_linux_proc_attach pid 77: Operation not permitted\n").empty());
  BOOST_TEST(gdb_stacks("ptrace: Operation not permitted.\n").empty());
  BOOST_TEST(py_spy_stacks("").empty());
  BOOST_TEST(gdb_stacks("#\n#x\n# 1\n\nThread ").empty());
}

BOOST_AUTO_TEST_CASE(whatever_is_printed_the_result_is_small) {
  std::string output;
  for (int thread = 0; thread < 200; ++thread) {
    output += "Thread 1 (idle): \"" + std::string(1000, 't') + "\"\n";
    for (int frame = 0; frame < 500; ++frame) output += "    " + std::string(1000, 'f') + "\n";
  }

  auto const all = py_spy_stacks(output);

  BOOST_TEST(all.size() == 64u);
  BOOST_TEST(all.front().name.size() == 200u);
  BOOST_TEST(all.front().frames.size() == 100u);
  BOOST_TEST(all.front().frames.front().size() == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
