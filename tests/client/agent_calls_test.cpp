// Calls: sending, replies, cancellation, deadlines, limits.

#include "tests/client/agent_lab.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

std::string last_words(agent_lab const& lab) {
  return lab.completions().at(0).what.outcome.message();
}

core::barrier_args barrier(std::string name) {
  core::barrier_args args;
  args.name = std::move(name);
  return args;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_calls)

BOOST_AUTO_TEST_CASE(a_call_is_sent_at_once_and_completed_by_its_reply) {
  auto lab = agent_lab::open();

  auto const id = lab.a.call(t0, core::get_args{"k", {}}, 5s);
  BOOST_TEST(id == request_id{1});
  BOOST_TEST(lab.out() == "#1 get k 5 s");

  BOOST_TEST(lab.reply(t0, 1, answer_of("v")).out() == "done #1 OK");
  BOOST_TEST((lab.completions().at(0).what == answer_of("v")));
}

BOOST_AUTO_TEST_CASE(replies_may_arrive_in_any_order) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 5s);
  lab.a.call(t0, core::get_args{"b", {}}, 5s);

  lab.reply(t0, 2, answer_of("b"));
  lab.reply(t0, 1, {{errc::cancelled, "stop"}, {}});

  BOOST_TEST(lab.out() == "#1 get a 5 s | #2 get b 5 s | done #2 OK | done #1 CANCELLED");
}

BOOST_AUTO_TEST_CASE(every_frame_acknowledges_the_replies_received) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::put_args{"a", "", false}, 300s);
  lab.a.call(t0, core::put_args{"b", "", false}, 300s);
  lab.reply(t0, 1);
  BOOST_TEST(lab.reply(t0, 2).out() == "#1 put a | #2 put b | done #1 OK | done #2 OK");

  lab.a.call(t0, core::put_args{"c", "", false}, 300s);
  lab.say(t0, {{}, core::probe{}});
  lab.a.cancel(t0, request_id{3});
  lab.a.bye(t0, false);

  BOOST_TEST(lab.out() == "#3 put c ack=2 | heartbeat ack=2 | cancel 3 ack=2 | bye ack=2 | close");
}

BOOST_AUTO_TEST_CASE(pushes_are_not_counted) {
  auto lab = agent_lab::open();

  lab.say(t0, {});
  lab.say(t0, {{}, job_error{}});
  BOOST_TEST(lab.call(t0, core::put_args{"c", "", false}, 300s).out() == "#1 put c | job failed");
}

BOOST_AUTO_TEST_CASE(calls_that_need_a_task_name_it) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::join_args{incarnation{5}, {}}, 1s);
  lab.a.call(t0, barrier("b"), 1s);
  lab.a.call(t0, barrier("b"), 1s, task_id{3});
  lab.a.call(t0, core::put_args{"k", "", false}, 1s);
  lab.a.call(t0, core::reset_args{incarnation{5}}, 1s);

  BOOST_TEST(lab.out() ==
             "#1 join 1 s | #2 barrier b 1 s | #3 barrier b 1 s | #4 put k | #5 reset");
  BOOST_TEST((lab.messages().at(4).task == task_id{1}));
  BOOST_TEST((lab.messages().at(0).task == task_id{1}));
  BOOST_TEST((lab.messages().at(1).task == task_id{1}));
  BOOST_TEST((lab.messages().at(2).task == task_id{3}));
  BOOST_TEST((lab.messages().at(3).task == std::nullopt));
}

BOOST_AUTO_TEST_CASE(an_observer_cannot_act_as_a_task) {
  auto options = agent_lab::default_options();
  options.task.reset();
  auto lab = agent_lab::open(options);

  BOOST_TEST(lab.call(t0, barrier("b"), 1s).out() == "done #1 FAILED_PRECONDITION");
  BOOST_TEST(contains(last_words(lab), "barrier 'b': this client is an observer"));
}

