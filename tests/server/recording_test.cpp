// The inputs of the core are recorded, and a replay feeds them to another core.

#include "coxswain/base/error.hpp"
#include "coxswain/base/little_endian.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/recording/placeholders.hpp"
#include "coxswain/server/recording/recorder.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

using namespace std::string_literals;

constexpr time_point t0{1000s};

// A coordinator with the same input each time.
struct job {
  explicit job(options given = {}) : o{with_digests(std::move(given))}, d{o, incarnation{77}, t0} {}

  static options with_digests(options made) {
    if (!made.record) made.record = [](std::string_view) {};
    return made;
  }

  connection_id greeted(std::string const& token = "") {
    auto const id = d.open(now, "10.0.0.1:5", core::session_secret{});
    d.received(now, id, hello_frame(token));
    settle();
    return id;
  }
  void settle() {
    d.begin();
    d.advance(now);
    std::vector<connection_id> dirty;
    while (d.deliver(dirty)) {
      for (auto const id : dirty) {
        while (!d.out(id).empty()) d.wrote(now, id, next_bytes(d.out(id)).size());
      }
    }
  }

  // Requests are numbered.
  void ask(connection_id from, core::request what) {
    d.received(now, from, frame(std::move(what), ++requests));
  }

  options o;
  time_point now{t0};
  dispatch d;
  std::uint64_t requests{};
};

struct outputs {
  std::vector<std::string> then;
  std::vector<std::string> now;
};

outputs again(replay& r) {
  outputs all;
  while (auto const record = r.step()) {
    if (record->kind == wire::record_kind::event) all.then.emplace_back(record->content);
    for (auto const& e : r.events()) all.now.push_back(e.text);
  }
  BOOST_TEST(r.difference() == "");
  BOOST_TEST(r.compared().not_compared == 0u);
  return all;
}

// Checks that a replay gives the same messages and the same end of the job.
void check_replay(job const& j, std::string const& recording) {
  replay r{recording};
  auto const all = again(r);
  BOOST_TEST(all.now == all.then, boost::test_tools::per_element());
  BOOST_TEST((r.look() == j.d.look(j.now)));
}

BOOST_AUTO_TEST_SUITE(recording_test)

BOOST_AUTO_TEST_CASE(a_replay_repeats_the_job) {
  job j;
  auto const task = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0) + put_frame(2, "k", "v"));
  j.d.received(j.now, task, "\0"s);
  auto const unknown = j.d.open(j.now, "10.0.0.2:6", core::session_secret{1});
  j.d.received(j.now, unknown, "GET / HTTP/1.1\r\n\r\n");
  j.settle();
  j.now += 3s;
  j.d.lost(j.now, unknown, core::loss::closed);
  BOOST_TEST(
      (j.d.put_in(j.now, core::process_ended{task_id{0}, {errc::unavailable, "killed by signal 9"}})
           .ok()));
  j.settle();

  auto const recording = j.d.recording();
  replay r{recording};
  auto const all = again(r);

  BOOST_TEST(r.is_whole());
  BOOST_TEST(r.head().coordinator == incarnation{77});
  BOOST_TEST(all.then.size() > 4u);
  BOOST_TEST(all.now == all.then, boost::test_tools::per_element());
  BOOST_TEST((r.look() == j.d.look(j.now)));
}

