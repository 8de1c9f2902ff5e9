#include "stacks/process_state.hpp"

#include "stacks/process_stack.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

process_entry entry(pid_t pid, pid_t parent, std::uint64_t pages) {
  return {pid, parent, 'S', "p", pages};
}

// 1 -> 10 -> 11 -> 12, and 10 -> 13; 20 belongs to another.
std::vector<process_entry> const some{entry(1, 0, 5),    entry(10, 1, 100), entry(11, 10, 900),
                                      entry(12, 11, 50), entry(13, 10, 20), entry(20, 1, 9999)};

pid_t chosen(pid_t root, std::string const& client) {
  auto const found = chosen_process(some, root, client);
  return found ? found->pid : 0;
}

BOOST_AUTO_TEST_SUITE(process_state)

BOOST_AUTO_TEST_CASE(a_name_with_parentheses_is_read_whole) {
  auto const found = parse_stat(
      "77 (a) (b c) T 5 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 100 1000 250 18446744073709 1");

  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(found->pid == 77);
  BOOST_TEST(found->parent == 5);
  BOOST_TEST(found->state == 'T');
  BOOST_TEST(found->name == "a) (b c");
  BOOST_TEST(found->resident_pages == 250u);
}

BOOST_AUTO_TEST_CASE(other_lines_are_none) {
  for (auto const* const line :
       {"", "77", "77 (a", "77 (a) S", "x (a) S 5 1 1", ")77(", "77 () "}) {
    BOOST_TEST(!parse_stat(line).has_value(), "of " << line);
  }
}

BOOST_AUTO_TEST_CASE(a_client_is_found_among_what_was_started) {
  BOOST_TEST(chosen(10, "b12:12") == 12);
  BOOST_TEST(chosen(10, "b12:10") == 10);
}

BOOST_AUTO_TEST_CASE(without_a_client_it_is_the_largest) {
  BOOST_TEST(chosen(10, "") == 11);
  BOOST_TEST(chosen(10, "jax 0.10, b12") == 11);
  BOOST_TEST(chosen(12, "") == 12);
}

BOOST_AUTO_TEST_CASE(the_process_of_another_is_not_looked_at) {
  BOOST_TEST(chosen(10, "b12:20") == 11);
  BOOST_TEST(chosen(99, "b12:20") == 0);
}

BOOST_AUTO_TEST_CASE(parents_in_a_circle_end) {
  std::vector<process_entry> const circle{entry(1, 2, 1), entry(2, 1, 2)};

  BOOST_TEST(chosen_process(circle, 1, "")->pid == 2);
}

BOOST_AUTO_TEST_CASE(a_system_call_is_named_with_its_file) {
  auto const file = [](std::uint64_t descriptor) {
    return descriptor == 3 ? std::string{"/data/x"} : std::string{};
  };
  auto const line = [](long number, std::string const& rest) {
    return syscall_text(std::to_string(number) + " " + rest, nullptr);
  };

  BOOST_TEST(syscall_text(std::to_string(SYS_read) + " 0x3 0x7f 0x10 0x0", file) ==
             "read of /data/x");
  BOOST_TEST(syscall_text(std::to_string(SYS_read) + " 0x4 0x7f", file) == "read");
  BOOST_TEST(line(SYS_futex, "0x7f 0x0") == "futex");
  BOOST_TEST(line(99999, "0x1") == "system call 99999");
  BOOST_TEST(syscall_text("running", file) == "");
  BOOST_TEST(syscall_text("-1 0x7f 0x7f", file) == "");
  BOOST_TEST(syscall_text("", file) == "");
}

BOOST_AUTO_TEST_CASE(what_is_printed_can_be_read_again) {
  auto const same = [](process_stack const& what) {
    auto const again = parse_printed(printed(what));
    return again.main + "|" + again.rest;
  };

  BOOST_TEST(same({"a\nb\n", "process 7: sleeping\n"}) == "a\nb|process 7: sleeping");
  BOOST_TEST(same({"", "process 7 has ended"}) == "|process 7 has ended");
  BOOST_TEST(same({"a\n", ""}) == "a|");
  BOOST_TEST(parse_printed("cut in the mid").main == "cut in the mid");
  BOOST_TEST(parse_printed("").main == "");
}

BOOST_AUTO_TEST_CASE(all_processes_are_found_but_this_one) {
  auto const all = other_processes();
  auto const parent = chosen_process(all, ::getppid(), ":" + std::to_string(::getppid()));

  BOOST_TEST_REQUIRE(parent.has_value());
  BOOST_TEST(parent->pid == ::getppid());
  BOOST_TEST(!chosen_process(all, ::getpid(), "").has_value());
  BOOST_TEST(state_text('T') == "stopped (SIGSTOP or Ctrl-Z)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
