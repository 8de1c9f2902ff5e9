#include "coxswain/server/memory_limit.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>
#include <utility>

namespace coxswain::server {
namespace {

constexpr std::size_t machine = 64'000;

// The memory limit of a process on a system with these files.
std::size_t allowed(std::string groups, std::map<std::string, std::string> files) {
  memory_limits by;
  by.machine = machine;
  by.control_groups = std::move(groups);
  by.read = [files = std::move(files)](std::string const& path) {
    auto const at = files.find(path);
    return at == files.end() ? std::nullopt : std::optional{at->second};
  };
  return memory_allowed(by);
}

BOOST_AUTO_TEST_SUITE(memory_limit_test)

BOOST_AUTO_TEST_CASE(without_limits_the_machine_memory_counts) {
  BOOST_TEST(allowed("", {}) == machine);
  BOOST_TEST(allowed("0::/\n", {{"/sys/fs/cgroup/memory.max", "max\n"}}) == machine);
  BOOST_TEST(allowed("0::/user.slice\n", {}) == machine);
}

BOOST_AUTO_TEST_CASE(the_limit_of_the_cgroup_counts) {
  BOOST_TEST(allowed("0::/a/b\n", {{"/sys/fs/cgroup/a/b/memory.max", "1000\n"},
                                   {"/sys/fs/cgroup/memory.max", "max\n"}}) == 1000u);
  BOOST_TEST(allowed("11:cpu:/x\n5:hugetlb,memory:/job/7\n0::/\n",
                     {{"/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "2000\n"}}) == 2000u);
}

BOOST_AUTO_TEST_CASE(the_smallest_limit_of_all_parent_cgroups_counts) {
  BOOST_TEST(allowed("0::/a/b/c", {{"/sys/fs/cgroup/a/b/c/memory.max", "max\n"},
                                   {"/sys/fs/cgroup/a/b/memory.max", "3000\n"},
                                   {"/sys/fs/cgroup/a/memory.max", "2000\n"}}) == 2000u);
  BOOST_TEST(allowed("4:memory:/docker/host-only",
                     {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "4000\n"}}) == 4000u);
  BOOST_TEST(allowed("4:memory:/a", {{"/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                                      "9223372036854771712\n"}}) == machine);
}

BOOST_AUTO_TEST_CASE(other_controllers_and_malformed_limits_are_ignored) {
  BOOST_TEST(allowed("4:memory_other:/a\n5:cpu:/a\nnonsense\n:\n\n",
                     {{"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1"}}) == machine);
  BOOST_TEST(allowed("0::/a", {{"/sys/fs/cgroup/a/memory.max", ""}}) == machine);
  BOOST_TEST(allowed("0::/a", {{"/sys/fs/cgroup/a/memory.max", "0"}}) == machine);
}

BOOST_AUTO_TEST_CASE(the_address_space_limit_counts) {
  memory_limits by;
  by.machine = machine;
  by.address_space = 500;
  by.read = [](std::string const&) { return std::nullopt; };

  BOOST_TEST(memory_allowed(by) == 500u);
}

BOOST_AUTO_TEST_CASE(the_limit_of_this_process_is_positive) {
  auto const mine = limits_of_this_process();

  BOOST_TEST(mine.machine > 0u);
  BOOST_TEST(memory_allowed(mine) > 0u);
  BOOST_TEST(memory_allowed(mine) <= mine.machine);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
