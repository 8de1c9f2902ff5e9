#include "coxswain/wire/codec.hpp"

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/frame.hpp"
#include "tests/wire/live_bytes.hpp"
#include "tests/wire/quiet_protobuf.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

using test::payload_of;
using namespace std::string_literals;

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

template <class Args>
core::client_message request_of(Args args) {
  return {.id = request_id{5}, .what = std::move(args)};
}

template <class Value>
server_message answer_of(Value value) {
  server_message message;
  message.id = request_id{5};
  message.what.value = std::move(value);
  return message;
}

template <class Args>
Args received(Args const& sent) {
  return std::get<Args>(decode_client(payload_of(request_of(sent))).value().what);
}

template <class Value>
Value received_answer(Value const& sent) {
  return std::get<Value>(decode_server(payload_of(answer_of(sent))).value().what.value);
}

core::hello_answer received_answer(core::hello_answer const& sent) {
  return *received_answer(boxed<core::hello_answer>{sent});
}

core::snapshot received_answer(core::snapshot const& sent) {
  return *received_answer(boxed<core::snapshot>{sent});
}

// The `timeout_ms` of a get with this timeout.
std::int64_t stated_timeout(duration timeout) {
  v1::ClientMessage message;
  BOOST_TEST(message.ParseFromString(payload_of(request_of(core::get_args{"key", timeout}))));
  BOOST_TEST(message.get().has_timeout_ms());
  return message.get().timeout_ms();
}

duration understood_timeout(std::int64_t milliseconds) {
  v1::ClientMessage message;
  message.set_id(5);
  message.mutable_get()->set_timeout_ms(milliseconds);
  auto const decoded = decode_client(message.SerializeAsString()).value();
  return std::get<core::get_args>(decoded.what).timeout;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec_test)

BOOST_AUTO_TEST_CASE(every_request_arrives_as_it_was_sent) {
  std::set<std::size_t> kinds;
  for (auto const& sent : test::sample_requests()) {
    kinds.insert(sent.what.index());
    BOOST_TEST_CONTEXT("request " << sent.what.index()) {
      auto const got = decode_client(payload_of(sent));
      BOOST_TEST((got.value() == sent));
    }
  }
  BOOST_TEST(kinds.size() == std::variant_size_v<core::request>);
}

BOOST_AUTO_TEST_CASE(every_answer_arrives_as_it_was_sent) {
  std::set<std::size_t> kinds;
  for (auto const& sent : test::sample_answers()) {
    kinds.insert(sent.what.value.index());
    BOOST_TEST_CONTEXT("answer " << sent.what.value.index()) {
      auto const got = decode_server(payload_of(sent));
      BOOST_TEST((got.value() == sent));
    }
  }
  BOOST_TEST(kinds.size() == std::variant_size_v<decltype(core::answer::value)>);
}

BOOST_AUTO_TEST_CASE(every_message_is_encoded_as_by_protobuf) {
  for (auto const& sent : test::sample_requests()) {
    v1::ClientMessage read;
    BOOST_TEST(read.ParseFromString(payload_of(sent)));
    BOOST_TEST((read.SerializeAsString() == payload_of(sent)), "request " << sent.what.index());
  }
  for (auto const& sent : test::sample_answers()) {
    v1::ServerMessage read;
    BOOST_TEST(read.ParseFromString(payload_of(sent)));
    bool const is_value_last = encode(sent.what).tail.size() != 0;
    bool const is_same = read.SerializeAsString() == payload_of(sent);
    BOOST_TEST((is_same || is_value_last), "answer " << sent.what.value.index());
  }
}

BOOST_AUTO_TEST_CASE(task_zero_is_not_the_same_as_no_task) {
  auto message = request_of(core::inspect_args{});
  BOOST_TEST(!decode_client(payload_of(message)).value().task.has_value());

  message.task = task_id{0};
  BOOST_TEST((decode_client(payload_of(message)).value().task == task_id{0}));
}

// The wire format. These bytes must never change, for compatibility with other versions.

BOOST_AUTO_TEST_CASE(golden_a_barrier_request) {
  core::barrier_args barrier{.name = "b",
                             .timeout = 30s,
                             .participants = {task_id{0}, task_id{1}},
                             .gather = true,
                             .data = "x",
                             .progress_every = 1s};
  auto message = request_of(barrier);
  message.answered_through = 3;
  message.task = task_id{2};

  std::string frame;
  append_frame(frame, message);

  BOOST_TEST(frame ==
             "\x00\x00\x00\x1b"                  // length
             "\x08\x05\x10\x03\x18\x02"          // id, answered_through, task
             "\x5a\x13"                          // barrier
             "\x0a\x01"                          // name
             "b\x10\xe0\xd4\x03"                 // timeout_ms
             "\x1a\x02\x00\x01\x20\x01\x2a\x01"  // participants, gather, data
             "x\x30\xe8\x07"s);                  // progress_every_ms
}

