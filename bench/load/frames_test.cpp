#include "load/frames.hpp"

#include "bench_error.hpp"
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

}  // namespace
}  // namespace coxswain::bench
