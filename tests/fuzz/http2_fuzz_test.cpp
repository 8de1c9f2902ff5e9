// Random peers of an HTTP/2 session.

#include "coxswain/base/recycling_allocator.hpp"
#include "coxswain/http2/server_stream.hpp"
#include "tests/fuzz/http2_world.hpp"
#include "tests/fuzz/random_source.hpp"
#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace coxswain::http2 {
namespace {

constexpr std::uint64_t worlds = 6'000;
constexpr std::size_t steps = 100;

// The memory of finished calls is reused. Fills that store, so that it does not look like a leak.
void fill_spare_memory() {
  std::vector<std::unique_ptr<server_stream>> calls;
  while (calls.size() < spare_memory<sizeof(server_stream)>::kept_max) {
    calls.push_back(std::make_unique<server_stream>(stream_id{1}, 0));
  }
}

template <class Try>
http2_world_counts try_many(Try one) {
  coxswain::test::random_source rng{coxswain::test::seed()};
  http2_world_counts sum;
  fill_spare_memory();
  one(rng, steps);  // warms up: what is allocated once is not a leak
  for (auto left = coxswain::test::times(worlds); left > 0; --left) {
    auto const before = coxswain::test::live_bytes();
    auto const counts = one(rng, steps);
    BOOST_TEST(coxswain::test::live_bytes() == before);
    sum.calls += counts.calls;
    sum.endings += counts.endings;
    sum.refusals += counts.refusals;
  }
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http2_fuzz_test)

BOOST_AUTO_TEST_CASE(a_server_survives_any_client) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << coxswain::test::seed()) {
    auto const sum = try_many(try_server);
    BOOST_TEST(sum.calls > worlds);
    BOOST_TEST(sum.endings > worlds / 50);
    BOOST_TEST(sum.refusals > worlds / 10);
  }
}

BOOST_AUTO_TEST_CASE(a_client_survives_any_server) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << coxswain::test::seed()) {
    auto const sum = try_many(try_client);
    BOOST_TEST(sum.calls > worlds / 4);
    BOOST_TEST(sum.endings > worlds / 4);
    BOOST_TEST(sum.refusals > worlds / 10);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