BOOST_AUTO_TEST_CASE(golden_a_heartbeat) {
  core::client_message heartbeat{.answered_through = 7};

  std::string frame;
  append_frame(frame, heartbeat);

  BOOST_TEST(frame == "\x00\x00\x00\x02\x10\x07"s);
}

BOOST_AUTO_TEST_CASE(golden_ok) {
  std::string frame;
  append_server_head(frame, request_id{300}, encode(core::answer{}).size());

  BOOST_TEST(encode(core::answer{}).size() == 0u);
  BOOST_TEST(frame == "\x00\x00\x00\x03\x08\xac\x02"s);
}

BOOST_AUTO_TEST_CASE(golden_a_barrier_reply) {
  auto const payload = payload_of(answer_of(core::barrier_answer{round_number{1}, {}}));

  BOOST_TEST(payload == "\x08\x05\x32\x02\x08\x01"s);
}

BOOST_AUTO_TEST_CASE(golden_an_error) {
  server_message message;
  message.what.outcome = status{errc::not_found, "no"};

  BOOST_TEST(payload_of(message) == "\x12\x06\x08\x05\x12\x02no"s);
}

BOOST_AUTO_TEST_CASE(golden_a_large_value) {
  core::answer answer;
  answer.value = core::value_answer{bytes{std::string(1024, 'v')}, 9};

  auto const encoded = encode(answer);

  BOOST_TEST(encoded.head == "\x42\x85\x08\x08\x09\x12\x80\x08"s);
  BOOST_TEST(encoded.tail.view() == std::string(1024, 'v'));
}

// Head and tail.

