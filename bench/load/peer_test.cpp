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

BOOST_AUTO_TEST_CASE(a_heartbeat_is_answered_by_the_baseline_with_as_little) {
  auto const baselines = make_baseline_peer();
  baselines->open(0);
  baselines->expect({core::answer{}});

  auto const frame = ask(*baselines, {0, std::nullopt}, std::monostate{});

  BOOST_TEST(frame.size() == wire::length_bytes + baseline_request_bytes_min);
  BOOST_TEST(read_length(frame.substr(wire::length_bytes)) == payload(0, core::answer{}).size());
}

BOOST_AUTO_TEST_CASE(a_request_of_its_own_says_so_to_the_baseline) {
  auto const baselines = make_baseline_peer();
  baselines->open(0);
  baselines->expect({core::answer{}});

  auto const frame = ask(*baselines, {0, std::nullopt, 0, 0, true}, core::count_keys_args{});

  BOOST_TEST((read_length(frame.substr(wire::length_bytes)) & baseline_answer_at_once) != 0u);
}

BOOST_AUTO_TEST_CASE(what_has_no_answer_says_so_to_the_baseline_and_none_is_awaited) {
  auto const baselines = make_baseline_peer();
  baselines->open(0);
  baselines->expect({core::answer{}});
  asking how{0, std::nullopt};
  how.is_silent = true;

  auto const frame = ask(*baselines, how, core::bye_args{});

  BOOST_TEST(read_length(frame.substr(wire::length_bytes)) == baseline_answer_never);
  BOOST_CHECK_NO_THROW(baselines->settle());
}

BOOST_AUTO_TEST_CASE(what_is_acknowledged_leaves_out_what_may_have_no_answer) {
  auto const ours = joined_peer();
  auto const acknowledged = [&](std::uint64_t unanswered) {
    auto const frame = ask(*ours, {0, std::nullopt, unanswered}, std::monostate{});
    return wire::decode_client(frame.substr(wire::length_bytes))->answered_through;
  };

  BOOST_TEST(acknowledged(0) == 1u);
  BOOST_TEST(acknowledged(1) == 0u);
  BOOST_TEST(acknowledged(all_unanswered) == 0u);
}

BOOST_AUTO_TEST_CASE(answers_in_any_order_are_good_if_they_are_to_what_was_asked) {
  auto const ours = joined_peer();
  ours->expect({release(1)});
  for (std::uint64_t i = 0; i < 3; ++i) (void)ask(*ours, {0, task_id{0}, i}, arrival());

  for (auto const id : {3U, 2U, 4U}) {
    BOOST_TEST((judge(*ours, payload(id, release(1))) == verdict::answer));
  }
  ours->settle();
}

BOOST_AUTO_TEST_CASE(an_answer_to_another_request_is_noticed) {
  auto const ours = joined_peer();
  ours->expect({release(1)});
  (void)ask(*ours, {0, task_id{0}}, arrival());

  (void)judge(*ours, payload(7, release(1)));

  BOOST_CHECK_THROW(ours->settle(), bench_error);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_with_its_reason) {
  auto const ours = joined_peer();
  ours->expect({release(1)});
  core::answer refused;
  refused.outcome = {errc::resource_exhausted, "the cup is full"};

  BOOST_CHECK_EXCEPTION((void)judge(*ours, payload(2, refused)), bench_error, [](auto const& e) {
    return std::string_view{e.what()}.find("the cup is full") != std::string_view::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_failure_that_is_expected_is_an_answer_and_another_one_a_refusal) {
  auto const ours = joined_peer();
  auto const failure = [](errc code, std::string text) {
    return core::answer{{code, std::move(text)}, barrier_failure{}};
  };
  ours->expect({failure(errc::deadline_exceeded, {})});
  (void)ask(*ours, {0, task_id{0}}, arrival());
  auto const late = failure(errc::deadline_exceeded, std::string(200, 'l'));

  BOOST_TEST((judge(*ours, payload(2, late)) == verdict::answer));
  ours->settle();
  BOOST_CHECK_THROW((void)judge(*ours, payload(3, failure(errc::cancelled, {}))), bench_error);
  BOOST_CHECK_THROW((void)judge(*ours, payload(3, release(1))), bench_error);
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_kind_or_size_is_noticed) {
  auto const ours = joined_peer();
  ours->expect({release(1)});

  BOOST_CHECK_THROW((void)judge(*ours, payload(2, join_answer())), bench_error);
  BOOST_CHECK_THROW((void)judge(*ours, payload(2, release(1, 1000))), bench_error);
  BOOST_CHECK_THROW((void)judge(*ours, "nonsense"), bench_error);
}

BOOST_AUTO_TEST_CASE(of_a_long_answer_the_size_is_judged) {
  auto const ours = joined_peer();
  ours->expect({release(1, 100'000)});
  auto const good = payload(2, release(1, 100'000));
  auto const beginning = std::string_view{good}.substr(0, frame_reader::kept_bytes_max);

  BOOST_TEST((ours->judge({beginning, good.size()}) == verdict::answer));
  BOOST_CHECK_THROW((void)ours->judge({beginning, good.size() / 2}), bench_error);
}

BOOST_AUTO_TEST_CASE(pushes_are_told_from_answers) {
  auto const ours = joined_peer();
  core::answer const probe{{}, core::probe{}};
  core::answer const progress{{}, core::barrier_progress{}};
  core::answer const bye{{}, core::goodbye{{errc::unavailable, "closing time"}, false}};

  BOOST_TEST((judge(*ours, payload(0, core::answer{})) == verdict::beat));
  BOOST_TEST((judge(*ours, payload(0, probe)) == verdict::respond));
  BOOST_TEST((judge(*ours, payload(0, progress)) == verdict::push));
  BOOST_CHECK_THROW((void)judge(*ours, payload(0, bye)), bench_error);
}

BOOST_AUTO_TEST_CASE(a_job_of_another_size_is_refused_unless_any_will_do) {
  auto const ours = make_coxswain_peer(tasks);
  BOOST_TEST((judge(*ours, payload(0, hello_answer(tasks))) == verdict::answer));
  BOOST_CHECK_THROW((void)judge(*ours, payload(0, hello_answer(tasks + 1))), bench_error);

  auto const any = make_coxswain_peer(0);
  BOOST_TEST((judge(*any, payload(0, hello_answer(9))) == verdict::answer));
  BOOST_TEST((any->beat_period() > 0ns));
}

BOOST_AUTO_TEST_CASE(the_baseline_must_send_what_it_was_asked_for) {
  auto const baselines = make_baseline_peer();
  baselines->open(0);
  baselines->expect({release(1)});
  auto const frame = ask(*baselines, {0, task_id{0}}, arrival());
  auto const size = read_length(frame.substr(wire::length_bytes));

  (void)baselines->judge({"", size - 1});
  BOOST_CHECK_THROW(baselines->settle(), bench_error);
  (void)baselines->judge({"", 1});
  baselines->settle();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
