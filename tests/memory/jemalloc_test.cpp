// jemalloc as the programs use it: its configuration, and that a reserve works with it, which keeps
// blocks of different sizes apart, when the system has no more memory.

#include "coxswain/base/memory_reserve.hpp"

#include <boost/test/unit_test.hpp>

#include <jemalloc/jemalloc.h>
#include <sys/resource.h>

#include <cstddef>
#include <initializer_list>
#include <new>
#include <string_view>

namespace coxswain {
namespace {

// Allocates until memory runs out.
class blocks {
 public:
  blocks() = default;
  ~blocks() {
    while (last_ != nullptr) {
      void* const before = *static_cast<void**>(last_);
      ::operator delete(last_);
      last_ = before;
    }
  }
  blocks(blocks const&) = delete;
  blocks& operator=(blocks const&) = delete;

  // The sizes are these in turns. Returns the sum.
  std::size_t allocate_all(std::initializer_list<std::size_t> sizes) {
    std::size_t sum = 0;
    try {
      while (true) {
        for (auto const bytes : sizes) {
          void* const one = ::operator new(bytes);
          *static_cast<void**>(one) = last_;
          last_ = one;
          sum += bytes;
        }
      }
    } catch (std::bad_alloc const&) {
      return sum;
    }
  }

 private:
  void* last_{};
};

BOOST_AUTO_TEST_SUITE(jemalloc_test)

BOOST_AUTO_TEST_CASE(a_reserve_serves_small_blocks_when_memory_is_exhausted) {
  rlimit before{};
  BOOST_TEST_REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const little{512U << 20U, before.rlim_max};
  for (std::size_t const bytes : {256U << 10U, 4U << 20U}) {
    BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_AS, &little) == 0);
    std::size_t served = 0;
    {
      memory_reserve reserve{bytes};
      blocks all;
      static_cast<void>(all.allocate_all({200}));
      memory_reserve::use const in_use{&reserve};
      served = all.allocate_all({200, 700, 1'200, 1'700, 2'200, 2'700, 3'200});
    }
    BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
    BOOST_TEST(served >= bytes / 2);
  }
}

BOOST_AUTO_TEST_CASE(jemalloc_is_configured_for_huge_pages) {
  char const* pages{};
  std::size_t bytes = sizeof pages;
  BOOST_TEST_REQUIRE(::mallctl("opt.thp", &pages, &bytes, nullptr, 0) == 0);
  BOOST_TEST(std::string_view{pages} == "always");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
