#include "load/frames.hpp"

#include "bench_error.hpp"
#include "load/http2.hpp"
#include "load/peer.hpp"
#include "load/resp.hpp"

#include "coxswain/wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {
namespace {

using namespace std::string_view_literals;

// The result of `convert` for the frames in a stream that arrives in pieces of this many bytes.
template <class Reader, class Found>
std::vector<Found> read_in_pieces(std::string_view stream, std::size_t piece,
                                  Found (*convert)(received_frame const&)) {
  Reader reader;
  std::vector<Found> all;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    auto input = stream.substr(at, piece);
    while (auto const next = reader.next(input)) all.push_back(convert(*next));
    BOOST_TEST(input.empty());
  }
  return all;
}

std::string frame(std::string_view payload) {
  std::string made;
  wire::append_length(made, payload.size());
  return made += payload;
}

struct found {
  std::string beginning;
  std::size_t bytes{};
  friend bool operator==(found const&, found const&) = default;
};

std::vector<found> frames_in(std::string_view stream, std::size_t piece) {
  return read_in_pieces<frame_reader, found>(stream, piece, [](received_frame const& f) {
    return found{std::string{f.beginning}, f.bytes};
  });
}

BOOST_AUTO_TEST_SUITE(frame_readers)

BOOST_AUTO_TEST_CASE(frames_are_found_at_any_split_of_the_stream) {
  auto const stream = frame("one") + frame("") + frame("three");
  std::vector<found> const expected{{"one", 3}, {"", 0}, {"three", 5}};

  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    BOOST_TEST((frames_in(stream, piece) == expected));
  }
}

BOOST_AUTO_TEST_CASE(only_the_beginning_of_a_long_split_frame_is_kept) {
  std::string const longer(3 * frame_reader::kept_bytes_max, 'x');
  auto const stream = frame(longer) + frame("next");

  for (std::size_t const piece : {999U, 4096U, 16384U, 16388U, 50000U}) {
    auto const all = frames_in(stream, piece);
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].bytes == longer.size());
    BOOST_TEST(longer.starts_with(all[0].beginning));
    BOOST_TEST((all[1] == found{"next", 4}));
  }
}

BOOST_AUTO_TEST_CASE(a_frame_of_exactly_the_kept_size_is_complete) {
  std::string const longest(frame_reader::kept_bytes_max, 'x');
  auto const all = frames_in(frame(longest), 1000);

  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0] == found{longest, longest.size()}));
}

BOOST_AUTO_TEST_SUITE_END()

received_frame whole(std::string_view reply) { return {reply, reply.size()}; }

std::string beginning_of(received_frame const& f) { return std::string{f.beginning}; }

core::barrier_args arrival_with(std::string data) {
  core::barrier_args arrival;
  arrival.name = "b";
  arrival.data = std::move(data);
  return arrival;
}

BOOST_AUTO_TEST_SUITE(redis)