BOOST_AUTO_TEST_CASE(only_an_ephemeral_key_needs_a_task) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::put_args{"k", "v", false, true}, 1s);
  lab.a.call(t0, core::compare_and_set_args{"k", "v", core::absent_value{}, true}, 1s);
  BOOST_TEST(!lab.call(t0, core::put_args{"k", "v", false, false}, 1s).out().empty());
  BOOST_TEST((lab.messages().at(0).task == task_id{1}));
  BOOST_TEST((lab.messages().at(1).task == task_id{1}));
  BOOST_TEST((lab.messages().at(2).task == std::nullopt));

  auto options = agent_lab::default_options();
  options.task.reset();
  auto observer = agent_lab::open(options);
  observer.a.call(t0, core::put_args{"k", "v", false, true}, 1s);
  BOOST_TEST(observer.out() == "done #1 FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(wait_at_barrier_ongoing_fails_because_a_task_has_one_call_at_a_time) {
  auto lab = agent_lab::open();
  lab.a.call(t0, barrier("b"), 300s);
  BOOST_TEST(lab.call(t0, barrier("c"), 300s).out() == "#1 barrier b 300 s | #2 barrier c 300 s");

  BOOST_TEST(lab.call(t0, barrier("b"), 300s).out() == "done #3 FAILED_PRECONDITION");
  BOOST_TEST(contains(last_words(lab), "task 1 already waits at barrier 'b'"));

  lab.reply(t0, 1, {{}, core::barrier_answer{round_number{1}, {}}});
  lab.a.cancel(t0, request_id{2});
  lab.a.call(t0, barrier("b"), 300s);
  lab.a.call(t0, barrier("c"), 300s);
  BOOST_TEST(lab.out() ==
             "cancel 2 ack=1 | #4 barrier b 300 s ack=1 | #5 barrier c 300 s ack=1 | done #1 OK");
}

BOOST_AUTO_TEST_CASE(the_reply_to_a_cancelled_call_is_counted_and_dropped) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"k", {}}, 300s);
  lab.a.cancel(t0, request_id{1});
  BOOST_TEST(lab.out() == "#1 get k 300 s | cancel 1");

  lab.reply(t0, 1, answer_of("late"));
  BOOST_TEST(lab.call(t0, core::put_args{"k", "", false}, 300s).out() == "#2 put k ack=1");
}

BOOST_AUTO_TEST_CASE(cancelling_an_unknown_call_does_nothing) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::put_args{"k", "", false}, 300s);
  BOOST_TEST(lab.reply(t0, 1).out() == "#1 put k | done #1 OK");

  lab.a.cancel(t0, request_id{1});
  lab.a.cancel(t0, request_id{77});

  BOOST_TEST(lab.out() == "");
}

BOOST_AUTO_TEST_CASE(while_connected_the_coordinator_has_a_second_to_reply_at_a_deadline) {
  auto lab = agent_lab::open();
  BOOST_TEST(lab.call(t0, barrier("b"), 5s).out() == "#1 barrier b 5 s");

  BOOST_TEST(lab.advance(t0 + 6s - 1ns) == "");
  BOOST_TEST((lab.a.next_deadline() == t0 + 6s));

  BOOST_TEST(lab.advance(t0 + 6s) == "cancel 1 | done #1 DEADLINE_EXCEEDED");
  BOOST_TEST(last_words(lab) ==
             "Barrier timed out. barrier 'b': no reply from the coordinator at b12:8476 within 5 "
             "s although connected.");
}

BOOST_AUTO_TEST_CASE(while_disconnected_a_deadline_is_exact) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"k", {}}, 5s);
  BOOST_TEST(lab.lose(t0 + 4s).out() == "open | disconnected");
  BOOST_TEST((lab.a.next_deadline() == t0 + 5s));

  lab.a.advance(t0 + 5s - 1ns);
  BOOST_TEST(lab.a.open_calls() == 1u);

  BOOST_TEST(lab.advance(t0 + 5s) == "close | done #1 DEADLINE_EXCEEDED");
  BOOST_TEST(
      contains(last_words(lab), "within 5 s; disconnected for 1 s: UNAVAILABLE: connection reset"));
}

BOOST_FIXTURE_TEST_CASE(before_the_first_connection_a_deadline_is_exact_and_names_the_attempts,
                        agent_lab) {
  a.start(t0);
  a.call(t0, core::get_args{"k", {}}, 3s);
  a.connect_failed(t0, 0, {errc::unavailable, "connection refused"}, true);
  BOOST_TEST(out() == "open");
  a.advance(t0 + 3s - 1ns);
  BOOST_TEST(out() == "open");

  a.advance(t0 + 3s);

  BOOST_TEST(out() == "done #1 DEADLINE_EXCEEDED");
  BOOST_TEST(completions().at(0).what.outcome.message() ==
             "get of key 'k': no reply from the coordinator at b12:8476 within 3 s; not connected "
             "yet after 2 tries: UNAVAILABLE: connection refused");
}