// Queued output is not recorded, so it must not influence the replies of the core.
BOOST_AUTO_TEST_CASE(a_job_near_its_memory_limit_with_slow_readers_is_replayed_exactly) {
  options scarce;
  scarce.core.memory_bytes_max = 400'000;
  job j{scarce};
  auto const writer = j.greeted();
  std::vector<connection_id> readers;
  for (int i = 0; i < 3; ++i) readers.push_back(j.greeted());
  auto const answer_to = [&](std::string const& request) {
    j.d.begin();
    j.d.received(j.now, writer, request);
    std::vector<connection_id> dirty;
    j.d.deliver(dirty);
    message_reader reader;
    auto const text = next_bytes(j.d.out(writer));
    reader.feed(text);
    j.d.wrote(j.now, writer, text.size());
    return reader.take().what.outcome.code();
  };
  std::uint64_t id = 0;

  for (std::uint64_t round = 1; round <= 20; ++round) {
    core::put_args put{
        .key = "often", .value = std::string(50'000 + round, 'v'), .overwrite = true};
    BOOST_TEST(answer_to(frame(put, ++id)) == errc::ok);
    for (auto const one : readers) {
      if (j.d.out(one).pauses_reading()) continue;
      j.d.received(j.now, one, try_get_frame(round, "often") + list_frame(100 + round, ""));
    }
  }
  errc filled{};
  while (filled == errc::ok) {
    ++id;
    filled = answer_to(put_frame(id, "key " + std::to_string(id), std::string(3'000, 'v')));
  }

  BOOST_TEST(filled == errc::resource_exhausted);
  check_replay(j, j.d.recording());
}

BOOST_AUTO_TEST_CASE(a_replay_repeats_owner_inputs) {
  job j;
  auto const task = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0));
  BOOST_TEST((j.d.put_in(j.now, core::preempt_args{task_id{0}, 20min}).ok()));
  BOOST_TEST(!j.d.put_in(j.now, core::preempt_args{task_id{7}, 20min}).ok());
  j.settle();
  j.now += 5min;
  j.settle();

  check_replay(j, j.d.recording());
}

BOOST_AUTO_TEST_CASE(a_round_cancelled_by_the_operator_is_cancelled_in_the_replay) {
  options two;
  two.core.num_tasks = 2;
  job j{two};
  auto const task = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0));
  j.d.received(j.now, task, join_frame(2, 1));
  j.d.received(j.now, task, barrier_frame(3, 0, "b"));
  BOOST_TEST(!j.d.put_in(j.now, core::round_cancelled{{"b", round_number{2}}, "me"}).ok());
  BOOST_TEST((j.d.put_in(j.now, core::round_cancelled{{"b", round_number{1}}, "me"}).ok()));
  j.d.received(j.now, task, barrier_frame(4, 0, "b"));
  BOOST_TEST((j.d.put_in(j.now, core::round_cancelled{{"b", {}}, "me"}).ok()));
  j.settle();

  check_replay(j, j.d.recording());
  BOOST_TEST(j.d.look(j.now).rounds.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_the_owner_asks_about_missing_tasks_is_replayed) {
  options two;
  two.core.num_tasks = 2;
  two.core.reports_ends = true;
  std::vector<core::stacks_wanted> wanted;
  two.wants_stacks = [&](core::stacks_wanted const& what) { wanted.push_back(what); };
  job j{two};
  auto const task = j.greeted();
  auto const other = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0));
  j.d.received(j.now, other, join_frame(1, 1));
  j.d.received(j.now, task, barrier_frame(2, 0, "b"));
  j.settle();
  j.now += 10s;
  BOOST_TEST((j.d.put_in(j.now, core::why_args{}).ok()));
  BOOST_TEST((j.d.put_in(j.now, core::stacks_args{}).ok()));
  j.settle();
  BOOST_TEST_REQUIRE(wanted.size() == 1u);
  BOOST_TEST((wanted.front().processes.front().task == task_id{1}));
  core::report_stack_args const stack{1, task_id{1}, "load (a.py:3)", "sleeping"};
  BOOST_TEST((j.d.put_in(j.now, stack).ok()));
  BOOST_TEST(!j.d.put_in(j.now, stack).ok());
  j.settle();

  BOOST_TEST(j.d.logic().stacks(j.now).groups.size() == 1u);
  check_replay(j, j.d.recording());
}

BOOST_AUTO_TEST_CASE(a_replay_can_stop_at_any_time) {
  job j;
  auto const task = j.greeted();
  j.now += 5s;
  j.d.received(j.now, task, join_frame(1, 0));
  j.settle();
  auto const recording = j.d.recording();
  replay r{recording};

  while (r.step(5s - 1ns)) {
  }
  BOOST_TEST((r.look().tasks.at(0).state == task_state::never_connected));
  while (r.step(5s)) {
  }
  BOOST_TEST((r.look().tasks.at(0).state == task_state::connected));
}

