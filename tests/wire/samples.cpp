#include "tests/wire/samples.hpp"

#include "coxswain/wire/frame.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::test {
namespace {

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

core::session_secret secret() {
  core::session_secret made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint8_t>(0xf8 + i);
  return made;
}

core::barrier_args barrier() {
  return {.name = "epoch-7",
          .timeout = 1500ms,
          .participants = {task_id{0}, task_id{3}, task_id{4'000'000'000}},
          .gather = true,
          .data = std::string{"\0\xff data", 7},
          .progress_every = 10s,
          .fail_when_lost = true};
}

core::hello_args relay() {
  core::hello_args made{2, "training", {}, "password", "b12:77"};
  made.relay = true;
  return made;
}

core::hello_args task_of_64() {
  core::hello_args made{2, "training", {}, {}, "b12:3391"};
  made.num_tasks = 64;
  return made;
}

core::hello_args supervisor() {
  core::hello_args made{2, "training", {}, {}, "b12:3391"};
  made.supervises = task_id{0};
  return made;
}

core::hello_args guest() {
  core::hello_args made{1, "training", {}, {}, "b12:3392"};
  made.acts_for = core::guest_args{task_id{4'000'000'000}, std::string{"sixteen bytes \0\xff", 16}};
  return made;
}

core::barrier_args reduction(core::reduction how) {
  return {.name = "loss", .data = std::string{"\x01\0\0\0\0\0\0\xff", 8}, .reduce = how};
}

core::hello_answer hello_reply() {
  return {.coordinator = incarnation{0x8123456789abcdef},
          .version = "1.2.3",
          .session = session_id{largest},
          .secret = secret(),
          .num_tasks = 4096,
          .heartbeat_period = 10s,
          .heartbeat_timeout = 100s,
          .reconnect_grace = 2s,
          .frame_bytes_max = 1'073'807'360,
          .value_bytes_max = 1'073'741'824,
          .key_bytes_max = 4096,
          .open_requests_max = 4097,
          .open_requests_max_per_task = 16,
          .given = core::role::operator_,
          .coordinator_return = 30s,
          .restart_grace = 15s,
          .hosted_by_task = 0,
          .term = largest,
          .relayed = true,
          .suspect_after = 5s};
}

barrier_failure failed_barrier() {
  barrier_failure made{.round = round_number{3},
                       .arrived = 61,
                       .expected = 64,
                       .missing = "3,17-18",
                       .missing_cut = 2};
  made.known.resize(2);
  made.known[0].task = task_id{3};
  made.known[0].state = task_state::connected;
  made.known[0].suspect = true;
  made.known[0].last_heard = 1234ms;
  made.known[0].label = "b12:3391";
  made.known[0].waits_for = "key 'Zürich/3'";
  made.known[0].step = 0;
  made.known[1].task = task_id{17};
  return made;
}

job_error failed_job() {
  job_error made{.cause = {task_id{0}, status{errc::internal, "Task 0 died."}, true}};
  made.later = {{task_id{9}, status{errc::unavailable, "Task 9 is gone."}},
                {std::nullopt, status{errc::data_loss, "The disk is full."}}};
  made.later_count = 10'000;
  return made;
}

core::snapshot::barrier open_barrier() {
  return {.name = "start\xff",
          .what = core::snapshot::kind::leave,
          .round = round_number{5},
          .arrived = 1,
          .expected = 3,
          .missing = "1,3",
          .missing_cut = 4,
          .age = 17s,
          .remaining = 13s};
}

core::snapshot::finished_round finished_round() {
  return {.number = largest,
          .name = "step\xff",
          .round = round_number{12},
          .at = 1h,
          .tasks = 8,
          .outcome = errc::aborted,
          .spread = 1500us,
          .lag = 7us,
          .last_task = task_id{0}};
}

core::snapshot whole_job() {
  core::snapshot made{.job = "training",
                      .coordinator = incarnation{largest},
                      .version = "1.2.3",
                      .uptime = 1h,
                      .next_task = task_id{1'000}};
  made.tasks.resize(2);
  made.tasks[0].id = task_id{1};
  made.tasks[0].state = task_state::failed;
  made.tasks[0].suspect = true;
  made.tasks[0].self = incarnation{7};
  made.tasks[0].last_heard = 0ms;
  made.tasks[0].label = "b12:3391";
  made.tasks[0].peer = "10.0.0.12:41234";
  made.tasks[0].error = status{errc::aborted, "replaced"};
  made.tasks[0].recoverable = true;
  made.tasks[0].progress = {largest, 60s, true};
  made.tasks[0].returns_by = wall_time{1'795'441'987'212, -3600};
  made.barriers = {open_barrier(), {}};
  made.more_barriers = 18;
  made.error = failed_job();
  made.keys = 1;
  made.key_bytes = 2;
  made.sessions = 3;
  made.waiting_gets = 4;
  made.memory_bytes = 5;
  made.memory_bytes_max = 6;
  made.lateness_p99 = 7us;
  made.lateness_max = 8us;
  made.deadlines_answered = largest;
  made.queued_items = 9;
  made.waiting_pops = 10;
  made.waiting_key_watches = 11;
  made.leased_items = 15;
  made.leases = {{"work", largest, 3, "task 1 (b17:3391)", 3s, 4s}, {}};
  made.locks_held = 13;
  made.waiting_locks = 14;
  made.stuck_tasks = 12;
  made.rounds = {finished_round(), {}};
  made.stragglers = {{task_id{3}, 17, 400us, 3s, 200}, {}};
  made.leader = {"a:8476", 3, 2, 4'096, 20ms};
  made.spares = {{"b17/0", "b17:3391", "10.0.0.3:9", 3s, true}, {}};
  made.spares_waiting = 40;
  made.relays = {{"b17:3391", "10.0.0.3:9", 8, 1, 3s}, {}};
  made.more_relays = 2;
  made.elastic = core::snapshot::elastic_state{7, 2, 5, 4, "task 2 failed", true, 3, 8s};
  return made;
}

core::tasks_answer all_tasks() {
  core::tasks_answer made{.version = largest, .tasks = whole_job().tasks};
  made.tasks[0].last_heard.reset();
  return made;
}

core::events_answer some_events() {
  core::events_answer made;
  core::event const told{core::severity::error, "task 3 failed: Zürich is silent",
                         core::event_kind::failed, task_id{3}, "epoch\xff"};
  made.entries = {{7, 1234ms, told}, {largest, 0ms, {}}};
  made.entries[1].what.kind = core::event_kind::unstuck;
  made.entries[1].time = {1'795'438'987'212, -12'600};
  made.entries[1].first = 9;
  made.entries[1].count = 10'000;
  made.entries[1].first_at = 17ms;
  made.entries[1].tasks = "3,17-24";
  made.entries[1].tasks_cut = 5;
  made.through = largest;
  made.lost = 6;
  return made;
}

core::why_answer all_waits() {
  core::why_answer made;
  made.waits.resize(2);
  core::why_answer::wait& w = made.waits[0];
  w.what = core::why_answer::kind::pop;
  w.name = "start\xff";
  w.waiting = "0-2,9";
  w.cut = 3;
  w.others = 4;
  w.missing = failed_barrier();
  w.age = 5s;
  w.remaining = 0s;
  w.stuck = true;
  made.more = largest;
  made.stuck = "tasks 0-2 can never go on: Zürich";
  return made;
}

core::local_topology local_topology() {
  core::local_topology made;
  made.boot_id = "6c8a";
  made.network_nodes = {"spine", "", "rack-7"};
  made.devices.resize(2);
  core::device& d = made.devices[0];
  d.ordinal = -1;
  d.name = "GPU 0";
  d.vendor = "Zürich Semiconductor";
  d.kind = "H9";
  d.compute_capability = "9.0";
  d.core_count = 132;
  d.numa_node = 0;
  d.fabric_uuid = "f0";
  d.memory_bytes = largest;
  d.shared_memory_per_block_bytes = 232'448;
  d.text = "H9 0";
  d.debug_text = "H9 0, slot 3";
  d.attributes = {{"slot", "3"},
                  {"shared", true},
                  {"clock", std::numeric_limits<std::int64_t>::min()},
                  {"coords", std::vector<std::int64_t>{0, -1, 1 << 20}},
                  {"watts", 0.5F}};
  d.partition = 3;
  d.global_id = 4'000'000'000;
  made.partition_index = 0;
  return made;
}

template <class... Samples, class... Args>
constexpr bool are_of_each(std::type_identity<std::variant<std::monostate, Args...>>) {
  auto const is_there = []<class One>(std::type_identity<One>) {
    return (std::is_same_v<One, Samples> || ...);
  };
  return (is_there(std::type_identity<Args>{}) && ...);
}

// A heartbeat and these. A kind of request without a sample does not compile.
template <class... Samples>
std::vector<core::client_message> messages(Samples... samples) {
  static_assert(are_of_each<Samples...>(std::type_identity<core::request>{}));
  std::vector<core::client_message> made;
  made.reserve(1 + sizeof...(samples));
  made.emplace_back().answered_through = largest;
  (made.push_back({request_id{300 + made.size()}, 7, task_id{2}, std::move(samples)}), ...);
  return made;
}

template <class Value>
void add(std::vector<wire::server_message>& to, status outcome, Value value) {
  wire::server_message message;
  message.id = request_id{300 + to.size()};
  message.what.outcome = std::move(outcome);
  message.what.value = std::move(value);
  to.push_back(std::move(message));
}

std::string without_length(std::string frame) { return frame.erase(0, wire::length_bytes); }

}  // namespace

std::vector<core::client_message> sample_requests() {
  auto made = messages(
      core::hello_args{2, "training", 3, "password", "b12:3391"}, task_of_64(), supervisor(),
      guest(), relay(),
      core::resume_args{session_id{1},
                        secret(),
                        incarnation{2},
                        {request_id{5}, request_id{largest}},
                        largest,
                        7},
      core::bye_args{true}, core::cancel_args{request_id{largest}},
      core::ask_waiting_args{request_id{largest}}, core::join_args{incarnation{largest}, 30s},
      core::join_args{.self = incarnation{1}, .timeout = 30s, .with_hello = true},
      core::join_args{.self = incarnation{1}, .timeout = 30s, .is_jax = true},
      core::join_args{incarnation{1}, 30s, false, true},
      core::join_args{incarnation{2}, 30s, true, false},
      core::join_args{incarnation{3}, without_limit, true, false, true, "b17/0", {"pod", "b17"}},
      core::leave_args{31s, true},
      core::report_error_args{status{errc::data_loss, "The disk is full."}}, barrier(),
      core::barrier_args{.name = "jax", .of_jax_tasks = true},
      reduction(core::reduction::sum_int64), reduction(core::reduction::all_equal),
      core::cancel_barrier_args{"epoch-7", round_number{3}},
      core::count_barrier_args{"observers", 5, 32s},
      core::put_args{"addr/3", std::string{"10.0.0.3\0\xff", 10}, true, true, true},
      core::put_args{"program", std::string(5000, 'p'), true, true, true},
      core::get_args{"addr/3", 33s}, core::try_get_args{"addr/3"}, core::list_args{"addr"},
      core::list_args{"addr", "addr/7", largest}, core::remove_args{"addr"},
      core::increment_args{"steps", std::numeric_limits<std::int64_t>::min()},
      core::remove_tree_args{"addr", true, "addr/7"}, core::inspect_args{},
      core::inspect_args{task_id{1'000}}, core::preempt_args{task_id{3}, 10min},
      core::frozen_args{2, largest}, core::frozen_args{3, 0, true},
      core::reset_args{incarnation{largest}},
      core::compare_and_set_args{"lock", "mine", core::absent_value{}, true},
      core::compare_and_set_args{"lock", "mine", std::uint64_t{largest}, false},
      core::compare_and_set_args{"lock", "mine", std::string{"\0\xff", 2}, false},
      core::compare_and_set_args{"lock", "mine", std::monostate{}, false},
      core::append_args{"log", std::string{"line\0\xff", 6}},
      core::get_all_args{{"addr/0", "", "addr/1"}, 34s}, core::get_all_args{{"addr/0"}, 34s, true},
      core::put_all_args{{{"addr/0", "a"}, {"addr/1", ""}}, true}, core::count_keys_args{"addr"},
      core::count_keys_args{"work", true}, core::push_args{"work", std::string{"item\0\xff", 6}},
      core::pop_args{"work", 35s}, core::watch_keys_args{"addr", largest, 36s},
      core::watch_keys_args{"", std::nullopt, without_limit},
      core::alive_args{{task_id{3}, task_id{4'000'000'000}}, 34s},
      core::watch_tasks_args{largest, 35s},
      core::watch_events_args{largest, core::severity::error, without_limit, 200},
      core::exchange_topology_args{"gpu\xff", local_topology(), 34s},
      core::report_progress_args{largest}, core::why_args{},
      core::grant_args{std::string{"sixteen bytes \0\xff", 16}}, core::lock_args{"ckpt", 37s},
      core::try_lock_args{"ckpt"}, core::unlock_args{"ckpt", largest},
      core::next_epoch_args{38s, largest, true}, core::epoch_members_args{},
      core::epoch_members_args{task_id{4'000'000'000}}, core::take_args{"work", 35s, 36s},
      core::take_args{"work", 35s, without_limit},
      core::update_lease_args{largest, 4'000'000'000, core::lease_change::finish},
      core::update_lease_args{1, 0, core::lease_change::extend, 37s},
      core::resize_args{4'000'000'000});
  auto in_epoch = made;
  for (auto& one : in_epoch) {
    one.epoch = largest;
    made.push_back(std::move(one));
  }
  return made;
}

std::vector<wire::server_message> sample_answers() {
  std::vector<wire::server_message> made;
  add(made, {}, std::monostate{});
  add(made, status{errc::not_found, "There is no key 'a'."}, std::monostate{});
  add(made, {}, hello_reply());
  add(made, {}, core::resume_answer{{request_id{5}, request_id{largest}}, 3, 5s});
  add(made, {}, core::join_answer{true});
  add(made, {}, core::join_answer{true, task_id{3}});
  core::epoch_answer const epoch{7, 3, task_id{2}, "10.0.0.3:8476", 1, 2};
  add(made, {}, core::join_answer{true, task_id{2}, epoch});
  add(made, {}, epoch);
  add(made, {},
      core::epoch_members_answer{
          7, {{"b17/0", incarnation{largest}, "b17:9", "10.0.0.3:1", true}, {}}});
  add(made, {}, core::epoch_members_answer{largest, {{}}, task_id{4'000'000'000}});
  add(made, {},
      core::epoch_ends{7, core::epoch_ends::cause::asked, "task 2 has called next_epoch", 3});
  add(made, {}, core::barrier_answer{round_number{3}, {bytes{"\xff"}, bytes{}, bytes{"c"}}});
  add(made, status{errc::deadline_exceeded, "Barrier timed out."}, failed_barrier());
  add(made, {}, core::value_answer{bytes{std::string{"10.0.0.3\0\xff", 10}}, 4});
  add(made, {}, core::value_answer{bytes{"item"}, largest, 4'000'000'000});
  add(made, {}, core::value_answer{bytes{std::string(5000, 'p')}, largest});
  add(made, {}, core::counter_answer{std::numeric_limits<std::int64_t>::min(), 5});
  add(made, {}, core::removed_answer{6});
  add(made, {}, core::removed_answer{1'000, "addr/7"});
  add(made, {}, core::listing_answer{{{"a/b", bytes{"1"}, 7}, {"a/c", bytes{}, 8}}, largest});
  add(made, {}, core::listing_answer{{{"a/b", bytes{"1"}, 7}}, 7, true});
  add(made, {}, whole_job());
  add(made, {}, core::goodbye{status{errc::unavailable, "The coordinator stops."}, true});
  add(made, {}, core::goodbye{status{errc::aborted, "It was restarted."}, false, true});
  add(made, {}, core::goodbye{status{errc::unavailable, "Not yet."}, true, false, "b:8476"});
  add(made, {}, failed_job());
  add(made, {}, core::waiting{request_id{9}, "1 of 2 tasks is missing: 1 (connected)"});
  add(made, {}, core::barrier_progress{request_id{9}, round_number{3}, 61, 64, "3,17-18", 2});
  add(made, {}, core::probe{});
  add(made, {}, core::freeze_request{largest, 7ms});
  add(made, {}, core::sync_point{2, largest});
  add(made, {}, core::stored_answer{largest});
  add(made, {}, core::count_answer{largest});
  add(made, {},
      core::key_changes_answer{
          {{"a/b", 7, bytes{"1"}}, {"a/b", 8, std::nullopt}, {"a/c", 9, bytes{}}}, largest});
  add(made, status{errc::out_of_range, "too old"}, core::key_changes_answer{{}, 10});
  add(made, {}, core::alive_answer{{{task_id{0}, incarnation{largest}}, {task_id{3}, {}}}});
  add(made, {}, all_tasks());
  add(made, {}, some_events());
  add(made, {}, core::global_topology{{local_topology(), {}}});
  add(made, {}, all_waits());
  return made;
}

std::string payload_of(core::client_message const& message) {
  std::string frame;
  wire::append_frame(frame, message);
  return without_length(std::move(frame));
}

std::string payload_of(wire::server_message const& message) {
  auto const body = wire::encode(message.what);
  std::string frame;
  wire::append_server_head(frame, message.id, body.size());
  frame.append(body.head).append(body.tail.view());
  return without_length(std::move(frame));
}

}  // namespace coxswain::test
