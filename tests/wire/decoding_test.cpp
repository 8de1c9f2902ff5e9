// Requests that no encoder of ours writes. tests/fuzz compares the decoder with Protobuf's, with
// many more of them.

#include "coxswain/wire/codec.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::wire {
namespace {

using test::payload_of;
using namespace std::string_literals;

core::client_message understood(std::string const& payload) {
  return decode_client(payload).value();
}

bool is_plain(std::string const& payload) {
  decoded_payload from;
  BOOST_TEST(decode_client(payload, &from).has_value());
  return from.is_plain;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decoding_test)

BOOST_AUTO_TEST_CASE(a_message_that_is_used_again_has_nothing_of_the_last_one) {
  auto const samples = test::sample_requests();
  core::client_message got;
  for (auto const& first : samples) {
    for (auto const& second : samples) {
      decoded_payload from;
      BOOST_TEST(decode_client(payload_of(first), got, from).ok());
      BOOST_TEST(decode_client(payload_of(second), got, from).ok());
      BOOST_TEST((got == second));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repeated_number_field_takes_the_last_value) {
  auto const got = understood(
      "\x08\x01\x08\x05\x18\x01\x18\x02"  // id, task
      "\x6a\x07\x0a\x01k\x10\x02"         // a get: key, timeout_ms
      "\x10\x04"s);

  BOOST_TEST(got.id == request_id{5});
  BOOST_TEST((got.task == task_id{2}));
  BOOST_TEST((std::get<core::get_args>(got.what) == core::get_args{"k", 2ms}));
}

BOOST_AUTO_TEST_CASE(numbers_of_every_length_are_read_in_full) {
  for (int bits = 0; bits <= 64; ++bits) {
    auto const least = bits == 0 ? 0 : std::uint64_t{1} << (bits - 1);
    for (auto const id : {least, least + 1, 2 * least - 1}) {
      if (id == 0) continue;
      core::client_message const get{.id = request_id{id}, .what = core::try_get_args{"k"}};
      core::client_message const remove{request_id{1}, 0, {}, core::remove_args{}, id};
      BOOST_TEST((understood(payload_of(get)) == get));
      BOOST_TEST((understood(payload_of(remove)) == remove));
    }
  }
}

BOOST_AUTO_TEST_CASE(it_is_known_where_a_value_is) {
  auto const value_of = [](core::request what, std::string const& behind = "") {
    auto const payload = payload_of({.id = request_id{5}, .what = std::move(what)}) + behind;
    decoded_payload from;
    BOOST_TEST(decode_client(payload, &from).has_value());
    BOOST_TEST(from.whole.data() == payload.data());
    bool const is_inside = from.value.empty() || (from.value.data() > payload.data() &&
                                                  from.value.data() + from.value.size() <=
                                                      payload.data() + payload.size());
    BOOST_TEST(is_inside);
    return std::string{from.value};
  };
  core::barrier_args gather{"b"};
  gather.data = "data";

  BOOST_TEST(value_of(core::put_args{"k", "k"}) == "k");
  BOOST_TEST(value_of(core::put_args{"k", ""}) == "");
  BOOST_TEST(value_of(core::append_args{"k", "more"}) == "more");
  BOOST_TEST(value_of(core::push_args{"q", "item"}) == "item");
  BOOST_TEST(value_of(gather) == "data");
  BOOST_TEST(value_of(core::get_args{"k"}) == "");
  BOOST_TEST(value_of(core::compare_and_set_args{"k", "v", "expected"s, {}}) == "");
  BOOST_TEST(value_of(core::put_all_args{{{"k", "v"}}, true}) == "");
  BOOST_TEST(value_of(core::put_args{"k", "v"}, "\xf8\x7f\x01"s) == "");  // an unknown field
}

// What it hides could be a value that must not appear in a recording.
BOOST_AUTO_TEST_CASE(a_request_that_hides_something_is_not_plain) {
  BOOST_TEST(is_plain("\x08\x05\x6a\x03\x0a\x01k"s));
  for (auto const& payload : {
           "\x08\x05\x6a\x06\x0a\x01k\x0a\x01l"s,          // a key twice
           "\x08\x05\x6a\x03\x0a\x01k\x6a\x03\x0a\x01l"s,  // merged
           "\x08\x05\x6a\x03\x0a\x01k\x72\x03\x0a\x01l"s,  // another request
           "\x08\x05\x6a\x07\x0a\x01k\xfa\x07\x01v"s,      // an unknown field
           "\x08\x05\x6a\x03\x0a\x01k\xfa\x07\x01v"s,      // beside the request
           "\x08\x05\xe2\x01\x07\x22\x03yes\x18\x01"s,     // two expectations
           "\x08\x05\xe2\x01\x07\x22\x03yes\x28\x01"s,
           "\x08\x05\xe2\x01\x08\x22\x03yes\x22\x01n"s,
       }) {
    BOOST_TEST(!is_plain(payload));
  }
}

BOOST_AUTO_TEST_CASE(several_participant_lists_are_concatenated) {
  auto const got = understood("\x08\x05\x5a\x08\x1a\x02\x07\x01\x1a\x02\xac\x02"s);

  std::vector<task_id> const all{task_id{7}, task_id{1}, task_id{300}};
  BOOST_TEST((std::get<core::barrier_args>(got.what).participants == all));
}

BOOST_AUTO_TEST_CASE(an_overlong_varint_is_accepted) {
  BOOST_TEST(understood("\x08\x85\x80\x00\x7a\x00"s).id == request_id{5});
}

BOOST_AUTO_TEST_CASE(malformed_fields_are_refused) {
  for (auto const& payload : {
           "\x08"s,                                              // a missing number
           "\x08\x85"s,                                          // an unterminated number
           "\xba"s,                                              // a tag
           "\x5a\x02\x0a"s,                                      // a request
           "\x72\x02\x0a\x01"s,                                  // a text
           "\x5a\x03\x1a\x01\x85"s,                              // a number in a list
           "\x42\x08\x09\x01\x01\x01\x01\x01\x01\x01"s,          // eight bytes
           "\x00\x05"s,                                          // an empty tag
           "\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s,  // a number of eleven bytes
           "\x8b\x02\x8c\x02"s,                                  // a group
       }) {
    BOOST_TEST(decode_client(payload).has_error());
  }
}

BOOST_AUTO_TEST_CASE(unusual_encodings_are_accepted) {
  auto const barrier = [](std::string const& payload) {
    return std::get<core::barrier_args>(understood("\x08\x05" + payload).what);
  };
  BOOST_TEST(understood("\x88\x80\x00\x05\x72\x00"s).id == request_id{5});   // a tag of three bytes
  BOOST_TEST((understood("\x18\x81\x80\x80\x80\x10"s).task == task_id{1}));  // more than 32 bits
  BOOST_TEST(barrier("\x5a\x02\x20\x02"s).gather);                           // a flag above one
  BOOST_TEST((barrier("\x5a\x02\x38\x0a"s).reduce == core::reduction::unknown));
  BOOST_TEST((barrier("\x5a\x02\x18\x01"s).participants == std::vector{task_id{1}}));  // no list
  BOOST_TEST(understood("\x08\x05\x72\x80\x80\x80\x80\x00"s).id == request_id{5});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
