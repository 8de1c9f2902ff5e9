// Messages decoded without Protobuf, and those left to it. tests/fuzz compares both decoders with
// many more messages.

#include "coxswain/wire/codec_quick.hpp"

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/frame.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::wire {
namespace {

using test::payload_of;
using namespace std::string_literals;

bool is_quick(std::string const& payload) {
  core::client_message got;
  std::string_view value;
  return decode_quickly(payload, got, value);
}

// Decoded by the quick decoder and by Protobuf.
core::client_message understood(std::string const& payload) {
  core::client_message got;
  std::string_view value;
  BOOST_TEST(decode_quickly(payload, got, value));
  BOOST_TEST((decode_with_protobuf(payload).value() == got));
  return got;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec_quick_test)

BOOST_AUTO_TEST_CASE(frequent_requests_are_decoded_without_protobuf) {
  std::set<std::size_t> kinds;
  for (auto const& sent : test::sample_requests()) {
    if (!is_quick(payload_of(sent))) continue;
    kinds.insert(sent.what.index());
    BOOST_TEST((understood(payload_of(sent)) == sent));
  }

  BOOST_TEST(kinds.size() == 19u);
}

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

BOOST_AUTO_TEST_CASE(simple_requests_are_encoded_as_protobuf_does) {
  auto const of_all = core::barrier_args{.name = "b", .timeout = 5s};
  for (core::request const& what : std::initializer_list<core::request>{
           core::get_args{}, core::get_args{"key", 0ms}, core::get_args{"key", without_limit},
           core::try_get_args{}, core::try_get_args{std::string(200, 'k')}, core::barrier_args{},
           of_all}) {
    for (auto const& head :
         {core::client_message{}, core::client_message{request_id{300}, 7, task_id{0}}}) {
      core::client_message sent = head;
      sent.what = what;
      std::string frame;
      BOOST_TEST(append_frame_quickly(frame, sent));
      auto const payload = payload_of(sent);
      BOOST_TEST(std::string_view{frame}.substr(length_bytes) == payload);
      v1::ClientMessage read;
      BOOST_TEST(read.ParseFromString(payload));
      BOOST_TEST(read.SerializeAsString() == payload);
      if (sent.id != request_id{}) BOOST_TEST((decode_with_protobuf(payload).value() == sent));
    }
  }
}

BOOST_AUTO_TEST_CASE(barriers_with_more_are_left_to_protobuf) {
  for (auto const& what :
       {core::barrier_args{.participants = {task_id{1}}}, core::barrier_args{.gather = true},
        core::barrier_args{.data = "x"}, core::barrier_args{.progress_every = 1ms},
        core::barrier_args{.reduce = core::reduction::sum_int64},
        core::barrier_args{.fail_when_lost = true}, core::barrier_args{.of_jax_tasks = true}}) {
    std::string frame;
    BOOST_TEST(!append_frame_quickly(frame, {request_id{1}, 0, {}, what}));
    BOOST_TEST(frame == "");
  }
}

BOOST_AUTO_TEST_CASE(a_text_that_must_be_utf8_and_is_not_ascii_is_left_to_protobuf) {
  BOOST_TEST(
      is_quick("\x22\x07\x08\x02\x2a\x03"
               "b12"s));
  BOOST_TEST(
      !is_quick("\x22\x07\x08\x02\x2a\x03"
                "b\xc3\xa9"s));
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

BOOST_AUTO_TEST_CASE(numbers_of_every_length_are_read_as_protobuf_reads_them) {
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
  BOOST_TEST(value_of(core::put_args{"k", "v"}, "\xf8\x7f\x01"s) == "");  // an unknown field
}

// The first one could be a value that must not appear in a recording.
BOOST_AUTO_TEST_CASE(a_repeated_string_field_is_left_to_protobuf) {
  std::string const twice = "\x08\x05\x6a\x06\x0a\x01k\x0a\x01l"s;
  std::string const once = "\x08\x05\x6a\x03\x0a\x01k"s;
  decoded_payload from;

  BOOST_TEST((std::get<core::get_args>(decode_client(twice, &from)->what).key == "l"));
  BOOST_TEST(!from.is_plain);
  BOOST_TEST((std::get<core::get_args>(decode_client(once, &from)->what).key == "k"));
  BOOST_TEST(from.is_plain);
}

BOOST_AUTO_TEST_CASE(several_participant_lists_are_concatenated) {
  auto const got = understood("\x08\x05\x5a\x08\x1a\x02\x07\x01\x1a\x02\xac\x02"s);

  std::vector<task_id> const all{task_id{7}, task_id{1}, task_id{300}};
  BOOST_TEST((std::get<core::barrier_args>(got.what).participants == all));
}

BOOST_AUTO_TEST_CASE(an_overlong_varint_is_accepted) {
  BOOST_TEST(understood("\x08\x85\x80\x00\x7a\x00"s).id == request_id{5});
}

BOOST_AUTO_TEST_CASE(truncated_input_is_left_to_protobuf) {
  for (auto const& payload : {
           "\x08"s,                                      // a missing number
           "\x08\x85"s,                                  // an unterminated number
           "\xba"s,                                      // a tag
           "\x5a\x02\x0a"s,                              // a request
           "\x72\x02\x0a\x01"s,                          // a text
           "\x5a\x03\x1a\x01\x85"s,                      // a number in a list
           "\x42\x08\x09\x01\x01\x01\x01\x01\x01\x01"s,  // eight bytes
       }) {
    BOOST_TEST(!is_quick(payload));
  }
}

BOOST_AUTO_TEST_CASE(unusual_input_is_left_to_protobuf) {
  for (auto const& payload : {
           "\x08\x05"s,                                          // a request without a kind
           "\x08\x05\xa2\x01\x00"s,                              // of a rare kind
           "\x08\x05\xaa\x01\x00"s,                              // of an unknown kind
           "\x08\x05\x72\x00\x72\x03\x0a\x01k"s,                 // two requests
           "\x08\x05\x72\x02\x10\x01"s,                          // an unknown field
           "\x88\x80\x00\x05"s,                                  // a tag of three bytes
           "\x00\x05"s,                                          // an empty tag
           "\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s,  // a number of eleven bytes
           "\x18\x80\x80\x80\x80\x10"s,                          // more than 32 bits
           "\x5a\x02\x20\x02"s,                                  // a flag above one
           "\x5a\x02\x38\x0a"s,                                  // an unknown reduction
           "\x72\x81\x80\x80\x80\x00\x00"s,                      // a length of five bytes
           "\x5a\x02\x18\x01"s,                                  // a participant without a list
       }) {
    BOOST_TEST(!is_quick(payload));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