core::compare_and_set_args swap(std::string key, std::string expected, std::string value) {
  return {std::move(key), std::move(value), std::move(expected)};
}

// The differences that a replay finds, up to this many seconds.
std::string difference(std::string const& recording) {
  replay r{recording};
  while (auto const record = r.step()) {
    if (r.difference().empty()) continue;
    return std::to_string(record->at / 1s) + " s: " + r.difference();
  }
  return "";
}

// The recording with record number `index` of that kind changed.
template <class Change>
std::string changed(std::string const& recording, wire::record_kind kind, int index,
                    Change change) {
  wire::recording_reader reader{recording};
  std::string made;
  wire::append(made, reader.head());
  while (auto one = reader.next()) {
    std::string content{one->content};
    if (one->kind == kind && index-- == 0) change(*one, content);
    one->content = content;
    wire::append(made, *one);
  }
  return made;
}

// A barrier of two tasks, a second after they have joined.
std::string recorded_barrier() {
  options two;
  two.core.num_tasks = 2;
  job j{two};
  auto const one = j.greeted();
  auto const other = j.greeted();
  j.d.received(j.now, one, join_frame(1, 0));
  j.d.received(j.now, other, join_frame(1, 1));
  j.settle();
  j.now += 1s;
  j.d.received(j.now, one, barrier_frame(2, 0, "b") + try_get_frame(3, "k"));
  j.settle();
  j.now += 1s;
  j.d.received(j.now, other, barrier_frame(2, 1, "b"));
  j.settle();
  return j.d.recording();
}

BOOST_AUTO_TEST_CASE(a_differing_message_is_detected_and_named) {
  auto const recording = recorded_barrier();
  BOOST_TEST(difference(recording) == "");
  using wire::record_kind;
  int const release = 4;  // after the two replies to Hello, those to Join and that to TryGet
  auto const with = [&](auto change) {
    return difference(changed(recording, record_kind::sent, release, change));
  };

  BOOST_TEST(with([](wire::record&, std::string& digest) { digest[0] ^= 1; }) ==
             "2 s: one of 2 messages, from the reply OK to request 2 of connection 4294967296 on, "
             "or an event before them is not the recorded one");
  BOOST_TEST(with([](wire::record& sent, std::string&) { --sent.number; }) ==
             "2 s: the reply OK to request 2 of connection 4294967297 is not in the recording");
  BOOST_TEST(with([](wire::record& sent, std::string&) { ++sent.number; }) ==
             "2 s: 1 recorded messages are not sent");
}

BOOST_AUTO_TEST_CASE(a_changed_input_changes_a_message) {
  auto const other_key = changed(
      recorded_barrier(), wire::record_kind::message, 5, [](wire::record&, std::string& content) {
        core::put_args put{"k", "1"};  // the value's placeholder: its length
        content = frame(put, 3).substr(wire::length_bytes);
      });

  BOOST_TEST(difference(other_key) ==
             "1 s: the reply OK to request 3 of connection 4294967296, or an event before it, is "
             "not the recorded one");
}

BOOST_AUTO_TEST_CASE(a_differing_event_is_detected_and_named_regardless_of_text) {
  auto const recording = recorded_barrier();
  auto const with = [&](auto change) {
    return difference(changed(recording, wire::record_kind::event, 1, change));
  };

  BOOST_TEST(with([](wire::record&, std::string& text) { text = "in other words"; }) == "");
  BOOST_TEST(with([](wire::record& event, std::string& text) {
               event.number = 2;
               text = "another";
             }).ends_with("' has another severity than the recorded event 'another'"));
}

