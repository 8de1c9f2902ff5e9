#include "coxswain/server/encoder.hpp"

#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::server {
namespace {

struct fixture {
  meter_ptr memory = make_meter(1 << 30);
  encoder encoded{memory};
};

std::string text_of(encoded_reply const& reply) {
  return reply.copied + std::string{reply.shared.view()} + std::string{reply.tail.view()};
}

std::string text_of(core::answer_ptr const& what) {
  auto const whole = wire::encode(*what);
  return whole.head + std::string{whole.tail.view()};
}

core::answer_ptr listing_of(std::size_t keys) {
  core::listing_answer listing;
  for (std::size_t i = 0; i < keys; ++i) {
    listing.entries.push_back({"key/" + std::to_string(i), bytes{std::string(100, 'v')}, i});
  }
  return core::make_answer({{}, std::move(listing)});
}

BOOST_FIXTURE_TEST_SUITE(encoder_test, fixture)

BOOST_AUTO_TEST_CASE(a_small_answer_is_copied) {
  auto const what = value_of(bytes{std::string{"small"}});

  auto const& reply = encoded.encode(what);

  BOOST_TEST(reply.copied == text_of(what));
  BOOST_TEST(reply.shared.size() == 0u);
  BOOST_TEST(reply.tail.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_large_value_is_shared_with_the_store) {
  bytes const value{std::string(100'000, 'v')};
  auto const what = value_of(value);

  auto const& reply = encoded.encode(what);

  BOOST_TEST((reply.tail.view().data() == value.view().data()));
  BOOST_TEST(text_of(reply) == text_of(what));
  BOOST_TEST(reply.size() == text_of(what).size());
}

BOOST_AUTO_TEST_CASE(a_large_body_is_counted_once_while_referenced) {
  auto const what = listing_of(1'000);
  carried_bytes kept;

  kept = encoded.encode(what).shared;
  BOOST_TEST(kept.size() > 100'000u);
  BOOST_TEST(kept.view() == text_of(what));
  BOOST_TEST(memory->transit() == kept.size());
  BOOST_TEST((encoded.encode(what).shared.view().data() == kept.view().data()));
  BOOST_TEST(memory->transit() == kept.size());
  encoded.forget();
  BOOST_TEST(memory->transit() == kept.size());
  kept = bytes{};
  BOOST_TEST(memory->transit() == 0u);
}

BOOST_AUTO_TEST_CASE(interleaved_answers_are_encoded_once) {
  std::vector<core::answer_ptr> const four{listing_of(100), listing_of(101), listing_of(102),
                                           listing_of(103)};
  std::vector<bytes> first;
  for (auto const& what : four) first.push_back(encoded.encode(what).shared);

  for (std::size_t i = 0; i < four.size(); ++i) {
    auto const& again = encoded.encode(four[i]).shared;
    BOOST_TEST((again.view().data() == first[i].view().data()));
  }
}

BOOST_AUTO_TEST_CASE(a_dropped_answer_is_destroyed) {
  auto const what = listing_of(100);
  (void)encoded.encode(what);
  BOOST_TEST(what->use_count() == 2);

  encoded.forget();

  BOOST_TEST(what->use_count() == 1);
  BOOST_TEST(memory->transit() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
