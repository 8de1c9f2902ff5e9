#include "load/grpc.hpp"

#include "bench_error.hpp"
#include "load/tally.hpp"

#include "coxswain/http2/server_session.hpp"
#include "coxswain/xla/codec.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// Of HTTP/2, by hand.
std::string frame(char type, char flags, char stream, std::string_view payload) {
  std::string made{'\0', '\0', static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return made.append(payload);
}

std::string message(std::string_view content) {
  std::string made{0, 0, 0, 0, static_cast<char>(content.size())};
  return made.append(content);
}

std::string headers(char stream) { return frame(1, 4, stream, "\x88"); }

std::string trailers(char stream, char status) {
  return frame(1, 5, stream, "\0\13grpc-status\1"s + status);
}

struct found_item {
  grpc_kind kind{};
  std::string content;
  friend bool operator==(found_item const&, found_item const&) = default;
};

// The items of a stream that arrives in pieces. What the line must send is added to `output`.
std::vector<found_item> items_in(grpc_line& line, std::string_view stream, std::size_t piece,
                                 std::string& output) {
  std::vector<found_item> all;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    auto input = stream.substr(at, piece);
    while (auto const next = line.next(input)) {
      auto const item = grpc_item::from(*next);
      all.push_back({item.kind, std::string{item.content}});
    }
  }
  output += line.take_output();
  return all;
}

std::vector<found_item> items_in(grpc_line& line, std::string_view stream) {
  std::string ignored;
  return items_in(line, stream, stream.size(), ignored);
}

// The calls that a server finds in what a line has sent.
std::vector<http2::call> calls_in(http2::server_session& server, std::string_view sent) {
  std::vector<http2::call> calls;
  while (!sent.empty()) {
    std::vector<http2::server_event> events;
    auto const taken = server.receive(now(), sent, events);
    BOOST_TEST_REQUIRE(server.error() == "");
    if (taken == 0 && events.empty()) break;
    sent.remove_prefix(taken);
    for (auto& e : events) {
      if (auto* const call = std::get_if<http2::call>(&e)) calls.push_back(std::move(*call));
    }
  }
  return calls;
}

std::string output_of(http2::server_session& of) {
  std::string out;
  of.append_output(out, std::size_t{1} << 20);
  return out;
}

BOOST_AUTO_TEST_SUITE(grpc)

BOOST_AUTO_TEST_CASE(
    a_server_understands_the_calls_and_its_answers_are_found_however_they_are_cut) {
  std::vector<found_item> const expected{{grpc_kind::pong, ""},
                                         {grpc_kind::answer, "ONE"},
                                         {grpc_kind::beat, ""},
                                         {grpc_kind::answer, "FOUR"}};
  for (auto const piece : {1U, 2U, 3U, 5U, 11U, 1000U}) {
    grpc_line line;
    http2::server_session server;
    std::string sent;
    line.append_preface(sent);
    line.append_call(sent, "/a/A", "one");
    line.append_call(sent, "/a/B", "two", grpc_kind::background);
    line.append_call(sent, "/a/B", "", grpc_kind::beat);
    line.append_call(sent, "/a/A", "four");
    auto const calls = calls_in(server, sent);
    BOOST_TEST_REQUIRE(calls.size() == 4u);
    BOOST_TEST(calls[0].path == "/a/A");
    BOOST_TEST(calls[0].message == "one");
    BOOST_TEST(calls[3].message == "four");

    server.reply(calls[0].stream, "ONE");
    server.fail(calls[1].stream, errc::cancelled, "the end");
    server.reply(calls[2].stream, "");
    server.reply(calls[3].stream, "FOUR");
    server.ping(7);
    std::string acknowledgements;
    BOOST_TEST((items_in(line, output_of(server), piece, acknowledgements) == expected));

    // Acknowledges the settings and the ping, and not what the server has not said.
    std::vector<http2::server_event> events;
    server.receive(now(), acknowledgements, events);
    BOOST_TEST(server.error() == "");
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST(std::get<http2::ping_answer>(events[0]).payload == 7u);
    BOOST_TEST(line.take_output() == "");
  }
}

BOOST_AUTO_TEST_CASE(headers_are_sent_whole_once_and_then_by_number) {
  grpc_line line;
  std::string first;
  std::string second;
  line.append_preface(first);
  first.clear();
  line.append_call(first, "/a", "m");
  line.append_call(second, "/a", "m");

  BOOST_TEST(first.size() > 60u);
  BOOST_TEST_REQUIRE(second.size() > 9u);
  auto const block = read_number(std::string_view{second}.substr(0, 3));
  BOOST_TEST(block == 7u);
  BOOST_TEST(second.substr(9 + block) == frame(0, 1, 3, message("m")));
}