BOOST_AUTO_TEST_CASE(messages_after_the_recording_ends_are_not_compared) {
  auto recording = recorded_barrier();
  wire::recording_reader reader{recording};
  std::string cut;
  wire::append(cut, reader.head());
  for (auto one = reader.next(); one->kind != wire::record_kind::sent; one = reader.next()) {
    wire::append(cut, *one);
  }

  replay r{cut};
  while (r.step()) continue;

  BOOST_TEST(r.difference() == "");
  BOOST_TEST(r.compared().messages == 0u);
  BOOST_TEST(r.compared().not_compared == 1u);
}

BOOST_AUTO_TEST_CASE(redacted_values_keep_the_replay_exact) {
  job j;
  auto const one = j.greeted();
  j.ask(one, core::put_args{"a", "poppy-put"});
  j.ask(one, core::put_args{"long", "poppy-" + std::string(100'000, 'x')});
  j.ask(one, core::put_all_args{{{"b", "poppy-b"}, {"c", ""}}});
  j.ask(one, core::append_args{"b", "poppy-appended"});
  j.ask(one, core::push_args{"q", "poppy-pushed"});
  j.ask(one, swap("a", "poppy-other", "poppy-refused-and-longer"));
  j.ask(one, swap("a", "poppy-put", "poppy-swapped"));
  j.ask(one, swap("b", "poppy-bpoppy-appended", "poppy"));
  j.ask(one, swap("nothing", "poppy", "poppy-nothing"));
  j.settle();

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "poppy"));
  BOOST_TEST(recording.size() < 4000u);
  BOOST_TEST(j.d.look(j.now).keys == 4u);
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(values_of_every_size_are_redacted) {
  for (std::size_t const size : {9u, 10u, 11u, 99u, 100u, 101u, 230u, 240u, 250u, 260u, 1000u}) {
    job j;
    auto const one = j.greeted();
    std::string const value(size, 'v');
    core::barrier_args gather{"b"};
    gather.data = value;
    j.d.received(j.now, one, frame(core::put_args{"k", value}, 1));
    j.d.received(j.now, one, frame(core::append_args{"k", value}, 2));
    j.d.received(j.now, one, frame(core::push_args{"q", value}, 3));
    j.d.received(j.now, one, frame(gather, 4));
    j.settle();

    auto const recording = j.d.recording();

    BOOST_TEST(!contains(recording, value));
    check_replay(j, recording);
  }
}

BOOST_AUTO_TEST_CASE(puts_of_a_predecessors_keys_keep_the_replay_exact) {
  options o;
  o.core.recoverable = true;
  job j{o};
  auto const begin = [&j](std::uint64_t self) {
    auto const on = j.greeted();
    core::join_args join;
    join.self = incarnation{self};
    j.d.received(j.now, on, frame(join, 1, task_id{0}));
    j.settle();
    return on;
  };
  std::string const values[] = {"poppy", std::string(300, 'p'), ""};
  std::string const others[] = {"puppy", std::string(300, 'q'), "o"};
  for (std::uint64_t self = 1; self < 4; ++self) {
    auto const on = begin(self);
    std::uint64_t id = 1;
    for (std::size_t i = 0; i < std::size(values); ++i) {
      core::put_args put{"k" + std::to_string(i), others[i]};
      if (self > 1) j.d.received(j.now, on, frame(put, ++id));
      put.value = values[i];
      j.d.received(j.now, on, frame(put, ++id));
      j.d.received(j.now, on, frame(put, ++id));
      put.key = "replaced/" + std::to_string(i);
      put.value = self == 2 ? others[i] : values[i];
      put.replaces_predecessor = true;
      j.d.received(j.now, on, frame(put, ++id));
    }
    j.d.received(j.now, on, frame(core::bye_args{true}, ++id));
    j.settle();
  }

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "poppy"));
  BOOST_TEST(!contains(recording, "puppy"));
  check_replay(j, recording);
}

