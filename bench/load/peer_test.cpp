#include "load/peer.hpp"

#include "bench_error.hpp"
#include "load/job.hpp"
#include "servers/baseline.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint32_t tasks = 4;

core::request arrival() {
  core::barrier_args arrival;
  arrival.name = "step";
  return arrival;
}

core::answer release(std::uint64_t round, std::size_t data_bytes = 0) {
  core::barrier_answer released;
  released.round = round_number{round};
  if (data_bytes > 0) released.data.push_back(bytes{std::string(data_bytes, 'd')});
  return {{}, std::move(released)};
}

// What a coordinator sends, without the length prefix.
std::string payload(std::uint64_t id, core::answer const& what) {
  auto const body = wire::encode(what);
  std::string frame;
  wire::append_server_head(frame, request_id{id}, body.size());
  frame += body.head;
  frame += body.tail.view();
  return frame.substr(wire::length_bytes);
}

verdict judge(peer& by, std::string const& what) { return by.judge({what, what.size()}); }

std::string ask(peer& of, asking const& how, core::request what) {
  std::string frame;
  of.ask(frame, how, std::move(what));
  return frame;
}

// A peer with a session that has joined, and so used the id 1.
std::unique_ptr<peer> joined_peer() {
  auto made = make_coxswain_peer(tasks);
  made->open(0);
  made->expect({join_answer()});
  (void)ask(*made, {0, task_id{0}}, core::join_args{});
  (void)judge(*made, payload(1, join_answer()));
  made->settle();
  return made;
}

std::size_t read_length(std::string_view from) {
  return read_number(from.substr(0, wire::length_bytes));
}

BOOST_AUTO_TEST_SUITE(peers)

BOOST_AUTO_TEST_CASE(the_baseline_is_sent_and_sends_as_many_bytes_as_the_coordinator) {
  auto const ours = joined_peer();
  auto const baselines = make_baseline_peer();
  baselines->open(0);

  // Ids and numbers become longer on the way.
  for (std::uint64_t round = 1; round < 300; ++round) {
    ours->expect({release(round)});
    baselines->expect({release(round)});
    auto const to_ours = ask(*ours, {0, task_id{0}}, arrival());
    auto const to_baseline = ask(*baselines, {0, task_id{0}}, arrival());

    BOOST_TEST_REQUIRE(to_baseline.size() == to_ours.size());
    BOOST_TEST_REQUIRE(read_length(to_baseline.substr(wire::length_bytes)) ==
                       payload(round + 1, release(round)).size());
  }
}

BOOST_AUTO_TEST_CASE(an_answer_to_another_request_is_noticed) {
  auto const ours = joined_peer();
  ours->expect({release(1)});
  (void)ask(*ours, {0, task_id{0}}, arrival());

  (void)judge(*ours, payload(7, release(1)));

  BOOST_CHECK_THROW(ours->settle(), bench_error);
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_kind_or_size_is_noticed) {
  auto const ours = joined_peer();
  ours->expect({release(1)});

  BOOST_CHECK_THROW((void)judge(*ours, payload(2, join_answer())), bench_error);
  BOOST_CHECK_THROW((void)judge(*ours, payload(2, release(1, 1000))), bench_error);
  BOOST_CHECK_THROW((void)judge(*ours, "nonsense"), bench_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