BOOST_FIXTURE_TEST_CASE(a_call_made_before_the_start_keeps_its_deadline, agent_lab) {
  a.call(t0, core::get_args{"k", {}}, 3s);
  BOOST_TEST((a.next_deadline() == t0 + 3s));

  a.advance(t0 + 3s);

  BOOST_TEST(out() == "done #1 DEADLINE_EXCEEDED");
  BOOST_TEST((a.next_deadline() == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_passed_while_connected_expires_with_the_connection) {
  auto lab = agent_lab::open();
  BOOST_TEST(lab.call(t0, core::get_args{"k", {}}, 5s).out() == "#1 get k 5 s");

  lab.lose(t0 + 5500ms);
  BOOST_TEST(lab.advance(t0 + 5500ms) == "open | done #1 DEADLINE_EXCEEDED | disconnected");
}

BOOST_AUTO_TEST_CASE(a_call_without_timeout_never_expires) {
  auto lab = agent_lab::open();
  BOOST_TEST(lab.call(t0, core::get_args{"k", {}}, without_limit).out() == "#1 get k no limit");
  BOOST_TEST((lab.a.next_deadline() == t0 + 2s));  // names what it waits for
}

BOOST_AUTO_TEST_CASE(a_timeout_of_zero_or_less_asks_for_an_immediate_reply) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"k", {}}, 0s);
  BOOST_TEST(lab.call(t0, core::get_args{"k", {}}, -5s).out() == "#1 get k 0 ms | #2 get k 0 ms");
  BOOST_TEST((lab.a.next_deadline() == t0 + 1s));
}

