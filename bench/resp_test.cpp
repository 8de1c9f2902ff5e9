#include "resp.hpp"

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

std::vector<std::string> read_in_pieces(std::string_view stream, std::size_t piece) {
  resp_reader reader;
  std::vector<std::string> all;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    auto input = stream.substr(at, piece);
    while (auto const next = reader.next(input)) all.emplace_back(next->beginning);
    BOOST_TEST(input.empty());
  }
  return all;
}

received_frame whole(std::string_view reply) { return {reply, reply.size()}; }

BOOST_AUTO_TEST_SUITE(resp)

BOOST_AUTO_TEST_CASE(a_command_is_a_list_of_strings) {
  std::string out;

  append_command(out, {"SET", "key", ""});

  BOOST_TEST(out == "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(replies_of_all_kinds_are_found_however_they_are_cut) {
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
    BOOST_TEST(read_in_pieces(stream, piece) == replies, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(of_a_long_reply_the_beginning_is_kept) {
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

BOOST_AUTO_TEST_CASE(what_is_no_reply_is_refused) {
  resp_reader reader;
  std::string_view no_length = "$x\r\n";
  std::string_view no_line = "+\n";

  BOOST_CHECK_THROW((void)reader.next(no_length), bench_error);
  BOOST_CHECK_THROW((void)resp_reader{}.next(no_line), bench_error);
}

BOOST_AUTO_TEST_CASE(a_barrier_is_a_call_whose_message_says_the_round) {
  rival_plan plan;
  plan.tasks = 2;
  plan.subscribers = 2;
  auto const redis = make_redis_peer(plan);
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

BOOST_AUTO_TEST_CASE(a_barrier_with_data_is_a_message_with_that_of_all) {
  rival_plan plan;
  plan.tasks = 2;
  plan.subscribers = 2;
  plan.gathered_bytes = 3;
  auto const redis = make_redis_peer(plan);
  core::barrier_args arrival;
  arrival.name = "b";
  arrival.data = "ddd";
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
  rival_plan plan;
  plan.lists = true;
  auto const redis = make_redis_peer(plan);
  core::put_args put;
  put.key = "a/b/c";
  put.value = "v";
  std::string out;
  redis->ask(out, {}, put);
  BOOST_TEST(out == "*4\r\n$4\r\nHSET\r\n$3\r\na/b\r\n$1\r\nc\r\n$1\r\nv\r\n");

  core::listing_answer listing;
  listing.entries.push_back({"a/b/c", bytes{std::string{"v"}}, 1});
  core::answer listed;
  listed.value = std::move(listing);
  redis->expect({std::move(listed)});
  BOOST_TEST((redis->judge(whole("*2\r\n$1\r\nc\r\n$1\r\nv\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole("*0\r\n")), bench_error);
  BOOST_CHECK_THROW((void)redis->judge(whole("*2\r\n$1\r\nc\r\n$0\r\n\r\n")), bench_error);
}

BOOST_AUTO_TEST_CASE(who_counts_the_last_arrival_tells_all_once) {
  rival_plan plan;
  plan.tasks = 2;
  plan.subscribers = 2;
  plan.barrier = redis_barrier::count;
  auto const redis = make_redis_peer(plan);
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
  core::answer value;
  value.value = core::value_answer{bytes{std::string(3, 'v')}, 1};
  redis->expect({value});

  BOOST_TEST((redis->judge(whole("$3\r\nvvv\r\n")) == verdict::answer));
  BOOST_CHECK_THROW((void)redis->judge(whole("$-1\r\n")), bench_error);
  BOOST_CHECK_THROW((void)redis->judge(whole("-ERR no\r\n")), bench_error);
  std::string out;
  BOOST_CHECK_THROW(redis->ask(out, {0, std::nullopt}, core::leave_args{}), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