BOOST_AUTO_TEST_CASE(a_command_is_a_list_of_strings) {
  std::string out;

  append_command(out, {"SET", "key", ""});

  BOOST_TEST(out == "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(replies_of_all_kinds_are_found_at_any_split) {
  std::vector<std::string> const replies{"+OK\r\n",
                                         "-ERR no\r\n",
                                         ":12\r\n",
                                         "$5\r\nva\r\nl\r\n",
                                         "$0\r\n\r\n",
                                         "$-1\r\n",
                                         "_\r\n",
                                         "*0\r\n",
                                         "*-1\r\n",
                                         "*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
                                         "%1\r\n+a\r\n:1\r\n",
                                         ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n4\r\n"};
  std::string stream;
  for (auto const& reply : replies) stream += reply;

  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    auto const found = read_in_pieces<resp_reader, std::string>(stream, piece, beginning_of);
    BOOST_TEST(found == replies, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(only_the_beginning_of_a_long_reply_is_kept) {
  std::string const value(3 * resp_reader::kept_bytes_max, 'v');
  auto const reply = "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  resp_reader reader;
  std::string_view first = std::string_view{reply}.substr(0, 20'000);
  std::string_view second = std::string_view{reply}.substr(20'000);

  BOOST_TEST(!reader.next(first).has_value());
  auto const found = reader.next(second);

  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->bytes == reply.size());
  BOOST_TEST(found->beginning == reply.substr(0, resp_reader::kept_bytes_max));
}

BOOST_AUTO_TEST_CASE(a_malformed_reply_is_refused) {
  resp_reader reader;
  std::string_view no_length = "$x\r\n";
  std::string_view no_line = "+\n";

  BOOST_CHECK_THROW((void)reader.next(no_length), bench_error);
  BOOST_CHECK_THROW((void)resp_reader{}.next(no_line), bench_error);
}

BOOST_AUTO_TEST_CASE(a_barrier_is_a_call_whose_message_has_the_round) {
  auto const redis = make_redis_peer({.tasks = 2, .subscribers = 2});
  auto const arrival = arrival_with({});
  std::string out;
  redis->ask(out, {0, std::nullopt}, arrival);
  redis->ask(out, {1, std::nullopt}, arrival);

  BOOST_TEST(out.starts_with("*4\r\n$5\r\nFCALL\r\n"));
  BOOST_TEST(
      (redis->judge(whole(">3\r\n$7\r\nmessage\r\n$4\r\nstep\r\n$1\r\n2\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole(">3\r\n$7\r\nmessage\r\n$4\r\nstep\r\n$1\r\n4\r\n")),
                    bench_error);
}

BOOST_AUTO_TEST_CASE(a_barrier_with_data_is_a_message_with_that_of_all) {
  auto const redis = make_redis_peer({.tasks = 2, .subscribers = 2, .gathered_bytes = 3});
  auto const arrival = arrival_with("ddd");
  std::string out;
  redis->ask(out, {0, task_id{0}}, arrival);
  redis->ask(out, {1, task_id{1}}, arrival);
  std::string const head = ">3\r\n$7\r\nmessage\r\n$4\r\nstep\r\n";

  BOOST_TEST(out.ends_with("$4\r\ndata\r\n$1\r\n1\r\n$3\r\nddd\r\n"));
  BOOST_TEST((redis->judge(whole(head + "$8\r\n2:dddddd\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole(head + "$5\r\n2:ddd\r\n")), bench_error);
  BOOST_CHECK_THROW((void)redis->judge(whole(head + "$8\r\n4:dddddd\r\n")), bench_error);
}

BOOST_AUTO_TEST_CASE(a_directory_is_a_hash_with_all_its_keys) {
  auto const redis = make_redis_peer({.lists = true});
  core::put_args put;
  put.key = "a/b/c";
  put.value = "v";
  std::string out;
  redis->ask(out, {}, put);
  BOOST_TEST(out == "*4\r\n$4\r\nHSET\r\n$3\r\na/b\r\n$1\r\nc\r\n$1\r\nv\r\n");

  core::listing_answer listing;
  listing.entries.push_back({"a/b/c", bytes{std::string{"v"}}, 1});
  redis->expect({core::answer{{}, std::move(listing)}});
  BOOST_TEST((redis->judge(whole("*2\r\n$1\r\nc\r\n$1\r\nv\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole("*0\r\n")), bench_error);
  BOOST_CHECK_THROW((void)redis->judge(whole("*2\r\n$1\r\nc\r\n$0\r\n\r\n")), bench_error);
}

BOOST_AUTO_TEST_CASE(the_task_that_counts_the_last_arrival_notifies_all_once) {
  auto const redis =
      make_redis_peer({.tasks = 2, .subscribers = 2, .barrier = redis_barrier::count});
  std::string out;
  redis->ask(out, {0, std::nullopt}, core::barrier_args{});
  redis->ask(out, {1, std::nullopt}, core::barrier_args{});

  BOOST_TEST((redis->judge(whole(":1\r\n")) == verdict::push));
  BOOST_TEST((redis->judge(whole(":2\r\n")) == verdict::respond));
  out.clear();
  redis->ask(out, {1, std::nullopt}, std::monostate{});
  BOOST_TEST(out == "*3\r\n$7\r\nPUBLISH\r\n$4\r\nstep\r\n$1\r\n2\r\n");
  BOOST_TEST((redis->judge(whole(":2\r\n")) == verdict::push));
}

BOOST_AUTO_TEST_CASE(a_get_without_its_value_is_refused) {
  auto const redis = make_redis_peer({});
  redis->expect({core::answer{{}, core::value_answer{bytes{std::string(3, 'v')}, 1}}});

  BOOST_TEST((redis->judge(whole("$3\r\nvvv\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole("$-1\r\n")), bench_error);
  BOOST_CHECK_THROW((void)redis->judge(whole("-ERR no\r\n")), bench_error);
  std::string out;
  BOOST_CHECK_THROW(redis->ask(out, {0, std::nullopt}, core::leave_args{}), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

std::string http2_frame(char type, char flags, char stream, std::string_view payload) {
  std::string made{'\0', '\0', static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return made.append(payload);
}

std::string message(std::string_view content) {
  std::string made{0, 0, 0, 0, static_cast<char>(content.size())};
  return made.append(content);
}

struct found_item {
  bool is_message{};
  std::uint32_t stream{};
  std::string content;
  friend bool operator==(found_item const&, found_item const&) = default;
};

std::vector<found_item> items_in(std::string_view stream, std::size_t piece) {
  return read_in_pieces<http2_reader, found_item>(stream, piece, [](received_frame const& f) {
    auto const item = http2_item::from(f);
    return found_item{item.is_message, item.stream, std::string{item.content}};
  });
}

BOOST_AUTO_TEST_SUITE(http2)

BOOST_AUTO_TEST_CASE(headers_are_sent_whole_once_and_then_by_number) {
  http2_writer writer;
  std::string first;
  std::string second;

  BOOST_TEST(writer.append_call(first, "/a", "m") == 1u);
  BOOST_TEST(writer.append_call(second, "/a", "m") == 3u);

  auto const data = http2_frame(0, 1, 3, message("m"));
  BOOST_TEST(first.find("application/grpc") != std::string::npos);
  BOOST_TEST(second == http2_frame(1, 4, 3, "\x83\x86\xc1\xc0\xbf\xbe") + data);
}

BOOST_AUTO_TEST_CASE(messages_and_what_a_connection_needs_are_found_however_they_are_cut) {
  auto const stream = http2_frame(4, 0, 0, "") + http2_frame(1, 4, 1, "headers") +
                      http2_frame(0, 0, 1, message("one").substr(0, 6)) +
                      http2_frame(8, 0, 0, "\0\0\0\1"sv) +
                      http2_frame(0, 0, 1, message("one").substr(6) + message("two")) +
                      http2_frame(6, 0, 0, "12345678") + http2_frame(1, 5, 1, "trailers");
  std::vector<found_item> const expected{{false, 0, http2_frame(4, 1, 0, "")},
                                         {true, 1, "one"},
                                         {true, 1, "two"},
                                         {false, 0, http2_frame(6, 1, 0, "12345678")}};

  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    BOOST_TEST((items_in(stream, piece) == expected));
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_is_an_error) {
  BOOST_CHECK_THROW((void)items_in(http2_frame(1, 5, 1, "status"), 100), bench_error);
  BOOST_CHECK_THROW((void)items_in(http2_frame(3, 0, 1, "\0\0\0\1"sv), 100), bench_error);
  BOOST_CHECK_THROW((void)items_in(http2_frame(7, 0, 0, "\0\0\0\0\0\0\0\1why"sv), 100),
                    bench_error);
}

// An answer to a put of an existing key.
std::string answer_after(char version) {
  std::string const kv{'\x20', version};
  std::string made{'m', 0, 0, 0, 3, '\x12', static_cast<char>(kv.size())};
  return made + kv;
}

BOOST_AUTO_TEST_CASE(who_made_the_round_complete_in_etcd_tells_all) {
  auto const etcd = make_etcd_peer({.tasks = 2, .subscribers = 2});
  std::string out;
  for (std::size_t connection = 0; connection < 2; ++connection) {
    etcd->open(connection);
    BOOST_TEST(etcd->introduce(out, connection) == 2 - connection);
    etcd->ask(out, {connection, std::nullopt}, core::barrier_args{});
  }
  auto const one = answer_after(1);
  auto const two = answer_after(2);

  BOOST_TEST((etcd->judge({one, one.size()}) == verdict::push));
  BOOST_TEST((etcd->judge({two, two.size()}) == verdict::respond));
  out.clear();
  etcd->ask(out, {1, std::nullopt}, std::monostate{});
  BOOST_TEST(out.find("release") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_stream_of_the_watches_is_nothing_else_on_a_connection_without_one) {
  auto const etcd = make_etcd_peer({.subscribers = 1});
  std::string out;
  etcd->open(1);
  BOOST_TEST(etcd->introduce(out, 1) == 0u);
  out.clear();

  etcd->ask(out, {1, std::nullopt}, core::count_keys_args{});

  BOOST_TEST(out.substr(5, 4) == "\0\0\0\3"sv);
}

BOOST_AUTO_TEST_CASE(more_than_http2_lets_a_client_send_is_refused) {
  auto const etcd = make_etcd_peer({});
  std::string out;
  etcd->open(0);
  core::put_args put;
  put.value.assign(1'000, 'v');

  BOOST_CHECK_NO_THROW(etcd->ask(out, {0, std::nullopt, 60}, put));
  BOOST_CHECK_THROW(etcd->ask(out, {0, std::nullopt, 61}, put), bench_error);
  put.value.assign(10'000, 'v');
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
  std::string const head{'m', 0, 0, 0, 1};
  std::string const key = "\x12\x03\x2a\x01v";
  auto const judge = [&](std::string const& keys) {
    auto const answer = head + keys;
    return etcd->judge({answer, answer.size()});
  };
  BOOST_TEST((judge(key + key) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(key), bench_error);
  BOOST_CHECK_THROW((void)judge(key + "\x12\x04\x2a\x02vv"), bench_error);
}

BOOST_AUTO_TEST_CASE(a_key_that_etcd_has_not_is_noticed) {
  auto const etcd = make_etcd_peer({});
  std::string out;
  etcd->open(0);
  core::get_args get;
  get.key = "k";
  etcd->ask(out, {0, std::nullopt}, get);
  std::string const nothing{'m', 0, 0, 0, 1};

  BOOST_TEST((etcd->judge({nothing, nothing.size()}) == verdict::answer));
  BOOST_CHECK_THROW(etcd->settle(), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