// The last of two requests in one frame counts, as does the last of two values in one request.
BOOST_AUTO_TEST_CASE(redacted_malformed_frames_keep_the_replay_exact) {
  job j;
  auto const one = j.greeted();
  std::uint64_t id = 0;
  auto const payload = [&id](core::request what) {
    return frame(std::move(what), id).substr(wire::length_bytes);
  };
  auto const receive = [&j, one](std::string const& bytes) {
    std::string whole;
    wire::append_length(whole, bytes.size());
    j.d.received(j.now, one, whole + bytes);
    j.settle();
  };
  core::hello_args hello{.token = "poppy"};
  core::request const hidden[] = {core::put_args{"a", "poppy"},
                                  core::put_all_args{{{"a", "poppy"}}},
                                  core::compare_and_set_args{"a", "poppy", std::string{"poppy"}},
                                  core::grant_args{"poppy-poppy-poppy"}, hello};
  for (auto const& other : hidden) {
    for (core::request const& what :
         {core::request{core::try_get_args{"k"}}, core::request{core::push_args{"q", "v"}},
          core::request{core::inspect_args{}}}) {
      ++id;
      receive(payload(other) + payload(what));
    }
  }
  // Put{key: "k", value: "poppy", value: ""}, and a request of another version.
  receive("\x08\x32\x62\x0c\x0a\x01k\x12\x05poppy\x12\x00"s);
  receive("\x08\x33\xa2\x06\x05poppy"s);

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "poppy"));
  BOOST_TEST(j.d.look(j.now).keys == 1u);
  BOOST_TEST(j.d.look(j.now).queued_items == std::size(hidden));
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(numbers_are_redacted_unless_incremented) {
  job j;
  auto const one = j.greeted();
  j.ask(one, core::put_args{"pin", "8731"});
  j.ask(one, core::put_args{"n", "98"});
  j.ask(one, core::put_args{"text", "9-"});
  j.ask(one, core::increment_args{"/n/", 1});
  j.ask(one, core::increment_args{"n", 1});
  j.ask(one, swap("n", "100", "99999"));
  j.ask(one, core::increment_args{"n", 1});
  j.ask(one, core::increment_args{"n", std::numeric_limits<std::int64_t>::max()});
  j.ask(one, swap("n", "100000", "1"));
  j.ask(one, core::append_args{"n", "9"});
  j.ask(one, core::increment_args{"n", -30});
  j.ask(one, core::increment_args{"text", 1});
  j.ask(one, core::increment_args{"new", 0});
  j.ask(one, core::increment_args{"new", -5});
  j.settle();

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "8731"));
  BOOST_TEST(j.d.logic().value("n")->value.view() == "-11");
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(redacted_barrier_data_keeps_the_replay_exact) {
  options three;
  three.core.num_tasks = 3;
  job j{three};
  auto const one = j.greeted();
  std::uint64_t id = 0;
  auto const ask = [&](core::request what, std::uint32_t task) {
    j.d.received(j.now, one, frame(std::move(what), ++id, task_id{task}));
    j.settle();
  };
  for (std::uint32_t task = 0; task < 3; ++task) j.d.received(j.now, one, join_frame(++id, task));
  auto const round = [&](std::string name, core::reduction how, std::vector<std::string> data) {
    for (std::uint32_t task = 0; task < 3; ++task) {
      core::barrier_args barrier{
          .name = name, .gather = how == core::reduction::none, .data = data[task], .reduce = how};
      ask(barrier, task);
    }
  };
  auto const most = to_little_endian(std::numeric_limits<std::int64_t>::max());
  round("gather", core::reduction::none, {"poppy", "", "poppy-poppy"});
  round("sum", core::reduction::sum_int64, {most, most, most});
  round("or", core::reduction::bit_or, {"poppy-poppy", "poppy-daisy", "poppy-peony"});
  round("equal", core::reduction::all_equal, {"poppy", "poppy", "poppy"});
  round("not equal", core::reduction::all_equal, {"poppy", "poppy", "peony"});
  round("short", core::reduction::all_equal, {"1", "2", "1"});

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "poppy"));
  BOOST_TEST(!contains(recording, "peony"));
  std::vector<errc> outcomes;
  for (auto const& one_round : j.d.look(j.now).rounds) outcomes.push_back(one_round.outcome);
  BOOST_TEST((outcomes == std::vector{errc::ok, errc::out_of_range, errc::ok, errc::ok,
                                      errc::failed_precondition, errc::failed_precondition}));
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(one_byte_operands_stay_distinct) {
  options all;
  all.core.num_tasks = 256;
  job j{all};
  auto const one = j.greeted();
  for (std::uint32_t task = 0; task < 256; ++task) {
    j.d.begin();
    j.d.received(j.now, one, join_frame(task + 1, task));
  }
  for (std::uint32_t task = 0; task < 256; ++task) {
    core::barrier_args barrier{.name = "b",
                               .participants = {task_id{task}},
                               .data = std::string(1, static_cast<char>(task)),
                               .reduce = core::reduction::all_equal};
    barrier.name += std::to_string(task);
    j.d.begin();
    j.d.received(j.now, one, frame(barrier, task + 1000, task_id{task}));
  }
  j.settle();
  std::set<std::string> values;
  core::coordinator const receiver{all.core, incarnation{1}, t0};
  restoration values_of;
  auto const recording = j.d.recording();
  wire::recording_reader reader{recording};
  while (auto const record = reader.next()) {
    if (record->kind != wire::record_kind::message) continue;
    auto message = wire::decode_client(record->content).value();
    values_of.restore(message, receiver);
    auto const* const barrier = std::get_if<core::barrier_args>(&message.what);
    if (barrier) values.insert(barrier->data);
  }

  BOOST_TEST(values.size() == 256u);
}

