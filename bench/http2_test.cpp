#include "http2.hpp"

#include "bench_error.hpp"
#include "peer.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {
namespace {

using namespace std::string_view_literals;

std::string frame(char type, char flags, char stream, std::string_view payload) {
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

std::vector<found_item> read_in_pieces(std::string_view all, std::size_t piece) {
  http2_reader reader;
  std::vector<found_item> found;
  for (std::size_t at = 0; at < all.size(); at += piece) {
    auto input = all.substr(at, piece);
    while (auto const next = reader.next(input)) {
      auto const item = http2_item::from(*next);
      found.push_back({item.is_message, item.stream, std::string{item.content}});
    }
  }
  return found;
}

BOOST_AUTO_TEST_SUITE(http2)

BOOST_AUTO_TEST_CASE(headers_are_sent_whole_once_and_then_by_number) {
  http2_writer writer;
  std::string first;
  std::string second;

  BOOST_TEST(writer.append_call(first, "/a", "m") == 1u);
  BOOST_TEST(writer.append_call(second, "/a", "m") == 3u);

  auto const data = frame(0, 1, 3, message("m"));
  BOOST_TEST(first.find("application/grpc") != std::string::npos);
  BOOST_TEST(second == frame(1, 4, 3, "\x83\x86\xc1\xc0\xbf\xbe") + data);
}

BOOST_AUTO_TEST_CASE(messages_and_what_a_connection_needs_are_found_however_they_are_cut) {
  auto const stream = frame(4, 0, 0, "") + frame(1, 4, 1, "headers") +
                      frame(0, 0, 1, message("one").substr(0, 6)) + frame(8, 0, 0, "\0\0\0\1"sv) +
                      frame(0, 0, 1, message("one").substr(6) + message("two")) +
                      frame(6, 0, 0, "12345678") + frame(1, 5, 1, "trailers");
  std::vector<found_item> const expected{{false, 0, frame(4, 1, 0, "")},
                                         {true, 1, "one"},
                                         {true, 1, "two"},
                                         {false, 0, frame(6, 1, 0, "12345678")}};

  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    BOOST_TEST((read_in_pieces(stream, piece) == expected));
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_is_an_error) {
  BOOST_CHECK_THROW((void)read_in_pieces(frame(1, 5, 1, "status"), 100), bench_error);
  BOOST_CHECK_THROW((void)read_in_pieces(frame(3, 0, 1, "\0\0\0\1"sv), 100), bench_error);
  BOOST_CHECK_THROW((void)read_in_pieces(frame(7, 0, 0, "\0\0\0\0\0\0\0\1why"sv), 100),
                    bench_error);
}

// An answer to a put of a key that had a version.
std::string answer_after(char version) {
  std::string const kv{'\x20', version};
  std::string made{'m', 0, 0, 0, 3, '\x12', static_cast<char>(kv.size())};
  return made + kv;
}

BOOST_AUTO_TEST_CASE(who_made_the_round_complete_in_etcd_tells_all) {
  rival_plan plan;
  plan.tasks = 2;
  plan.subscribers = 2;
  auto const etcd = make_etcd_peer(plan);
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
  rival_plan plan;
  plan.subscribers = 1;
  auto const etcd = make_etcd_peer(plan);
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
  core::answer listed;
  listed.value = std::move(listing);
  etcd->expect({std::move(listed)});
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
