// A digest of the core's output: equal for equal behavior.

#include "coxswain/server/recording/running_digest.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace coxswain::server {
namespace {

template <class... Added>
running_digest::value after(Added const&... all) {
  running_digest d;
  (d.add(all), ...);
  return d.take();
}

running_digest::value of(core::answer what) {
  return after(core::outgoing{connection_id{1}, request_id{2}, core::make_answer(std::move(what))});
}

unsigned first_two(running_digest::value const& of) { return of[0] * 256U + of[1]; }

core::answer failed(errc code, std::string text, std::string waits_for, std::uint32_t step) {
  barrier_failure failure{.round = round_number{3}, .missing = "1-4"};
  failure.known.emplace_back();
  failure.known.back().waits_for = std::move(waits_for);
  failure.known.back().step = step;
  return {{code, std::move(text)}, failure};
}

core::answer value_of(std::string content, std::uint64_t version) {
  return {{}, core::value_answer{bytes{std::move(content)}, version}};
}

core::answer picture(std::uint64_t memory, std::string version, std::uint64_t keys) {
  core::snapshot s;
  s.memory_bytes = memory;
  s.version = std::move(version);
  s.keys = keys;
  return {{}, boxed{s}};
}

BOOST_AUTO_TEST_SUITE(running_digest_test)

BOOST_AUTO_TEST_CASE(the_digest_ignores_texts_values_versions_and_memory) {
  BOOST_TEST(of(failed(errc::aborted, "a text", "key 'k'", 5)) ==
             of(failed(errc::aborted, "in other words", "'k'", 5)));
  BOOST_TEST(of(value_of("value", 1)) == of(value_of("other", 1)));
  BOOST_TEST(of(picture(1, "1.0", 7)) == of(picture(2, "2.0", 7)));
  core::snapshot slow;
  slow.state = {core::job_state::kind::slow, "Slow", wall_time{}, "1", 1};
  BOOST_TEST(of({{}, boxed{slow}}) == of({{}, boxed{core::snapshot{}}}));
  BOOST_TEST(of({{}, core::waiting{request_id{1}, "a"}}) ==
             of({{}, core::waiting{request_id{1}, "b"}}));
  BOOST_TEST(after(core::event{core::severity::info, "a"}) ==
             after(core::event{core::severity::info, "b"}));
}

BOOST_AUTO_TEST_CASE(the_digest_covers_codes_numbers_names_and_kinds) {
  core::answer const different[] = {
      {},
      {{errc::aborted, ""}, {}},
      {{}, core::probe{}},
      {{}, core::join_answer{false}},
      {{}, core::join_answer{true}},
      {{}, core::stored_answer{1}},
      {{}, core::count_answer{1}},
      failed(errc::aborted, "", "", 5),
      failed(errc::aborted, "", "", 6),
      value_of("value", 1),
      value_of("value", 2),
      value_of("longer", 1),
      picture(0, "", 7),
      picture(0, "", 8),
      {{}, core::listing_answer{{{"a", bytes{}, 1}, {"b", bytes{}, 2}}, 2, false}},
      {{}, core::listing_answer{{{"b", bytes{}, 2}, {"a", bytes{}, 1}}, 2, false}},
      {{}, core::listing_answer{{{"a", bytes{}, 1}}, 2, false}},
      {{}, core::listing_answer{{{"a key of many bytes", bytes{}, 1}}, 2, false}},
      {{}, core::listing_answer{{{"a key of many bites", bytes{}, 1}}, 2, false}},
  };
  std::set<running_digest::value> digests;
  for (auto const& one : different) digests.insert(of(one));
  BOOST_TEST(digests.size() == std::size(different));
}

BOOST_AUTO_TEST_CASE(the_digest_covers_the_subject_of_an_event) {
  using core::severity, core::event_kind;
  core::event const different[] = {
      {severity::info, "", event_kind::failed},
      {severity::error, "", event_kind::failed},
      {severity::error, "", event_kind::left},
      {severity::error, "", event_kind::failed, task_id{0}},
      {severity::error, "", event_kind::failed, task_id{1}},
      {severity::error, "", event_kind::failed, task_id{1}, "b"},
  };
  std::set<running_digest::value> digests;
  for (auto const& one : different) digests.insert(after(one));
  BOOST_TEST(digests.size() == std::size(different));
}

BOOST_AUTO_TEST_CASE(the_digest_covers_message_order_and_receivers) {
  auto const a = core::make_ok_answer(core::stored_answer{1});
  auto const b = core::make_ok_answer(core::stored_answer{2});
  using message = core::outgoing;
  connection_id const c1{1};
  connection_id const c2{2};
  request_id const r{1};

  auto const first = after(message{c1, r, a}, message{c2, r, b});
  BOOST_TEST(after(message{c1, r, a}, message{c2, r, b}) == first);
  BOOST_TEST(after(message{c2, r, b}, message{c1, r, a}) != first);
  BOOST_TEST(after(message{c1, r, b}, message{c2, r, a}) != first);
  BOOST_TEST(after(message{c1, r, a}, message{c2, request_id{2}, b}) != first);
  BOOST_TEST(after(message{c2, r, b}) != first);
}

BOOST_AUTO_TEST_CASE(the_digest_covers_what_was_before) {
  auto const second_after = [](core::severity first) {
    running_digest d;
    d.add(core::event{first, ""});
    static_cast<void>(d.take());
    BOOST_TEST(d.empty());
    d.add(core::event{core::severity::info, ""});
    return d.take();
  };
  BOOST_TEST(second_after(core::severity::info) == second_after(core::severity::info));
  BOOST_TEST(second_after(core::severity::info) != second_after(core::severity::error));
}

// Recordings outlive versions: these numbers change only with the format.
BOOST_AUTO_TEST_CASE(the_digest_is_portable_and_stable) {
  BOOST_TEST(first_two(of(value_of("value", 1))) == 24281u);
  BOOST_TEST(first_two(of(failed(errc::aborted, "", "", 5))) == 22854u);
  BOOST_TEST(first_two(of(picture(0, "", 7))) == 4677u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
