// The requests in a stream of bytes, as torch's clients send them.

#include "coxswain/tcp_store/decoder.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tcp_store {
namespace {

using namespace std::string_literals;

std::string number(std::uint64_t n, std::size_t width = 8) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(n >> 8 * i & 0xff);
  return bytes;
}

std::string text(std::string const& of) { return number(of.size()) + of; }

struct sample {
  std::string bytes;
  request means;
};

std::vector<sample> const& samples() {
  static std::vector<sample> const all{
      {std::string{greeting}, {query::validate, {}, magic}},
      {"\x0d"s + number(0x653d, 4), {query::ping, {}, 0x653d}},
      {"\x01"s + text("/k") + text("v"), {query::set, {"/k", "v"}}},
      {"\x02"s + text("/k") + text("") + text("new"), {query::compare_set, {"/k", "", "new"}}},
      {"\x03"s + text("/k"), {query::get, {"/k"}}},
      {"\x04"s + text("init/") + number(1), {query::add, {"init/"}, 1}},
      {"\x04"s + text("/n") + number(static_cast<std::uint64_t>(-5)), {query::add, {"/n"}, -5}},
      {"\x05"s + number(2) + text("/a") + text("/b"), {query::check, {"/a", "/b"}}},
      {"\x06"s + number(0), {query::wait}},
      {"\x06"s + number(1) + text("/a"), {query::wait, {"/a"}}},
      {"\x07"s, {query::count_keys}},
      {"\x08"s + text("/k"), {query::delete_key, {"/k"}}},
      {"\x09"s + text("/k") + text("more"), {query::append, {"/k", "more"}}},
      {"\x0a"s + number(1) + text("/a"), {query::multi_get, {"/a"}}},
      {"\x0b"s + number(2) + text("/a") + text("1") + text("/b") + text(""),
       {query::multi_set, {"/a", "1", "/b", ""}}},
      {"\x0c"s, {query::cancel_wait}},
      {"\x0e"s + text("/q") + text("item"), {query::queue_push, {"/q", "item"}}},
      {"\x0f"s + text("/q"), {query::queue_pop, {"/q"}}},
      {"\x10"s + text("/q"), {query::queue_length, {"/q"}}},
      {"\x11"s, {query::list_keys}},
      {"\x12"s + text("/b") + number(4), {query::barrier, {"/b"}, 4}},
  };
  return all;
}

constexpr std::size_t bytes_max = 100'000;

BOOST_AUTO_TEST_SUITE(tcp_store_decoder)

BOOST_AUTO_TEST_CASE(each_request_is_found_whole_and_byte_by_byte) {
  for (auto const& sample : samples()) {
    decoder whole{bytes_max};
    std::string_view rest{sample.bytes};
    auto const found = whole.next(rest);
    BOOST_REQUIRE(found && *found);
    BOOST_TEST((**found == sample.means));
    BOOST_TEST(rest.empty());

    decoder slow{bytes_max};
    for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
      std::string_view byte{sample.bytes.data() + i, 1};
      auto const next = slow.next(byte);
      BOOST_REQUIRE(next);
      BOOST_TEST(byte.empty());
      BOOST_TEST(next->has_value() == (i + 1 == sample.bytes.size()));
      if (*next) BOOST_TEST((**next == sample.means));
    }
  }
}

BOOST_AUTO_TEST_CASE(requests_that_arrive_together_are_found_in_order) {
  std::string all;
  for (auto const& sample : samples()) all += sample.bytes;
  decoder of{bytes_max};
  std::string_view rest{all};
  for (auto const& sample : samples()) {
    auto const found = of.next(rest);
    BOOST_REQUIRE(found && *found);
    BOOST_TEST((**found == sample.means));
  }
  BOOST_TEST(rest.empty());
}

BOOST_AUTO_TEST_CASE(unknown_requests_and_sizes_beyond_the_limit_are_refused) {
  for (auto const& bytes :
       {"\x13"s, "\xff"s, "\x03"s + number(bytes_max), "\x03"s + number(~std::uint64_t{}),
        "\x06"s + number(bytes_max), "\x06"s + number(~std::uint64_t{}),
        "\x0b"s + number(std::uint64_t{1} << 60), "\x01"s + text("/k") + number(bytes_max),
        "\x05"s + number(2) + text(std::string(60'000, 'a')) + number(60'000)}) {
    decoder of{bytes_max};
    std::string_view rest{bytes};
    auto const found = of.next(rest);
    BOOST_TEST(!found);
    if (!found) BOOST_TEST((found.error().code() == errc::invalid_argument));
  }
}

BOOST_AUTO_TEST_CASE(a_large_request_waits_for_permission_and_takes_no_memory_before) {
  auto const meter = make_meter(1 << 20);
  decoder of{bytes_max, 1'000, meter.get()};
  std::string const value(50'000, 'v');
  std::string const bytes = "\x01"s + text("/k") + text(value);
  std::string_view rest{bytes};

  BOOST_TEST(!of.next(rest)->has_value());

  BOOST_TEST(of.asks_for() > value.size());
  BOOST_TEST(meter->transit() < 1'000);
  BOOST_TEST(!of.next(rest)->has_value());
  of.allow();
  BOOST_TEST(of.is_large());
  auto half = rest.substr(0, 25'000);
  rest.remove_prefix(25'000);
  BOOST_TEST(!of.next(half)->has_value());
  BOOST_TEST(meter->transit() >= 25'000);
  auto const found = of.next(rest);
  BOOST_REQUIRE(found && *found);
  BOOST_TEST(((*found)->texts.back() == value));
  BOOST_TEST(!of.is_large());
  BOOST_TEST(meter->transit() == 0);
}

BOOST_AUTO_TEST_CASE(random_bytes_are_refused_or_wait_and_take_no_more_memory_than_they_have) {
  for (unsigned seed = 0; seed < 2'000; ++seed) {
    std::mt19937 random{seed};
    auto const meter = make_meter(1 << 20);
    decoder of{bytes_max, 1'000, meter.get()};
    std::size_t fed = 0;
    bool goes_on = true;
    for (int i = 0; i < 40 && goes_on; ++i) {
      std::string some = random() % 2 ? samples()[random() % samples().size()].bytes : ""s;
      for (auto n = random() % 12; n > 0; --n) some += static_cast<char>(random() % 20);
      fed += some.size();
      std::string_view rest{some};
      for (bool has_more = true; has_more && goes_on;) {
        auto const found = of.next(rest);
        goes_on = found && of.asks_for() == 0;
        has_more = goes_on && *found;
      }
      BOOST_TEST_CONTEXT("seed " << seed) BOOST_TEST(meter->transit() <= 64 * fed + 64);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tcp_store