BOOST_AUTO_TEST_CASE(a_frame_head_announces_id_and_body) {
  std::string frame{"before"};

  append_server_head(frame, request_id{largest}, 100);

  BOOST_TEST(frame == "before\x00\x00\x00\x6f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

BOOST_AUTO_TEST_CASE(a_push_has_no_id_on_the_wire) {
  std::string frame;

  append_server_head(frame, request_id{}, 100);

  BOOST_TEST(frame == "\x00\x00\x00\x64"s);
  auto const probe = decode_server(payload_of(server_message{{}, {{}, core::probe{}}}));
  BOOST_TEST(probe.value().id == request_id{});
}

BOOST_AUTO_TEST_CASE(one_encoding_can_answer_many_requests) {
  core::answer const answer{{}, core::counter_answer{-5, 6}};
  auto const body = encode(answer).head;

  BOOST_TEST((decode_server("\x08\x01" + body).value() == server_message{request_id{1}, answer}));
  BOOST_TEST((decode_server("\x08\x02" + body).value() == server_message{request_id{2}, answer}));
}

BOOST_AUTO_TEST_CASE(values_of_1_kib_or_more_are_shared_and_not_copied) {
  for (std::size_t const size : {0u, 1023u, 1024u, 1025u, 100'000u}) {
    core::value_answer const value{bytes{std::string(size, 'v')}, 9};
    core::answer const answer{status{errc::unknown, "odd"}, value};

    auto const encoded = encode(answer);

    BOOST_TEST(encoded.tail.size() == (size < 1024 ? 0 : size));
    if (size >= 1024) BOOST_TEST((encoded.tail.view().data() == value.value.view().data()));
    server_message const sent{request_id{5}, answer};
    BOOST_TEST((decode_server(payload_of(sent)).value() == sent));
  }
}

BOOST_AUTO_TEST_CASE(puts_of_every_size_round_trip) {
  for (std::size_t const size : {0u, 1u, 1023u, 1024u, 1025u, 100'000u}) {
    core::put_args const put{"key", std::string(size, 'v'), true};
    BOOST_TEST((received(put) == put));
  }
}

// Times.

BOOST_AUTO_TEST_CASE(a_timeout_is_rounded_up_and_never_negative) {
  BOOST_TEST(stated_timeout(0ns) == 0);
  BOOST_TEST(stated_timeout(1ns) == 1);
  BOOST_TEST(stated_timeout(1ms) == 1);
  BOOST_TEST(stated_timeout(1ms + 1ns) == 2);
  BOOST_TEST(stated_timeout(-1ns) == 0);
  BOOST_TEST(stated_timeout(-1h) == 0);
  BOOST_TEST(stated_timeout(duration::min()) == 0);
  BOOST_TEST(stated_timeout(core::timeout_default) == 300'000);
}

BOOST_AUTO_TEST_CASE(a_missing_timeout_is_the_default_and_a_negative_one_unlimited) {
  v1::ClientMessage message;
  message.set_id(5);
  message.mutable_get();
  auto const absent = decode_client(message.SerializeAsString()).value();

  BOOST_TEST((std::get<core::get_args>(absent.what).timeout == 300s));
  BOOST_TEST((understood_timeout(0) == 0s));
  BOOST_TEST((understood_timeout(-1) == without_limit));
  BOOST_TEST((understood_timeout(std::numeric_limits<std::int64_t>::min()) == without_limit));
  BOOST_TEST(stated_timeout(without_limit) == -1);
}

BOOST_AUTO_TEST_CASE(a_task_or_event_watch_without_a_timeout_is_unlimited) {
  v1::ClientMessage message;
  message.set_id(5);
  message.mutable_watch_tasks();
  auto const tasks = decode_client(message.SerializeAsString()).value();
  message.mutable_watch_events();
  auto const events = decode_client(message.SerializeAsString()).value();

  BOOST_TEST((std::get<core::watch_tasks_args>(tasks.what) == core::watch_tasks_args{}));
  BOOST_TEST((std::get<core::watch_events_args>(events.what) == core::watch_events_args{}));
}

BOOST_AUTO_TEST_CASE(an_unknown_severity_or_kind_becomes_the_lowest) {
  v1::ServerMessage message;
  auto& sent = *message.mutable_events()->add_events();
  sent.set_severity(static_cast<v1::Severity>(9));
  sent.set_kind(static_cast<v1::Events::Kind>(99));

  auto const got = decode_server(message.SerializeAsString()).value();

  auto const& event = std::get<core::events_answer>(got.what.value).entries.at(0).what;
  BOOST_TEST((event.level == core::severity::info));
  BOOST_TEST((event.kind == core::event_kind::other));
}

BOOST_AUTO_TEST_CASE(an_unknown_kind_of_wait_becomes_a_barrier) {
  v1::ServerMessage message;
  message.mutable_why()->add_waits()->set_kind(static_cast<v1::WhyReply::Kind>(99));

  auto const got = decode_server(message.SerializeAsString()).value();

  auto const& wait = std::get<core::why_answer>(got.what.value).waits.at(0);
  BOOST_TEST((wait.what == core::why_answer::kind::barrier));
}

BOOST_AUTO_TEST_CASE(a_timeout_too_large_for_a_duration_is_unlimited) {
  constexpr std::int64_t longest = 9'223'372'036'854;  // milliseconds in a duration

  BOOST_TEST((understood_timeout(longest) == std::chrono::milliseconds{longest}));
  BOOST_TEST((understood_timeout(longest + 1) == without_limit));
  BOOST_TEST((understood_timeout(std::numeric_limits<std::int64_t>::max()) == without_limit));
  BOOST_TEST(stated_timeout(without_limit - 1ns) == longest + 1);
}

BOOST_AUTO_TEST_CASE(every_timeout_can_be_unlimited) {
  BOOST_TEST((received(core::join_args{{}, without_limit}).timeout == without_limit));
  BOOST_TEST((received(core::leave_args{without_limit}).timeout == without_limit));
  BOOST_TEST((received(core::count_barrier_args{"b", 1, without_limit}).timeout == without_limit));
  BOOST_TEST((received(core::barrier_args{.timeout = without_limit}).timeout == without_limit));
}

BOOST_AUTO_TEST_CASE(a_reduction_of_a_newer_client_decodes_as_unknown) {
  core::barrier_args barrier{.reduce = static_cast<core::reduction>(77)};

  BOOST_TEST((received(barrier).reduce == core::reduction::unknown));
}

BOOST_AUTO_TEST_CASE(a_join_without_recoverable_leaves_it_unset) {
  BOOST_TEST((received(core::join_args{}).recoverable == std::nullopt));
  BOOST_TEST((received(core::join_args{.recoverable = false}).recoverable == false));
}

BOOST_AUTO_TEST_CASE(a_short_progress_period_is_not_rounded_to_none) {
  auto const period = [](duration sent) {
    return received(core::barrier_args{.progress_every = sent}).progress_every;
  };

  BOOST_TEST((period(1ns) == 1ms));
  BOOST_TEST((period(0ns) == 0ms));
  BOOST_TEST((period(-1s) == 0ms));
  BOOST_TEST((period(without_limit) == std::chrono::milliseconds{0xffff'ffff}));
}

BOOST_AUTO_TEST_CASE(ages_are_rounded_down) {
  core::snapshot sent{.uptime = 2ms - 1ns, .lateness_p99 = 3us - 1ns, .lateness_max = -1us};
  sent.barriers.resize(1);
  sent.barriers[0].age = without_limit;
  sent.barriers[0].remaining = -1ms;

  auto const got = received_answer(sent);

  BOOST_TEST((got.uptime == 1ms));
  BOOST_TEST((got.lateness_p99 == 2us));
  BOOST_TEST((got.lateness_max == 0us));
  BOOST_TEST((got.barriers[0].age == without_limit));
  BOOST_TEST((got.barriers[0].remaining == 0ms));
}

BOOST_AUTO_TEST_CASE(a_short_heartbeat_period_is_not_rounded_to_zero) {
  core::hello_answer sent{
      .heartbeat_period = 1us, .heartbeat_timeout = without_limit, .reconnect_grace = 0ms};

  auto const got = received_answer(sent);

  BOOST_TEST((got.heartbeat_period == 1ms));
  BOOST_TEST((got.heartbeat_timeout == without_limit));
  BOOST_TEST((got.reconnect_grace == 0ms));
}

// Text.

BOOST_AUTO_TEST_CASE(each_invalid_utf8_byte_becomes_a_question_mark) {
  auto const sent_as = [](std::string text) {
    return received_answer(core::goodbye{status{errc::internal, std::move(text)}, false})
        .why.message();
  };

  BOOST_TEST(sent_as("key 'Zürich €😀'\0"s) == "key 'Zürich €😀'\0"s);
  BOOST_TEST(sent_as("\xff"
                     "a\x80") == "?a?");
  BOOST_TEST(sent_as("cut \xf0\x9f\x98") == "cut ???");
  BOOST_TEST(sent_as("\xc3") == "?");
  BOOST_TEST(sent_as("\xc0\xaf overlong") == "?? overlong");
  BOOST_TEST(sent_as("\xed\xa0\x80 surrogate") == "??? surrogate");
  BOOST_TEST(sent_as("\xf4\x90\x80\x80 too high") == "???? too high");
  BOOST_TEST(sent_as("\xe2\x82\xe2\x82\xac") == "??\xe2\x82\xac");
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced_in_every_message) {
  std::string const bad{"b\xff"};
  status const outcome{errc::internal, bad};
  job_error failed;
  failed.cause.why = outcome;
  failed.later.resize(1);
  failed.later[0].why = outcome;
  missing_task missing;
  missing.label = missing.waits_for = bad;
  core::snapshot snapshot;
  snapshot.job = snapshot.version = bad;
  snapshot.error = failed;
  snapshot.tasks.resize(1);
  snapshot.tasks[0].label = snapshot.tasks[0].peer = bad;
  snapshot.tasks[0].error = outcome;
  snapshot.barriers.resize(1);
  snapshot.barriers[0].missing = bad;
  core::hello_answer hello{.version = bad};
  barrier_failure failure{.missing = bad, .known = {missing}};
  core::barrier_progress progress{.missing = bad};

  BOOST_TEST(decode_server(payload_of(server_message{{}, {outcome, {}}})).has_value());
  BOOST_TEST(received_answer(hello).version == "b?");
  BOOST_TEST(received_answer(failed).later.at(0).why.message() == "b?");
  BOOST_TEST(received_answer(snapshot).tasks.at(0).peer == "b?");
  BOOST_TEST(received_answer(failure).known.at(0).waits_for == "b?");
  BOOST_TEST(received_answer(progress).missing == "b?");
  BOOST_TEST((received(core::hello_args{1, bad, {}, bad, bad}) ==
              core::hello_args{1, "b?", {}, "b?", "b?"}));
  BOOST_TEST(received(core::report_error_args{outcome}).what.message() == "b?");
}

// Protobuf trusts the lengths inside a nested message and allocates what its strings declare.
BOOST_AUTO_TEST_CASE(a_false_nested_length_allocates_nothing) {
  auto const field = [](int number, std::string const& content, std::size_t length) {
    std::string made(1, static_cast<char>(number << 3 | 2 | (number > 15 ? 0x80 : 0)));
    if (number > 15) made += static_cast<char>(number >> 4);
    for (; length > 127; length >>= 7) made += static_cast<char>(length | 0x80);
    return made + static_cast<char>(length) + content;
  };
  auto const in = [&](int number, std::string const& content) {
    return field(number, content, content.size());
  };
  std::string const text = field(2, "x", 600'000);
  std::string const devices = field(3, text, 1'000'000);
  std::string const attributes = in(3, field(13, text, 1'000'000));
  for (std::string const& payload :
       {in(v1::ClientMessage::kExchangeTopologyFieldNumber, in(2, devices)),
        in(v1::ClientMessage::kExchangeTopologyFieldNumber, in(2, attributes)),
        in(v1::ClientMessage::kExchangeTopologyFieldNumber, field(2, text, 1'000'000)),
        in(v1::ClientMessage::kPutAllFieldNumber, field(1, text, 1'000'000))}) {
    auto const before = test::live_bytes();
    test::watch_peak();

    BOOST_TEST(!decode_client(payload).has_value());

    BOOST_TEST(test::peak_bytes() - before < 100'000U);
  }
}

// Errors and their details (upstream: payloads of a status).
BOOST_AUTO_TEST_CASE(make_coordination_error_with_empty_payload_is_a_status_alone) {
  server_message sent;
  sent.id = request_id{5};
  sent.what.outcome = {errc::internal, "boom"};

  auto const got = decode_server(payload_of(sent)).value();

  BOOST_TEST((got.what.outcome == sent.what.outcome));
  BOOST_TEST(std::holds_alternative<std::monostate>(got.what.value));
}

BOOST_AUTO_TEST_CASE(make_coordination_error_with_error_origin_and_without) {
  for (std::uint32_t const task : {0U, 7U}) {
    job_error const failed{{task_id{task}, {errc::unavailable, "it died"}}, {}};
    BOOST_TEST((received_answer(failed).cause.task == task_id{task}));
  }
  job_error const nobodys{{std::nullopt, {errc::unavailable, "nobody came"}}, {}};
  BOOST_TEST((received_answer(nobodys) == nobodys));
}

BOOST_AUTO_TEST_CASE(make_coordination_error_with_user_reported_error_keeps_any_code_and_text) {
  for (std::uint32_t number = 1; number <= 16; ++number) {
    core::report_error_args const sent{{errc_of(number), "bad\ndisk: " + std::to_string(number)}};
    BOOST_TEST((received(sent) == sent));
    job_error const failed{{task_id{7}, sent.what}, {}};
    BOOST_TEST((received_answer(failed) == failed));
  }
}

BOOST_AUTO_TEST_CASE(make_coordination_error_with_payload_keeps_code_text_and_figures) {
  server_message sent;
  sent.id = request_id{5};
  sent.what.outcome = {errc::deadline_exceeded, "Barrier timed out."};
  barrier_failure figures{.arrived = 1, .expected = 2, .missing = "1"};
  sent.what.value = figures;

  auto const got = decode_server(payload_of(sent)).value();

  BOOST_TEST((got.what.outcome == sent.what.outcome));
  BOOST_TEST((std::get<barrier_failure>(got.what.value) == figures));
}

BOOST_AUTO_TEST_CASE(make_barrier_error_with_payload_keeps_the_round_even_without_other_figures) {
  for (std::uint64_t const number : {std::uint64_t{1}, std::uint64_t{8}, largest}) {
    barrier_failure figures{.round = round_number{number}};
    BOOST_TEST((received_answer(figures) == figures));
  }
}

BOOST_AUTO_TEST_CASE(text_is_unchanged_exactly_if_protobuf_accepts_it) {
  test::quiet_protobuf const no_logging;
  std::array<int, 12> const tricky{0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90,
                                   0x9f, 0xa0, 0xbf, 0xc2, 0xe1, 0xff};
  std::size_t differences = 0;
  for (int first = 0; first < 256; ++first) {
    for (int const second : tricky) {
      for (int const third : tricky) {
        for (int const fourth : tricky) {
          std::string const text{static_cast<char>(first), static_cast<char>(second),
                                 static_cast<char>(third), static_cast<char>(fourth)};
          server_message message;
          message.what.outcome = status{errc::internal, text};
          bool const kept = payload_of(message).ends_with(text);
          bool const accepted = decode_server("\x12\x08\x08\x0d\x12\x04" + text).has_value();
          differences += kept != accepted;
        }
      }
    }
  }
  BOOST_TEST(differences == 0u);
}

BOOST_AUTO_TEST_CASE(keys_and_barrier_names_may_be_any_bytes) {
  std::string const any{"\0\xff\xc3", 3};

  BOOST_TEST((received(core::try_get_args{any}).key == any));
  BOOST_TEST((received(core::list_args{any}).directory == any));
  BOOST_TEST((received(core::cancel_barrier_args{any, {}}).name == any));
  core::listing_answer const listing{{{any, bytes{any}, 1}}, 1};
  BOOST_TEST((received_answer(listing) == listing));
}

// Malformed messages.

BOOST_AUTO_TEST_CASE(malformed_input_is_refused_with_its_size) {
  auto const refused = decode_client("GET / HTTP/1.1");

  BOOST_TEST(refused.error().code() == errc::invalid_argument);
  BOOST_TEST(refused.error().message() == "A frame of 14 bytes is not a valid ClientMessage.");
  BOOST_TEST(decode_server("GET / HTTP/1.1").error().message() ==
             "A frame of 14 bytes is not a valid ServerMessage.");
}

BOOST_AUTO_TEST_CASE(an_unterminated_varint_is_refused) {
  test::quiet_protobuf const no_logging;

  BOOST_TEST(decode_client(std::string(9, '\xff')).has_error());
  BOOST_TEST(decode_client(std::string(11, '\xff')).has_error());
}

BOOST_AUTO_TEST_CASE(input_above_the_protobuf_size_limit_is_refused_unread) {
  std::size_t const size = message_bytes_max + std::size_t{1};
  void* const unreadable = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BOOST_TEST_REQUIRE((unreadable != MAP_FAILED));

  auto const refused = decode_server({static_cast<char const*>(unreadable), size});

  BOOST_TEST(refused.error().message() ==
             "A frame of 2147483648 bytes is not a valid ServerMessage.");
  munmap(unreadable, size);
}

BOOST_AUTO_TEST_CASE(a_truncated_message_never_decodes_to_the_original) {
  for (auto const& sent : test::sample_requests()) {
    auto const payload = payload_of(sent);
    for (std::size_t size = 0; size < std::min<std::size_t>(payload.size(), 200); ++size) {
      auto const got = decode_client(std::string_view{payload}.substr(0, size));
      BOOST_TEST((!got || *got != sent));
    }
  }
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_refused) {
  test::quiet_protobuf const no_logging;
  v1::ClientMessage message;
  message.mutable_hello()->set_label("b\xff");

  BOOST_TEST(decode_client(message.SerializeAsString()).has_error());
}

BOOST_AUTO_TEST_CASE(a_secret_must_have_16_bytes) {
  for (std::size_t const size : {0u, 15u, 17u}) {
    v1::ClientMessage resume;
    resume.mutable_resume()->set_secret(std::string(size, 's'));
    v1::ServerMessage hello;
    hello.mutable_hello()->set_secret(std::string(size, 's'));

    BOOST_TEST(decode_client(resume.SerializeAsString()).error().message() ==
               "A Resume with a secret of " + std::to_string(size) + " bytes; it must have 16.");
    BOOST_TEST(decode_server(hello.SerializeAsString()).error().code() == errc::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_message_is_a_heartbeat_or_its_answer) {
  BOOST_TEST((decode_client("").value() == core::client_message{}));
  BOOST_TEST((decode_server("").value() == server_message{}));
}

BOOST_AUTO_TEST_CASE(an_unknown_request_with_an_id_is_refused) {
  auto const unknown = "\xc2\x02\x02hi"s;  // field 40, which is reserved

  auto const asked = decode_client("\x08\x05" + unknown);
  auto const notice = decode_client(unknown);

  BOOST_TEST(asked.error().code() == errc::invalid_argument);
  BOOST_TEST(asked.error().message() ==
             "Request 5 is of a kind that this version does not know. Is the client newer?");
  BOOST_TEST((notice.value() == core::client_message{}));
}

BOOST_AUTO_TEST_CASE(unknown_fields_of_known_requests_are_ignored) {
  auto const payload = "\x08\x05\x72\x06\x0a\x01k\xa0\x01\x01"s;  // TryGet with a field 20

  BOOST_TEST((decode_client(payload).value() == request_of(core::try_get_args{"k"})));
}

BOOST_AUTO_TEST_CASE(an_unknown_body_is_ignored) {
  server_message outcome_only;
  outcome_only.id = request_id{5};

  BOOST_TEST((decode_server("\x08\x05\xf2\x01\x02hi"s).value() == outcome_only));
}

BOOST_AUTO_TEST_CASE(unknown_enum_values_become_safe_values) {
  v1::ServerMessage message;
  message.mutable_status()->set_code(4'000'000'000);
  auto& task = *message.mutable_job_status()->add_tasks();
  task.set_state(static_cast<v1::TaskState>(99));
  auto& barrier = *message.mutable_job_status()->add_barriers();
  barrier.set_kind(static_cast<v1::JobStatus::Kind>(-1));

  auto const got = decode_server(message.SerializeAsString()).value();

  auto const& snapshot = *std::get<boxed<core::snapshot>>(got.what.value);
  BOOST_TEST(got.what.outcome.code() == errc::unknown);
  BOOST_TEST((snapshot.tasks.at(0).state == task_state::never_connected));
  BOOST_TEST((snapshot.barriers.at(0).what == core::snapshot::kind::tasks));
}

BOOST_AUTO_TEST_CASE(a_status_with_code_zero_is_ok) {
  BOOST_TEST(decode_server("\x12\x04\x12\x02ok").value().what.outcome.ok());
}

BOOST_AUTO_TEST_CASE(every_role_round_trips_and_an_unknown_one_is_a_worker) {
  for (auto const given : {core::role::reader, core::role::operator_, core::role::worker}) {
    BOOST_TEST((received_answer(core::hello_answer{.given = given}).given == given));
  }
  v1::ServerMessage newer;
  newer.mutable_hello()->set_secret(std::string(16, 's'));
  newer.mutable_hello()->set_role(static_cast<v1::HelloReply::Role>(99));

  auto const got = decode_server(newer.SerializeAsString()).value();

  BOOST_TEST((std::get<boxed<core::hello_answer>>(got.what.value)->given == core::role::worker));
}

BOOST_AUTO_TEST_CASE(an_attribute_of_unknown_kind_is_an_empty_string) {
  v1::ClientMessage message;
  message.set_id(5);
  auto& device = *message.mutable_exchange_topology()->mutable_mine()->add_devices();
  device.add_attributes()->set_name("n");

  auto const got = decode_client(message.SerializeAsString()).value();

  auto const& mine = std::get<core::exchange_topology_args>(got.what).mine;
  BOOST_TEST((mine.devices.at(0).attributes.at(0) == core::device_attribute{"n", std::string{}}));
}

// Memory.

BOOST_AUTO_TEST_CASE(decoding_large_values_frees_the_message_memory) {
  auto const small = payload_of(request_of(core::try_get_args{"key"}));
  BOOST_TEST(decode_client(small).has_value());  // allocates the memory that the thread keeps
  auto const payload =
      payload_of(request_of(core::put_args{"k", std::string(1 << 24, 'v'), {}, {}}));
  auto const before = test::live_bytes();

  test::watch_peak();
  BOOST_TEST(decode_client(payload).has_value());

  BOOST_TEST(test::peak_bytes() - before < (1u << 24) + 10'000);
  BOOST_TEST(test::live_bytes() == before);
}

BOOST_AUTO_TEST_CASE(decoding_large_messages_frees_their_memory) {
  core::listing_answer listing;
  listing.entries.resize(100'000, {"key", bytes{}, 1});
  auto const message = answer_of(std::move(listing));
  auto const before = test::live_bytes();

  BOOST_TEST((decode_server(payload_of(message)).value() == message));

  BOOST_TEST(test::live_bytes() == before);
}

BOOST_AUTO_TEST_CASE(a_frame_full_of_numbers_is_refused_before_allocation) {
  core::barrier_args barrier{.name = "b"};
  barrier.participants.assign(request_bytes_max, task_id{1});
  auto const payload = payload_of(request_of(barrier));
  auto const before = test::live_bytes();

  test::watch_peak();
  auto const refused = decode_client(payload);

  BOOST_TEST(test::peak_bytes() - before < 10'000u);
  BOOST_TEST(refused.error().message() ==
             "A request has 4194323 bytes beside its value; the limit request_bytes_max is "
             "4194304.");
  barrier.participants.resize(request_bytes_max - 100);
  BOOST_TEST(decode_client(payload_of(request_of(barrier))).has_value());
}

BOOST_AUTO_TEST_CASE(too_many_devices_are_cut_just_above_the_limit) {
  core::exchange_topology_args exchange{.platform = "gpu"};
  exchange.mine.devices.resize(core::topology_devices_max + 100);

  auto const got = decode_client(payload_of(request_of(exchange))).value();

  auto const& mine = std::get<core::exchange_topology_args>(got.what).mine;
  BOOST_TEST(mine.devices.size() == core::topology_devices_max + 1);
}

BOOST_AUTO_TEST_CASE(the_wire_size_of_a_topology_is_at_most_its_counted_size) {
  core::exchange_topology_args exchange;
  exchange.mine.devices.resize(3);
  for (core::device& d : exchange.mine.devices) {
    d.ordinal = d.core_count = -1;
    d.numa_node = -1;
    d.memory_bytes = std::numeric_limits<std::uint64_t>::max();
    d.shared_memory_per_block_bytes = d.partition = d.global_id = 4'000'000'000;
    d.attributes = {{"n", std::int64_t{-1}}, {"l", std::vector<std::int64_t>(1000, -1)}};
  }

  BOOST_TEST(payload_of(request_of(exchange)).size() < core::bytes_of(exchange.mine));
}

BOOST_AUTO_TEST_CASE(values_do_not_count_as_numbers) {
  core::barrier_args barrier{.name = "b"};
  barrier.participants.assign(100'000, task_id{1});
  barrier.gather = true;
  barrier.data.assign(2 * request_bytes_max, 'v');
  std::string const large(2 * request_bytes_max, 'v');
  core::put_args const put{"k", large, false, false};
  core::compare_and_set_args const compared{"k", large, large, false};
  core::append_args const append{"k", large};
  core::put_all_args const put_all{{{"k", large}, {"l", large}}, true};
  core::push_args const push{"q", large};

  BOOST_TEST((decode_client(payload_of(request_of(barrier))).value() == request_of(barrier)));
  BOOST_TEST((received(put) == put));
  BOOST_TEST((received(compared) == compared));
  BOOST_TEST((received(append) == append));
  BOOST_TEST((received(put_all) == put_all));
  BOOST_TEST((received(push) == push));
}

BOOST_AUTO_TEST_CASE(a_frame_full_of_keys_is_refused) {
  core::get_all_args const get_all{std::vector<std::string>(request_bytes_max / 2, ""), 1s};
  core::put_all_args put_all;
  put_all.entries.resize(request_bytes_max / 2);

  BOOST_TEST(decode_client(payload_of(request_of(get_all))).has_error());
  BOOST_TEST(decode_client(payload_of(request_of(put_all))).has_error());
}

// Only for watches does a missing timeout mean something else.
BOOST_AUTO_TEST_CASE(a_key_watch_without_a_timeout_is_unlimited) {
  v1::ClientMessage message;
  message.set_id(5);
  message.mutable_watch_keys();
  auto const absent = decode_client(message.SerializeAsString()).value();

  auto const& watch = std::get<core::watch_keys_args>(absent.what);
  BOOST_TEST((watch.timeout == without_limit));
  BOOST_TEST(!watch.after.has_value());
  BOOST_TEST((received(core::watch_keys_args{"", 0, 0s}) == core::watch_keys_args{"", 0, 0s}));
}

BOOST_AUTO_TEST_CASE(a_compare_and_set_can_expect_an_empty_value_or_version_zero) {
  for (core::expected_value const& expected :
       {core::expected_value{std::string{}}, core::expected_value{std::uint64_t{0}}}) {
    BOOST_TEST((received(core::compare_and_set_args{"k", "v", expected, {}}).expected == expected));
  }
}

BOOST_AUTO_TEST_CASE(a_resume_fits_all_open_requests_of_a_hundred_tasks) {
  core::resume_args resume;
  for (std::uint64_t i = 0; i < 4096 + 16 * 100; ++i) {
    resume.open.push_back(request_id{(std::uint64_t{1} << 60) + 100 * i});
  }

  auto const payload = payload_of(request_of(resume));

  BOOST_TEST(payload.size() < core::hello_frame_bytes_max);
  BOOST_TEST((decode_client(payload).value() == request_of(resume)));
}

BOOST_AUTO_TEST_CASE(declared_lengths_inside_a_request_allocate_no_memory) {
  auto const put_beyond_the_payload = "\x62\xff\xff\xff\x7f\x12\xff\xff\x7f"s;
  auto const value_beyond_the_put = "\x62\x04\x12\xff\xff\x7f"s;
  auto const before = test::live_bytes();

  for (auto const& payload : {put_beyond_the_payload, value_beyond_the_put}) {
    test::watch_peak();
    BOOST_TEST(decode_client(payload).has_error());
    BOOST_TEST(test::peak_bytes() - before < 10'000u);
  }
}

std::string* value_in(core::request& what) {
  if (auto* const put = std::get_if<core::put_args>(&what)) return &put->value;
  if (auto* const append = std::get_if<core::append_args>(&what)) return &append->value;
  if (auto* const push = std::get_if<core::push_args>(&what)) return &push->value;
  auto* const barrier = std::get_if<core::barrier_args>(&what);
  return barrier ? &barrier->data : nullptr;
}

BOOST_AUTO_TEST_CASE(replacing_a_value_equals_encoding_the_request_again) {
  int replaced = 0;
  for (auto message : test::sample_requests()) {
    auto const payload = test::payload_of(message);
    std::string* const value = value_in(message.what);
    bool const has_one = value && !value->empty();
    std::string made;

    BOOST_TEST(append_with_value(made, payload, "another") == has_one);

    if (!has_one) continue;
    *value = "another";
    BOOST_TEST((decode_client(made).value() == message));
    ++replaced;
  }
  BOOST_TEST(replaced >= 4);
}

BOOST_AUTO_TEST_CASE(a_repeated_value_field_is_not_replaced) {
  core::client_message message{.id = request_id{1}, .what = core::append_args{"k", "v"}};
  auto const payload = test::payload_of(message);
  std::string made;

  BOOST_TEST(!append_with_value(made, payload + payload, "another"));
  BOOST_TEST(made.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
