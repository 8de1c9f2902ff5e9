#include "coxswain/base/bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace coxswain {
namespace {

BOOST_AUTO_TEST_SUITE(bytes_test)

BOOST_AUTO_TEST_CASE(bytes_of_any_length_keep_their_content) {
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

BOOST_AUTO_TEST_CASE(shared_bytes_count_once_while_owned) {
  for (std::size_t const size : {0u, 512u, 513u}) {
    auto const meter = make_meter(10'000);
    {
      bytes const plain{std::string(size, 'x'), meter};
      BOOST_TEST(meter->used() == 0u);
      owned_bytes first{plain};
      {
        owned_bytes const second{first};
        first = bytes{};
        BOOST_TEST(meter->used() == size);
        BOOST_TEST((second.view().data() == plain.view().data()));
      }
      BOOST_TEST(meter->used() == 0u);
      BOOST_TEST(plain.view() == std::string(size, 'x'));
    }
    BOOST_TEST(meter->use_count() == 1);
  }
}

BOOST_AUTO_TEST_CASE(owned_bytes_do_not_count_as_in_transit) {
  auto const meter = make_meter(10'000);
  bytes const plain{std::string(600, 'x'), meter};
  auto const counted = [&] { return std::pair{meter->used(), meter->transit()}; };
  using two = std::pair<std::size_t, std::size_t>;

  BOOST_TEST(plain.uncounted() == 600u);
  carried_bytes carried{plain};
  BOOST_TEST((counted() == two{0, 600}));
  owned_bytes owned{plain};
  BOOST_TEST((counted() == two{600, 0}));
  BOOST_TEST(plain.uncounted() == 0u);
  owned = bytes{};
  BOOST_TEST((counted() == two{0, 600}));
  owned = plain;
  carried = bytes{};
  BOOST_TEST((counted() == two{600, 0}));
  owned = bytes{};
  BOOST_TEST((counted() == two{0, 0}));
}

BOOST_AUTO_TEST_CASE(the_core_owns_up_to_three_quarters_and_transit_gets_the_rest) {
  memory_meter meter{1'000};
  BOOST_TEST(meter.owned_max() == 750u);

  meter.add_transit(900);
  BOOST_TEST(meter.fits(750));
  BOOST_TEST(!meter.fits(751));
  meter.add(60);
  BOOST_TEST(meter.fits_in_transit(40));
  BOOST_TEST(!meter.fits_in_transit(41));
  meter.add(690);
  BOOST_TEST(!meter.fits(1));
  BOOST_TEST(!meter.fits_in_transit(0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
