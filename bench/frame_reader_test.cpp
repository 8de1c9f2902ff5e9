#include "frames.hpp"

#include "coxswain/wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {
namespace {

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

// What is found in a stream that comes in pieces of so many bytes.
std::vector<found> read_in_pieces(std::string_view stream, std::size_t piece) {
  frame_reader reader;
  std::vector<found> all;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    auto input = stream.substr(at, piece);
    while (auto const next = reader.next(input)) {
      all.push_back({std::string{next->beginning}, next->bytes});
    }
    BOOST_TEST(input.empty());
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(frame_readers)

BOOST_AUTO_TEST_CASE(frames_are_found_wherever_the_stream_is_cut) {
  auto const stream = frame("one") + frame("") + frame("three");
  std::vector<found> const expected{{"one", 3}, {"", 0}, {"three", 5}};

  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    BOOST_TEST((read_in_pieces(stream, piece) == expected));
  }
}

BOOST_AUTO_TEST_CASE(of_a_long_frame_in_pieces_only_the_beginning_is_kept) {
  std::string const longer(3 * frame_reader::kept_bytes_max, 'x');
  auto const stream = frame(longer) + frame("next");

  for (std::size_t const piece : {999U, 4096U, 16384U, 16388U, 50000U}) {
    auto const all = read_in_pieces(stream, piece);
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].bytes == longer.size());
    BOOST_TEST(longer.starts_with(all[0].beginning));
    BOOST_TEST((all[1] == found{"next", 4}));
  }
}

BOOST_AUTO_TEST_CASE(a_frame_of_exactly_what_is_kept_is_whole) {
  std::string const longest(frame_reader::kept_bytes_max, 'x');
  auto const all = read_in_pieces(frame(longest), 1000);

  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0] == found{longest, longest.size()}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