BOOST_AUTO_TEST_CASE(redacted_session_secrets_keep_the_replay_exact) {
  job j;
  core::session_secret secret{};
  std::copy_n("open-poppy-poppy", secret.size(), secret.begin());
  auto const id = j.d.open(j.now, "10.0.0.1:5", secret);
  j.d.received(j.now, id, hello_frame());
  j.d.received(j.now, id, join_frame(1, 0));
  j.settle();
  auto const resume = [&](core::session_secret with) {
    j.now += 1ms;
    auto const again = j.d.open(j.now, "10.0.0.1:6", core::session_secret{});
    j.d.received(j.now, again, frame(core::resume_args{session_id{1}, with, incarnation{77}, {}}));
    j.settle();
  };
  auto wrong = secret;
  wrong.back() = 'Y';
  resume(wrong);
  resume(secret);
  j.d.lost(j.now, id, core::loss::closed);
  j.now += 10s;
  j.settle();

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "open-"));
  BOOST_TEST((j.d.look(j.now).tasks.at(0).state == task_state::connected));
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(a_refused_request_takes_little_recording_space) {
  std::size_t passed_on = 0;
  options o;
  o.core.memory_bytes_max = 16 * 1024 * 1024;
  o.record = [&](std::string_view bytes) { passed_on += bytes.size(); };
  job j{o};
  auto const one = j.greeted();
  auto const large = std::string(12 * 1024 * 1024, 'x');
  j.d.received(j.now, one, frame(core::put_all_args{{{"a", large}, {"b", large}}}, 1));
  j.settle();

  BOOST_TEST(j.d.look(j.now).keys == 0u);
  BOOST_TEST(passed_on < 10'000u);
  check_replay(j, j.d.recording());
}

BOOST_AUTO_TEST_CASE(redacted_tokens_have_the_same_effect) {
  options o;
  o.core.credentials = {{core::role::reader, "open-poppy"}, {core::role::worker, "open-sesame"}};
  job j{o};
  j.greeted("open-sesame");
  auto const reader = j.greeted("open-poppy");
  j.greeted("open-barley");
  j.d.received(j.now, reader, frame(core::increment_args{"n", 1}, 1));
  j.settle();

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "open-"));
  BOOST_TEST(j.d.look(j.now).sessions == 2u);
  BOOST_TEST(j.d.look(j.now).keys == 0u);
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(redacted_grant_secrets_have_the_same_effect) {
  options o;
  o.core.credentials = {{core::role::worker, "open-sesame"}};
  job j{o};
  auto const say = [&](connection_id from, core::request what, std::uint64_t id) {
    core::client_message message{.id = request_id{id}, .task = task_id{0}, .what = std::move(what)};
    std::string bytes;
    wire::append_frame(bytes, message);
    j.d.received(j.now, from, bytes);
    j.settle();
  };
  auto const host = j.greeted("open-sesame");
  say(host, core::join_args{incarnation{5}}, 1);
  say(host, core::grant_args{"open-poppy-poppy"}, 2);
  for (auto const* secret : {"open-poppy-poppy", "open-poppy-daisy", "open"}) {
    core::hello_args hello{.acts_for = core::guest_args{task_id{0}, secret}};
    say(j.d.open(j.now, "10.0.0.1:5", core::session_secret{}), hello, 0);
  }

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "open-"));
  BOOST_TEST(j.d.look(j.now).sessions == 2u);
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(replaced_tokens_have_the_same_effect) {
  options o;
  o.core.credentials = {{core::role::worker, "open-sesame"}};
  job j{o};
  auto const worker = j.greeted("open-sesame");
  j.now += 1s;
  BOOST_TEST((j.d.put_in(j.now, core::credentials_replaced{{{core::role::reader, "open-poppy"},
                                                            {core::role::worker, "open-rye"}}})
                  .ok()));
  j.greeted("open-sesame");
  auto const reader = j.greeted("open-poppy");
  j.greeted("open-rye");
  j.d.received(j.now, reader, frame(core::increment_args{"read", 1}, 1));
  j.d.received(j.now, worker, frame(core::increment_args{"n", 1}, 1));
  j.settle();

  auto const recording = j.d.recording();

  BOOST_TEST(!contains(recording, "open-"));
  BOOST_TEST(j.d.look(j.now).sessions == 3u);
  BOOST_TEST(j.d.look(j.now).keys == 1u);
  check_replay(j, recording);
}