BOOST_AUTO_TEST_CASE(the_coordinators_limits_are_checked_before_sending) {
  auto lab = agent_lab::open();
  std::string const key(100, 'k');

  lab.a.call(t0, core::put_args{key, std::string(5'000, 'v'), false}, 1s);
  lab.a.call(t0, core::put_args{"//" + key + "/", "", false}, 1s);
  BOOST_TEST(lab.out() == "#1 put " + key + " | #2 put //" + key + "/");

  lab.a.call(t0, core::put_args{key, std::string(5'001, 'v'), false}, 1s);
  BOOST_TEST(lab.out() == "done #3 RESOURCE_EXHAUSTED");
  BOOST_TEST(contains(last_words(lab),
                      "the value has 5001 bytes; the coordinator's limit "
                      "value_bytes_max is 5000."));

  BOOST_TEST(lab.call(t0, core::get_args{key + "k", {}}, 1s).out() == "done #4 RESOURCE_EXHAUSTED");
  BOOST_TEST(contains(last_words(lab), "101 bytes; the coordinator's limit key_bytes_max is 100."));
}

BOOST_AUTO_TEST_CASE(a_long_name_is_cut_in_messages) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{std::string(300, 'k'), {}}, 300s);

  BOOST_TEST(lab.out() == "done #1 RESOURCE_EXHAUSTED");
  BOOST_TEST(lab.completions().at(0).what.outcome.message() ==
             "get of key '" + std::string(256, 'k') +
                 "...': the name has 300 bytes; the coordinator's limit key_bytes_max is 100.");
}

BOOST_AUTO_TEST_CASE(each_part_of_a_key_or_queue_call_has_a_limit) {
  auto lab = agent_lab::open();
  std::string const key = "/" + std::string(100, 'k') + "/";
  std::string const long_key(101, 'k');
  std::string const large(5'001, 'v');
  std::vector<core::request> const refused{
      core::compare_and_set_args{long_key, "", core::absent_value{}, false},
      core::append_args{"k", large},
      core::get_all_args{{key, long_key}, 1s},
      core::put_all_args{{{key, ""}, {long_key, ""}}, false},
      core::put_all_args{{{"a", large}, {key, ""}}, false},
      core::count_keys_args{long_key},
      core::push_args{long_key, ""},
      core::push_args{"q", large},
      core::pop_args{long_key, 1s},
      core::watch_keys_args{long_key, std::nullopt, 1s},
  };
  for (auto const& what : refused) {
    auto const id = lab.a.call(t0, what, 1s);
    BOOST_TEST(lab.out() == "done #" + std::to_string(id.value) + " RESOURCE_EXHAUSTED");
    BOOST_TEST(contains(last_words(lab), "1 bytes; the coordinator's limit"));
  }

  lab.a.call(t0, core::put_all_args{{{key, large.substr(1)}}, false}, 1s);
  lab.a.call(t0, core::get_all_args{{key}, 1s}, 1s);
  BOOST_TEST(!contains(lab.out(), "done"));
}

BOOST_AUTO_TEST_CASE(a_frame_may_have_exactly_the_limit_and_not_more) {
  auto const frame_bytes = [](std::size_t data_bytes) {
    auto args = barrier("b");
    args.gather = true;
    args.data.assign(data_bytes, 'd');
    core::client_message message;
    message.id = request_id{1};
    message.task = task_id{1};
    args.timeout = 1s;
    message.what = args;
    std::string bytes;
    wire::append_frame(bytes, message);
    return bytes.size() - wire::length_bytes;
  };
  std::size_t fits = 9'900;
  while (frame_bytes(fits + 1) <= 10'000) ++fits;

  for (std::size_t const size : {fits, fits + 1}) {
    auto lab = agent_lab::open();
    auto args = barrier("b");
    args.gather = true;
    args.data.assign(size, 'd');
    lab.a.call(t0, args, 1s);
    BOOST_TEST(lab.out() == (size == fits ? "#1 barrier b 1 s" : "done #1 RESOURCE_EXHAUSTED"));
    BOOST_TEST(lab.a.open_calls() == (size == fits ? 1u : 0u));

    lab.a.call(t0, barrier("b"), 1s);
    BOOST_TEST(lab.out() == (size == fits ? "done #2 FAILED_PRECONDITION" : "#2 barrier b 1 s"));
  }
}

BOOST_AUTO_TEST_CASE(a_request_full_of_numbers_is_refused_and_the_session_continues) {
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  auto coordinator = hello_answer();
  coordinator.frame_bytes_max = 100'000'000;
  coordinator.value_bytes_max = 90'000'000;
  BOOST_TEST(lab.say(t0, {{}, coordinator}).out() == "hello | open | opened");
  auto args = barrier("b");
  args.participants.assign(wire::request_bytes_max - 100, task_id{1});
  args.gather = true;
  args.data.assign(wire::request_bytes_max, 'd');

  BOOST_TEST(lab.call(t0, args, 1s).out() == "#1 barrier b 1 s");

  args.name = "c";
  args.participants.resize(wire::request_bytes_max);
  BOOST_TEST(lab.call(t0, args, 1s).out() == "done #2 RESOURCE_EXHAUSTED");
  BOOST_TEST(contains(last_words(lab), "limit request_bytes_max is 4194304."));

  lab.a.call(t0, core::get_all_args{std::vector<std::string>(1'000'000, "keys"), 1s}, 1s);
  BOOST_TEST(lab.out() == "done #3 RESOURCE_EXHAUSTED");
}

BOOST_FIXTURE_TEST_CASE(a_queued_call_is_checked_once_the_limits_are_known, agent_lab) {
  a.start(t0);
  a.call(t0, core::put_args{"k", std::string(5'001, 'v'), false}, 300s);
  a.call(t0, core::put_args{"k", "v", false}, 300s);
  a.connected(t0, 0);

  say(t0, {{}, hello_answer()});

  BOOST_TEST(out() == "hello | #2 put k | open | done #1 RESOURCE_EXHAUSTED | opened");
}

BOOST_AUTO_TEST_CASE(calls_queued_while_disconnected_are_bounded) {
  auto options = agent_lab::default_options();
  options.queued_bytes_max = 10'000;
  auto lab = agent_lab::open(options);
  lab.lose(t0);
  lab.a.call(t0, core::put_args{"a", std::string(4'900, 'v'), false}, 300s);
  lab.a.call(t0, core::put_args{"b", std::string(4'900, 'v'), false}, 300s);
  BOOST_TEST(lab.out() == "open | disconnected");

  lab.a.call(t0, core::put_args{"c", std::string(100, 'v'), false}, 300s);
  BOOST_TEST(lab.out() == "done #3 RESOURCE_EXHAUSTED");
  BOOST_TEST(contains(last_words(lab), "queued_bytes_max is 10000."));

  lab.a.cancel(t0, request_id{1});
  BOOST_TEST(lab.call(t0, core::put_args{"d", std::string(4'900, 'v'), false}, 300s).out() == "");
  BOOST_TEST(lab.resume(t0).out() == "resume | #2 put b | #4 put d | reconnected after 0 ms");

  lab.lose(t0 + 5s);
  lab.a.call(t0 + 5s, core::put_args{"e", std::string(4'900, 'v'), false}, 300s);
  lab.a.call(t0 + 5s, core::put_args{"f", std::string(4'900, 'v'), false}, 300s);
  BOOST_TEST(lab.out() == "open | disconnected");
}

BOOST_AUTO_TEST_CASE(ten_thousand_open_calls_are_resumed_in_order) {
  auto lab = agent_lab::open();
  std::vector<request_id> all;
  std::string expected = "resume ";
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    lab.a.call(t0, core::get_args{"k", {}}, 300s + 1ms * id);
    all.push_back(request_id{id});
    expected += (id == 1 ? "" : ",") + std::to_string(id);
  }
  (void)lab.out();
  lab.lose(t0 + 1s);
  lab.a.connected(t0 + 1s, 0);
  BOOST_TEST((lab.out() == expected + " | open | disconnected"));

  lab.say(t0 + 1s, unknown(all));
  (void)lab.out();
  BOOST_TEST(lab.messages().size() == 10'000u);
  BOOST_TEST((std::get<core::get_args>(lab.messages().back().what).timeout == 309s));

  for (std::uint64_t id = 10'000; id > 0; --id) lab.reply(t0 + 2s, id, answer_of("v"));
  (void)lab.out();
  BOOST_TEST(lab.completions().size() == 10'000u);
  BOOST_TEST(lab.a.open_calls() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