BOOST_AUTO_TEST_CASE(calls_are_encoded_before_the_server_says_how_much_it_takes) {
  constexpr std::size_t number = 2'000;
  grpc_line line;
  http2::server_session server;
  std::string sent;
  line.append_preface(sent);

  for (std::size_t i = 0; i < number; ++i) line.append_call(sent, "/a", std::string(500, 'm'));

  BOOST_TEST(calls_in(server, sent).size() == number);
}

BOOST_AUTO_TEST_CASE(a_call_that_exceeds_its_window_is_refused) {
  grpc_line line;
  std::string sent;
  line.append_preface(sent);

  BOOST_CHECK_NO_THROW(line.append_call(sent, "/a", std::string(65'530, 'm')));
  BOOST_CHECK_THROW(line.append_call(sent, "/a", std::string(65'531, 'm')), bench_error);
}

BOOST_AUTO_TEST_CASE(a_call_that_stays_open_has_messages_one_after_another) {
  grpc_line line;
  std::string sent;
  line.append_preface(sent);
  line.append_call(sent, "/watch", "m", grpc_kind::watched);
  auto const stream = frame(4, 0, 0, "") + headers(1) +
                      frame(0, 0, 1, message("one") + message("two").substr(0, 6)) +
                      frame(0, 0, 1, message("two").substr(6));
  std::vector<found_item> const expected{{grpc_kind::watched, "one"}, {grpc_kind::watched, "two"}};

  BOOST_TEST((items_in(line, stream) == expected));
  BOOST_CHECK_THROW((void)items_in(line, trailers(1, '0') + frame(3, 0, 1, "\0\0\0\0"sv)),
                    bench_error);
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_is_an_error_unless_it_is_in_the_background) {
  auto const received = [](std::string const& stream, grpc_kind kind = grpc_kind::answer) {
    grpc_line line;
    std::string sent;
    line.append_preface(sent);
    line.append_call(sent, "/a", "m", kind);
    return items_in(line, frame(4, 0, 0, "") + stream).size();
  };
  auto const answer = headers(1) + frame(0, 0, 1, message("m"));

  BOOST_TEST(received(answer + trailers(1, '0')) == 1u);
  BOOST_CHECK_THROW(received(headers(1) + trailers(1, '0')), bench_error);
  BOOST_CHECK_THROW(received(headers(1) + trailers(1, '5')), bench_error);
  BOOST_CHECK_THROW(received(frame(3, 0, 1, "\0\0\0\1"sv)), bench_error);
  BOOST_CHECK_THROW(received(frame(7, 0, 0, "\0\0\0\0\0\0\0\1why"sv)), bench_error);
  BOOST_CHECK_THROW(received("nonsense that is no frame of HTTP/2"), bench_error);
  BOOST_TEST(received(headers(1) + trailers(1, '5'), grpc_kind::background) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// What a line finds.
std::string item(std::string_view content, grpc_kind kind = grpc_kind::answer) {
  return std::string(1, static_cast<char>(kind)).append(content);
}

verdict judge(peer& by, std::string const& found) { return by.judge({found, found.size()}); }

BOOST_AUTO_TEST_SUITE(etcd)

// An answer to a put of an existing key.
std::string answer_after(char version) {
  std::string const kv{'\x20', version};
  return item('\x12' + std::string(1, static_cast<char>(kv.size())) + kv);
}

BOOST_AUTO_TEST_CASE(who_made_the_round_complete_in_etcd_tells_all) {
  auto const etcd = make_etcd_peer({.tasks = 2, .subscribers = 2});
  std::string out;
  for (std::size_t connection = 0; connection < 2; ++connection) {
    etcd->open(connection);
    BOOST_TEST(etcd->introduce(out, connection) == 3 - connection);
    etcd->ask(out, {connection, std::nullopt}, core::barrier_args{});
  }

  BOOST_TEST((judge(*etcd, answer_after(1)) == verdict::push));
  BOOST_TEST((judge(*etcd, answer_after(2)) == verdict::respond));
  out.clear();
  etcd->ask(out, {1, std::nullopt}, std::monostate{});
  BOOST_TEST(out.find("release") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_what_comes_by_a_watch_is_a_release_in_etcd) {
  auto const etcd = make_etcd_peer({.tasks = 1, .subscribers = 1});
  std::string out;
  etcd->open(0);
  etcd->introduce(out, 0);
  etcd->ask(out, {0, std::nullopt}, core::barrier_args{});
  auto const pong = item("", grpc_kind::pong);
  auto const created = item("\x18\x01", grpc_kind::watched);
  auto const event = [](std::string const& round) {
    return item("\x5a\x05\x12\x03\x2a\x01" + round, grpc_kind::watched);
  };

  BOOST_TEST((judge(*etcd, pong) == verdict::answer));
  BOOST_TEST((judge(*etcd, created) == verdict::answer));
  BOOST_TEST((judge(*etcd, event("1")) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(*etcd, event("2")), bench_error);
}

BOOST_AUTO_TEST_CASE(more_than_http2_lets_a_client_send_is_refused) {
  auto const etcd = make_etcd_peer({});
  std::string out;
  etcd->open(0);
  core::put_args put;
  put.value.assign(1'000, 'v');

  BOOST_CHECK_NO_THROW(etcd->ask(out, {0, std::nullopt, 60}, put));
  BOOST_CHECK_THROW(etcd->ask(out, {0, std::nullopt, 61}, put), bench_error);
  put.value.assign(65'500, 'v');
  BOOST_CHECK_THROW(etcd->ask(out, {0, std::nullopt}, put), bench_error);
}

BOOST_AUTO_TEST_CASE(a_directory_in_etcd_has_all_its_keys) {
  auto const etcd = make_etcd_peer({});
  std::string out;
  etcd->open(0);
  etcd->ask(out, {0, std::nullopt}, core::list_args{"a/b"});
  BOOST_TEST(out.find("a/b/") != std::string::npos);
  BOOST_TEST(out.find("a/b0") != std::string::npos);

  core::listing_answer listing;
  for (auto const* key : {"a/b/c", "a/b/d"})
    listing.entries.push_back({key, bytes{std::string{"v"}}, 1});
  etcd->expect({core::answer{{}, std::move(listing)}});
  std::string const key = "\x12\x03\x2a\x01v";
  auto const judged = [&](std::string const& keys) { return judge(*etcd, item(keys)); };
  BOOST_TEST((judged(key + key) == verdict::answer));
  BOOST_CHECK_THROW((void)judged(key), bench_error);
  BOOST_CHECK_THROW((void)judged(key + "\x12\x04\x2a\x02vv"), bench_error);
}

BOOST_AUTO_TEST_CASE(a_key_that_etcd_has_not_is_noticed) {
  auto const etcd = make_etcd_peer({});
  std::string out;
  etcd->open(0);
  core::get_args get;
  get.key = "k";
  etcd->ask(out, {0, std::nullopt}, get);

  BOOST_TEST((judge(*etcd, item("")) == verdict::answer));
  BOOST_CHECK_THROW(etcd->settle(), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(xla_peers)

// A peer with one connection, and the coordinator's end of it.
struct xla_job {
  xla_job() : by{make_xla_peer(false)} {
    by->open(0);
    std::string sent;
    BOOST_TEST(by->introduce(sent, 0) == 1u);
    BOOST_TEST(calls_in(server, sent).empty());
    BOOST_TEST((judge(*by, item("", grpc_kind::pong)) == verdict::answer));
  }

  std::vector<http2::call> ask(std::optional<task_id> task, core::request what) {
    std::string sent;
    by->ask(sent, {0, task}, std::move(what));
    return calls_in(server, sent);
  }

  static xla::request request_of(http2::call const& call) {
    auto const path = xla::find_method(call.path);
    BOOST_TEST_REQUIRE(path.has_value());
    return xla::decode(*path, call.message).value();
  }

  std::unique_ptr<peer> by;
  http2::server_session server;
};

BOOST_FIXTURE_TEST_CASE(each_barrier_of_a_task_has_the_next_counter_and_so_has_its_answer,
                        xla_job) {
  core::barrier_args arrival;
  arrival.name = "step";
  arrival.timeout = 2s;
  for (std::int64_t round = 0; round < 3; ++round) {
    for (auto const task : {task_id{0}, task_id{5}}) {
      auto const calls = ask(task, arrival);
      BOOST_TEST_REQUIRE(calls.size() == 1u);
      BOOST_TEST(calls[0].path == "/xla.coordination.CoordinationService/Barrier");
      auto const asked = request_of(calls[0]);
      BOOST_TEST(asked.task->id == static_cast<std::int32_t>(task.value));
      BOOST_TEST(asked.name == "step");
      BOOST_TEST(asked.timeout_ms == 2'000);
      BOOST_TEST(asked.counter == round);
    }
    core::barrier_answer released;
    released.round = round_number{static_cast<std::uint64_t>(round) + 1};
    by->expect({core::answer{{}, released}});
    BOOST_TEST((judge(*by, item(xla::encode_counter(round))) == verdict::answer));
    BOOST_CHECK_THROW((void)judge(*by, item(xla::encode_counter(round + 1))), bench_error);
  }
}

BOOST_FIXTURE_TEST_CASE(clients_leave_three_calls_open_for_each_task, xla_job) {
  std::string sent;
  BOOST_TEST(by->append_background_calls(sent, 0) == 0u);
  BOOST_TEST(sent.empty());
  for (std::uint32_t task = 0; task < 2; ++task) {
    BOOST_TEST(ask(task_id{task}, core::join_args{incarnation{task + 7}}).size() == 1u);
  }
  BOOST_TEST(request_of(ask(std::nullopt, core::watch_tasks_args{}).at(0)).number == -1);
  auto const states = xla::encode_tasks(xla::generation::third, {}, 300);
  BOOST_TEST((judge(*by, item(states)) == verdict::answer));

  BOOST_TEST(by->append_background_calls(sent, 0) == 1u);

  std::vector<std::string> paths;
  for (auto const& call : calls_in(server, sent)) paths.push_back(call.path.substr(38));
  std::vector<std::string> const of_each{"PollForError", "WatchTasks", "GetKeyValue"};
  BOOST_TEST_REQUIRE(paths.size() == 6u);
  BOOST_TEST((std::vector(paths.begin(), paths.begin() + 3) == of_each));
}

BOOST_FIXTURE_TEST_CASE(a_connection_beats_for_all_its_tasks_and_one_of_them_is_answered, xla_job) {
  BOOST_TEST(ask(std::nullopt, std::monostate{}).empty());
  for (std::uint32_t task = 0; task < 3; ++task) {
    ask(task_id{task}, core::join_args{incarnation{task + 7}});
  }

  auto const beats = ask(std::nullopt, std::monostate{});

  BOOST_TEST_REQUIRE(beats.size() == 3u);
  BOOST_TEST(request_of(beats[2]).self.value == 9u);
  BOOST_TEST((judge(*by, item("", grpc_kind::beat)) == verdict::beat));
}

BOOST_FIXTURE_TEST_CASE(later_requests_state_the_service_that_registered_the_task, xla_job) {
  ask(task_id{0}, core::join_args{incarnation{7}});
  auto const reply = xla::encode_incarnation(incarnation{0x1122'3344'5566'7788});
  BOOST_TEST((judge(*by, item(reply, grpc_kind::registered)) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(*by, item("", grpc_kind::registered)), bench_error);

  core::get_args get;
  get.key = "k";
  BOOST_TEST(request_of(ask(std::nullopt, get).at(0)).service->value == 0x1122'3344'5566'7788u);
}

BOOST_AUTO_TEST_CASE(who_observes_registers_as_the_only_task_with_the_first_connection) {
  auto const observer = make_xla_peer(true);
  std::string sent;
  for (std::size_t connection = 0; connection < 2; ++connection) {
    observer->open(connection);
    BOOST_TEST(observer->introduce(sent, connection) == 2 - connection);
  }
  BOOST_TEST(observer->prepared_max() < 4'096u);
}

BOOST_FIXTURE_TEST_CASE(a_get_has_its_value_and_a_put_nothing, xla_job) {
  by->expect({core::answer{{}, core::value_answer{bytes{std::string(9, 'v')}, 1}}});
  auto const reply = [](std::size_t bytes) {
    auto const whole = xla::encode_key_value("a/b", coxswain::bytes{std::string(bytes, 'v')});
    return item(whole.head + std::string{whole.tail.view()});
  };
  BOOST_TEST((judge(*by, reply(9)) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(*by, reply(8)), bench_error);
  BOOST_CHECK_THROW((void)judge(*by, item("")), bench_error);

  by->expect({core::answer{{}, core::stored_answer{1}}});
  BOOST_TEST((judge(*by, item("")) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(*by, reply(9)), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
