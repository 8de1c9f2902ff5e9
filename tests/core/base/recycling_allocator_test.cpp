#include "coxswain/base/recycling_allocator.hpp"

#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace coxswain {
namespace {

// Of a size that nothing else in this program has.
using thing = std::array<char, 4321>;

std::shared_ptr<thing> make() { return std::allocate_shared<thing>(recycling_allocator<thing>{}); }

BOOST_AUTO_TEST_SUITE(recycling_allocator_test)

BOOST_AUTO_TEST_CASE(freed_memory_is_used_again) {
  make();
  std::size_t const before = test::allocations();
  for (int i = 0; i < 100; ++i) make();
  BOOST_TEST(test::allocations() == before);
}

BOOST_AUTO_TEST_CASE(little_freed_memory_is_kept) {
  std::size_t const before = test::live_bytes();
  {
    std::vector<std::shared_ptr<thing>> many;
    for (int i = 0; i < 1000; ++i) many.push_back(make());
  }
  BOOST_TEST(test::live_bytes() < before + 65 * (sizeof(thing) + 64));
}

BOOST_AUTO_TEST_CASE(a_thread_keeps_nothing_when_it_ends) {
  std::size_t const before = test::live_bytes();
  std::thread{[] {
    for (int i = 0; i < 10; ++i) make();
  }}.join();
  BOOST_TEST(test::live_bytes() <= before);
}

BOOST_AUTO_TEST_CASE(arrays_are_allocated_as_usual) {
  recycling_allocator<thing> by;
  std::size_t const before = test::live_bytes();
  by.deallocate(by.allocate(2), 2);
  BOOST_TEST(test::live_bytes() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
