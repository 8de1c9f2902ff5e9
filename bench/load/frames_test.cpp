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

BOOST_AUTO_TEST_SUITE_END()

received_frame whole(std::string_view reply) { return {reply, reply.size()}; }

std::string beginning_of(received_frame const& f) { return std::string{f.beginning}; }

BOOST_AUTO_TEST_SUITE(redis)

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

BOOST_AUTO_TEST_CASE(a_malformed_reply_is_refused) {
  resp_reader reader;
  std::string_view no_length = "$x\r\n";
  std::string_view no_line = "+\n";

  BOOST_CHECK_THROW((void)reader.next(no_length), bench_error);
  BOOST_CHECK_THROW((void)resp_reader{}.next(no_line), bench_error);
}

BOOST_AUTO_TEST_CASE(a_barrier_is_a_call_whose_message_has_the_round) {
  auto const redis = make_redis_peer({.tasks = 2, .subscribers = 2});
  core::barrier_args arrival;
  arrival.name = "b";
  std::string out;
  redis->ask(out, {0, std::nullopt}, arrival);
  redis->ask(out, {1, std::nullopt}, arrival);

  BOOST_TEST(out.starts_with("*4\r\n$5\r\nFCALL\r\n"));
  BOOST_TEST(
      (redis->judge(whole(">3\r\n$7\r\nmessage\r\n$4\r\nstep\r\n$1\r\n2\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole(">3\r\n$7\r\nmessage\r\n$4\r\nstep\r\n$1\r\n4\r\n")),
                    bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