BOOST_AUTO_TEST_CASE(the_oldest_records_are_dropped_without_room) {
  options o;
  o.record_bytes_max = 200'000;
  job j{o};
  auto const one = j.greeted();
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    j.d.received(j.now, one, frame(core::increment_args{"n", 1}, id, {}, id - 1));
    j.settle();
  }

  auto const recording = j.d.recording();
  replay r{recording};
  std::uint64_t left = 0;
  while (r.step()) ++left;

  BOOST_TEST(recording.size() < 202'000u);
  BOOST_TEST(recording.size() > 130'000u);
  BOOST_TEST(!r.is_whole());
  BOOST_TEST(r.head().lost + left > 10'000u);
  BOOST_TEST(r.look().keys == 0u);
}

BOOST_AUTO_TEST_CASE(time_is_recorded_when_a_deadline_is_due) {
  job j;
  j.greeted();
  j.settle();
  auto const times_reported = [&] {
    auto const recording = j.d.recording();
    wire::recording_reader reader{recording};
    int count = 0;
    while (auto const one = reader.next()) count += one->kind == wire::record_kind::advanced;
    return count;
  };
  auto const before = times_reported();
  auto const due = j.d.next_deadline().value();

  j.d.advance(due - 1ns);
  BOOST_TEST(times_reported() == before);
  j.d.advance(due);
  BOOST_TEST(times_reported() == before + 1);
}

BOOST_AUTO_TEST_CASE(a_complete_recording_is_handed_over) {
  std::string passed_on;
  options o;
  o.record_bytes_max = 0;
  o.record = [&](std::string_view bytes) { passed_on += bytes; };
  job j{o};
  auto const task = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0));
  j.settle();

  replay r{passed_on};
  again(r);

  BOOST_TEST((r.look() == j.d.look(j.now)));
  auto const kept = j.d.recording();
  replay nothing{kept};
  BOOST_TEST(!nothing.step().has_value());
}

