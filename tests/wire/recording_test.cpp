// The bytes of a recording. Recording and replaying are tested in tests/server.

#include "coxswain/wire/recording.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/v1/recording.pb.h"
#include "coxswain/wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coxswain::wire {
namespace {

using namespace std::string_literals;

std::string head_alone() {
  std::string bytes;
  append(bytes, recording_head{incarnation{7}, {1'700'000'000'000, 3600}, {{"job", "train"}}, 3});
  return bytes;
}

std::string item(std::string const& payload) {
  std::string bytes;
  append_length(bytes, payload.size());
  return bytes + payload;
}

std::string item(v1::Record const& what) { return item(what.SerializeAsString()); }

std::string written(record const& what) {
  std::string bytes{"before"};
  append(bytes, what);
  BOOST_TEST(bytes.size() <= 6 + bytes_max(what));
  return bytes.substr(6);
}

std::string by_protobuf(record const& what) {
  v1::Record made;
  made.set_at_ns(static_cast<std::uint64_t>(what.at.count()));
  made.set_kind(static_cast<v1::Record::Kind>(what.kind));
  made.set_connection(what.connection.value);
  made.set_content(std::string{what.content});
  if (what.secret) made.set_secret(std::string{what.secret->begin(), what.secret->end()});
  made.set_number(what.number);
  made.set_code(static_cast<std::uint32_t>(what.code));
  if (what.held) made.set_held(*what.held);
  return item(made);
}

v1::Record of_kind(int kind) {
  v1::Record made;
  made.set_kind(static_cast<v1::Record::Kind>(kind));
  made.set_number(5);
  return made;
}

// The reader's error for these bytes.
template <class Reading>
std::string violation(Reading reading) {
  try {
    reading();
  } catch (error const& e) {
    BOOST_TEST((e.code() == errc::invalid_argument));
    return e.what();
  }
  return "none";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recording_test)

BOOST_AUTO_TEST_CASE(a_header_and_records_round_trip) {
  std::string bytes = head_alone();
  record connected{2s, record_kind::connected, connection_id{9}, "10.0.0.1:5", {}, 0, {}};
  connected.secret.emplace();
  connected.secret->fill(0x5a);
  append(bytes, connected);
  append(bytes, record{3s, record_kind::task_ended, {}, "killed", {}, 4, errc::unavailable});

  recording_reader reader{bytes};
  auto const first = reader.next();

  BOOST_TEST((reader.head() ==
              recording_head{incarnation{7}, {1'700'000'000'000, 3600}, {{"job", "train"}}, 3}));
  BOOST_TEST_REQUIRE(first.has_value());
  BOOST_TEST((first->at == 2s));
  BOOST_TEST((first->kind == record_kind::connected));
  BOOST_TEST((first->connection == connection_id{9}));
  BOOST_TEST(first->content == "10.0.0.1:5");
  BOOST_TEST((first->secret == connected.secret));
  auto const second = reader.next();
  BOOST_TEST_REQUIRE(second.has_value());
  BOOST_TEST((second->kind == record_kind::task_ended));
  BOOST_TEST(second->content == "killed");
  BOOST_TEST(!second->secret.has_value());
  BOOST_TEST(second->number == 4u);
  BOOST_TEST((second->code == errc::unavailable));
  BOOST_TEST(!reader.next().has_value());
}

BOOST_AUTO_TEST_CASE(a_record_is_encoded_as_by_protobuf) {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  core::session_secret secret{};
  secret.fill(0xf8);
  for (duration const at : {0ns, 127ns, 128ns, duration::max(), duration::min()}) {
    for (std::uint64_t const number : {std::uint64_t{0}, std::uint64_t{300}, largest}) {
      for (std::string const& content : {""s, "x"s, std::string(127, 'x'), std::string(5000, 0)}) {
        BOOST_TEST((written({at, {}, {}, content, {}, number, {}}) ==
                    by_protobuf({at, {}, {}, content, {}, number, {}})));
        record const full{at,
                          record_kind::advanced,
                          connection_id{number},
                          content,
                          secret,
                          number,
                          errc::unauthenticated,
                          static_cast<std::int64_t>(number)};
        BOOST_TEST((written(full) == by_protobuf(full)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(records_of_unknown_kinds_are_skipped) {
  auto const known = static_cast<int>(record_kind::owner_request);
  std::string const bytes =
      head_alone() + item(of_kind(known + 1)) + item(of_kind(-1)) + item(of_kind(known));

  recording_reader reader{bytes};
  auto const only = reader.next();

  BOOST_TEST_REQUIRE(only.has_value());
  BOOST_TEST((only->kind == record_kind::owner_request));
  BOOST_TEST(!reader.next().has_value());
}

BOOST_AUTO_TEST_CASE(malformed_records_are_refused) {
  std::string const bytes = head_alone() + item("\xff\xff");

  BOOST_TEST(violation([&] { recording_reader{bytes}.next(); }) ==
             "INVALID_ARGUMENT: Not a readable recording: a record is damaged.");
}

BOOST_AUTO_TEST_CASE(a_record_with_an_impossible_time_is_refused) {
  for (duration const at : {duration::max(), duration::min(), -1ns}) {
    std::string bytes = head_alone();
    append(bytes, record{at, record_kind::advanced, {}, {}, {}, 0, {}});
    BOOST_TEST(violation([&] { recording_reader{bytes}.next(); }) ==
               "INVALID_ARGUMENT: Not a readable recording: a record is from no "
               "possible time.");
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_version_is_refused_and_named) {
  v1::RecordingHead newer;
  newer.set_version(5);
  std::string const bytes = item(newer.SerializeAsString());

  BOOST_TEST(violation([&] { recording_reader{bytes}; }) ==
             "INVALID_ARGUMENT: Not a readable recording: its version is 5, and this "
             "program knows version 4.");
}

BOOST_AUTO_TEST_CASE(input_without_a_header_is_refused) {
  for (std::string const& bytes : {std::string{}, item("\xff\xff")}) {
    BOOST_TEST(violation([&] { recording_reader{bytes}; }) ==
               "INVALID_ARGUMENT: Not a readable recording: it has no header.");
  }
}

BOOST_AUTO_TEST_CASE(a_truncated_recording_ends_with_its_last_whole_record) {
  std::string const one = head_alone() + item(of_kind(3));
  std::string const two = one + item(of_kind(3));

  for (std::size_t size = one.size(); size < two.size(); ++size) {
    std::string const cut = two.substr(0, size);
    recording_reader reader{cut};
    BOOST_TEST(reader.next().has_value());
    BOOST_TEST(!reader.next().has_value());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
