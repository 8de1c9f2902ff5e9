#include "coxswain/base/bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace coxswain {
namespace {

BOOST_AUTO_TEST_SUITE(bytes_test)

BOOST_AUTO_TEST_CASE(they_are_what_was_given_whatever_their_length) {
  for (std::size_t const size : {0u, 1u, 15u, 16u, 511u, 512u, 513u, 5000u}) {
    std::string const content(size, 'x');
    bytes const copied{content};
    std::string given = content + 'y';
    given.pop_back();
    bytes const moved{std::move(given)};

    BOOST_TEST(copied.view() == content);
    BOOST_TEST(moved.view() == content);
    BOOST_TEST((copied == moved));
  }
}

BOOST_AUTO_TEST_CASE(they_are_counted_until_the_last_reference_is_gone) {
  for (std::size_t const size : {0u, 512u, 513u}) {
    auto const meter = std::make_shared<memory_meter>(10'000);
    {
      bytes last;
      {
        bytes const first{std::string(size, 'x'), meter};
        last = first;
        BOOST_TEST(meter->used() == size);
        BOOST_TEST((last.view().data() == first.view().data()));
      }
      BOOST_TEST(meter->used() == size);
      BOOST_TEST(last.view() == std::string(size, 'x'));
    }
    BOOST_TEST(meter->used() == 0u);
    BOOST_TEST(meter.use_count() == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