BOOST_AUTO_TEST_CASE(a_truncated_recording_returns_what_it_has) {
  job j;
  auto const task = j.greeted();
  j.d.received(j.now, task, join_frame(1, 0));
  j.settle();
  auto const recording = j.d.recording();

  std::size_t steps = 0;
  for (std::size_t size = recording.size(); size > 0; --size) {
    auto const cut = recording.substr(0, size);
    try {
      replay r{cut};
      while (r.step()) ++steps;
    } catch (error const& e) {
      BOOST_TEST((e.code() == errc::invalid_argument));
    }
  }
  BOOST_TEST(steps > 100u);
}

BOOST_AUTO_TEST_CASE(malformed_recordings_are_refused) {
  for (auto const& bytes : {""s, "\0\0\0\1x"s, "\0\0\0\0"s, "\x7f"s}) {
    BOOST_CHECK_EXCEPTION(replay{bytes}, error, [](error const& e) {
      return e.code() == errc::invalid_argument &&
             std::string{e.what()}.find("Not a readable recording") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(invalid_tokens_do_not_replace_the_tokens) {
  std::string bytes;
  wire::append(bytes, wire::recording_head{});
  wire::record wrong{.kind = wire::record_kind::credentials_replaced, .content = "captain token-1"};
  wire::append(bytes, wrong);
  replay r{bytes};

  BOOST_CHECK_THROW(r.step(), error);
}

// Checks that a recording with this text as the value of a Put is refused with these words.
void check_stand_in(std::string text, std::string_view words) {
  job j;
  auto const task = j.greeted();
  auto recording = j.d.recording();
  auto const asked = frame(core::put_args{"key", std::move(text)}, 1);
  wire::record put{.kind = wire::record_kind::message,
                   .connection = task,
                   .content = std::string_view{asked}.substr(wire::length_bytes)};
  wire::append(recording, put);
  replay r{recording};

  BOOST_CHECK_EXCEPTION(again(r), error, [words](error const& e) {
    return e.code() == errc::invalid_argument && contains(e.what(), words);
  });
}

BOOST_AUTO_TEST_CASE(a_replay_refuses_impossible_value_sizes) {
  auto const most = options{}.core.frame_bytes_max();
  check_stand_in(std::to_string(most + 1), "larger than its coordinator took");
}

BOOST_AUTO_TEST_CASE(a_placeholder_in_the_place_of_its_value_is_the_length) {
  for (std::size_t size = 1; size <= 300; ++size) {
    std::string value(size, 'v');

    write_placeholder(value);

    BOOST_TEST(value.find_first_not_of("0123456789") == value.npos);
    BOOST_TEST(std::stoul(value) == size);
  }
}

BOOST_AUTO_TEST_CASE(a_placeholder_without_a_value_is_refused) {
  for (auto const* wrong : {"poppy", "5poppy", "-1"}) check_stand_in(wrong, "stands for none");
}

BOOST_AUTO_TEST_CASE(all_core_options_are_recorded) {
  core::config o{
      .job = "j",
      .num_tasks = 7,
      .attempt = 3,
      .credentials = {{core::role::reader, "secret"}, {core::role::worker, "more, secret"}},
      .heartbeat_timeout = 1234567ns,
      .join_barrier = false,
      .memory_bytes_max = 99};
  auto const written = settings_of(o);

  auto const read = config_of(written);

  BOOST_TEST((settings_of(read) == written));
  BOOST_TEST(
      (read.credentials == std::vector<core::credential>{{core::role::reader, recorded_token(0)},
                                                         {core::role::worker, recorded_token(1)}}));
  BOOST_TEST(read.num_tasks == 7u);
  BOOST_TEST((read.attempt == 3u));
  BOOST_TEST((read.heartbeat_timeout == 1234567ns));
  BOOST_TEST(!read.join_barrier);
  BOOST_CHECK_THROW(static_cast<void>(config_of({{"num_tasks", "many"}})), error);
  BOOST_CHECK_THROW(static_cast<void>(config_of({{"credentials", "captain token-1"}})), error);
  BOOST_CHECK_THROW(static_cast<void>(config_of({{"credentials", "reader"}})), error);
  BOOST_TEST(config_of({{"of a later version", "x"}}).num_tasks == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
