// The topology exchange (§13.2.1, §13.2.2 to §13.2.7).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

// A task's devices, by their ordinals, on the machine.
core::local_topology host(std::string boot_id, std::vector<std::int32_t> ordinals) {
  core::local_topology made;
  made.boot_id = std::move(boot_id);
  made.devices.resize(ordinals.size());
  for (std::size_t i = 0; i < ordinals.size(); ++i) made.devices[i].ordinal = ordinals[i];
  return made;
}

// "a 0=0 707=1; b 0=2": the global id of each task's devices by ordinal; else the outcome of the
// call.
std::string ids(cluster const& c, call of) {
  auto const* const whole = c.body<core::global_topology>(of);
  if (!whole) return c.code(of);
  std::string text;
  for (auto const& task : whole->tasks) {
    text += (text.empty() ? "" : "; ") + task.boot_id;
    for (auto const& d : task.devices) {
      text += " " + std::to_string(d.ordinal) + "=" + std::to_string(d.global_id);
    }
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coordinator_topology)

rows const cases{
    {"a_replaced_call_leaves_its_deadline_behind", 2,
     "0 brings gpu a 1 10s; newer = 0 brings gpu a 1 60s; at 20s; newer -> waits"},
    {"a_timeout_of_zero_asks_whether_all_have_come", 2,
     "asked = 0 brings gpu a 1 0s; pass 0s; asked -> DEADLINE_EXCEEDED"},
    {"an_exchange_is_not_logged_if_nobody_wants_to_know", 2,
     "0 brings gpu a 1; log; at 60s; log ->", config{.waiting_log_period = 0s}},
    {"a_barrier_names_who_waits_in_an_exchange_instead", 2,
     "1 brings gpu b 1; late = 0 barrier epoch 10s; at 10s; "
     "late ~ 1 (connected ... waits for topology exchange 'gpu'"},
    {"a_failed_task_ends_an_exchange_with_the_cause", 2,
     "waiting = 0 brings gpu a 1; 1 reports boom DATA_LOSS; waiting -> INTERNAL; "
     "waiting ~ 'gpu' failed ... task 1 ... boom ... 1 of 2 tasks"},
    {"after_a_job_error_nothing_is_exchanged_nor_kept", 2,
     "0 brings gpu a 1; 1 brings gpu b 1; 1 reports boom; again = 0 brings gpu a 1; "
     "again -> FAILED_PRECONDITION; again ~ the job has failed ... boom"},
    {"when_all_have_left_no_topology_is_kept", 2,
     "0 brings gpu a 1; 1 brings gpu b 1; 0 leaves; 1 leaves; pass 60s; memory -> 0"},
    {"a_stop_ends_an_exchange", 2, "waiting = 0 brings gpu a 1; stop; waiting -> ABORTED"},
    {"a_cancelled_topology_does_not_count", 2,
     "gone = 0 brings gpu a 1; cancel gone; barriers -> 0; 1 brings gpu b 1 -> waits"},
    {"only_tasks_exchange_topologies", 1, "observer x; x brings gpu a 1 -> FAILED_PRECONDITION"},
};

BOOST_FIXTURE_TEST_CASE(exchange_topology_gives_all_the_same_answer, job<2>) {
  auto const second = c.exchange(1, "gpu", host("b", {0, 1}));
  BOOST_TEST(c.code(second) == "waits");

  auto const first = c.exchange(0, "gpu", host("a", {0, 1}));

  BOOST_TEST(ids(c, first) == "a 0=0 1=1; b 0=2 1=3");
  BOOST_TEST(c.answer_to(first) == c.answer_to(second));
  expect_words(c.log(), {"topology exchange 'gpu' is complete"});
}

BOOST_AUTO_TEST_CASE(
    enumerate_eleven_devices_of_two_boot_ids_numbers_one_partition_after_the_other) {
  cluster c{11};
  std::optional<call> last;
  for (int const task : {10, 2, 1, 9, 0, 3, 5, 4, 8, 6, 7}) {
    last = c.exchange(task, "gpu", host(task % 2 == 0 ? "even" : "odd", {0}));
  }

  auto const* const whole = c.body<core::global_topology>(*last);
  BOOST_TEST_REQUIRE(whole != nullptr);
  std::string ids;
  std::string partitions;
  for (auto const& task : whole->tasks) {
    ids += std::to_string(task.devices.at(0).global_id) + " ";
    partitions += std::to_string(task.devices.at(0).partition);
  }
  BOOST_TEST(ids == "0 6 1 7 2 8 3 9 4 10 5 ");
  BOOST_TEST(partitions == "01010101010");
}

BOOST_AUTO_TEST_CASE(list_cluster_devices_tf_device_by_exchange_topology_is_in_task_order) {
  cluster c{3};
  c.exchange(2, "cpu", host("c", {0}));
  c.exchange(0, "cpu", host("a", {0, 0}));
  auto const last = c.exchange(1, "cpu", host("b", {707}));
  BOOST_TEST(ids(c, last) == "a 0=0 0=1; b 707=2; c 0=3");
}

BOOST_FIXTURE_TEST_CASE(list_cluster_devices_xla_device_by_exchange_topology_assigns_ids, job<3>) {
  c.exchange(1, "tpu", host("b", {0}));
  c.exchange(0, "tpu", host("a", {0}));
  auto const last = c.exchange(2, "tpu", host("c", {0, 1}));
  BOOST_TEST(ids(c, last) == "a 0=0; b 0=1; c 0=2 1=3");
}

BOOST_AUTO_TEST_CASE(list_cluster_devices_devices_are_not_added_twice_by_exchange_topology) {
  cluster c{2};
  auto const older = c.exchange(0, "gpu", host("a", {0}));
  auto const newer = c.exchange(0, "gpu", host("a", {0}));
  BOOST_TEST(c.code(older) == "CANCELLED");
  expect_words(c.text(older), {"replaced by a newer request of the same task"});

  c.exchange(1, "gpu", host("b", {0}));

  BOOST_TEST(ids(c, newer) == "a 0=0; b 0=1");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_waits_may_not_bring_something_else, job<2>) {
  auto const first = c.exchange(0, "gpu", host("a", {0}));

  auto const changed = c.exchange(0, "gpu", host("a", {1}));

  BOOST_TEST(c.code(changed) == "INTERNAL");
  expect_words(c.text(changed), {"'gpu'", "task 0", "passed a different topology before",
                                 "device 0: the ordinal changed from 0 to 1"});
  BOOST_TEST(c.code(first) == "waits");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_exchange_is_answered_at_once_for_task_0_too, job<2>) {
  c.keep_coordinator();
  auto const first = c.exchange(0, "gpu", host("a", {0}));
  c.exchange(1, "gpu", host("b", {0}));

  auto const again = c.exchange(0, "gpu", host("a", {0}));
  auto const changed = c.exchange(1, "gpu", host("c", {0}));

  BOOST_TEST(c.answer_to(again) == c.answer_to(first));
  BOOST_TEST(c.code(changed) == "INTERNAL");
  expect_words(c.text(changed), {"task 1", "its boot id changed from 'b' to 'c'"});
}

BOOST_FIXTURE_TEST_CASE(who_brings_what_it_was_given_brings_the_same, job<1>) {
  auto const first = c.exchange(0, "gpu", host("a", {0, 1}));
  auto const given = c.body<core::global_topology>(first)->tasks[0];
  BOOST_TEST(ids(c, c.exchange(0, "gpu", given)) == "a 0=0 1=1");
}

BOOST_FIXTURE_TEST_CASE(platforms_do_not_meet, job<2>) {
  auto const gpu = c.exchange(0, "gpu", host("a", {0}));
  auto const cpu = c.exchange(1, "cpu", host("b", {0}));
  BOOST_TEST(c.code(gpu, cpu) == "waits waits");

  c.exchange(0, "cpu", host("a", {5}));

  BOOST_TEST(ids(c, cpu) == "a 5=0; b 0=1");
  BOOST_TEST(c.code(gpu) == "waits");
}

BOOST_FIXTURE_TEST_CASE(mixed_partition_indices_are_reported_to_all_who_may_then_try_again,
                        job<2>) {
  auto stated = host("a", {0});
  stated.partition_index = 0;
  auto const first = c.exchange(0, "gpu", stated);
  auto const second = c.exchange(1, "gpu", host("b", {0}));
  BOOST_TEST(c.code(first, second) == "INVALID_ARGUMENT INVALID_ARGUMENT");
  expect_words(c.text(first), {"'gpu'", "with one: 0; without: 1"});

  auto const again = c.exchange(0, "gpu", host("a", {0}));
  c.exchange(1, "gpu", host("b", {0}));
  BOOST_TEST(ids(c, again) == "a 0=0; b 0=1");
}

BOOST_FIXTURE_TEST_CASE(an_exchange_that_is_late_says_who_is_missing, job<4>) {
  c.exchange(1, "gpu", host("b", {0}));
  auto const late = c.exchange(0, "gpu", host("a", {0}), 30s);
  c.barrier(2, "epoch");
  BOOST_TEST(c.at(30s - 1ns).code(late) == "waits");

  BOOST_TEST(c.at(30s).code(late) == "DEADLINE_EXCEEDED");
  expect_words(c.text(late),
               {"topology exchange 'gpu' timed out for task 0", "after 30 s",
                "2 of 4 tasks are missing", "2 (connected", "waits for barrier 'epoch'", "3 ("});
  BOOST_TEST(c.body<barrier_failure>(late)->missing == "2-3");
  BOOST_TEST(c.body<barrier_failure>(late)->arrived == 2u);
}

BOOST_FIXTURE_TEST_CASE(only_the_caller_whose_time_is_over_is_taken_back, job<2>) {
  c.exchange(0, "gpu", host("a", {0}), 10s);
  c.at(5s);
  auto const second = c.exchange(0, "cpu", host("a", {0}), 60s);
  BOOST_TEST(c.at(20s).look().barriers.size() == 1u);
  BOOST_TEST(c.code(c.exchange(1, "gpu", host("b", {0}))) == "waits");
  BOOST_TEST(c.code(second) == "waits");

  auto const moved = c.exchange(0, "gpu", host("elsewhere", {0}));

  BOOST_TEST(ids(c, moved) == "elsewhere 0=0; b 0=1");
}

BOOST_FIXTURE_TEST_CASE(an_exchange_that_waits_is_seen, job<3>) {
  c.exchange(1, "gpu", host("b", {0}), 30s);
  c.at(10s);

  auto const seen = c.look().barriers;

  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST((seen[0].what == core::snapshot::kind::topology));
  BOOST_TEST(seen[0].name == "gpu");
  BOOST_TEST(seen[0].missing == "0,2");
  BOOST_TEST((seen[0].age == 10s));
  BOOST_TEST((seen[0].remaining == 20s));
}

BOOST_FIXTURE_TEST_CASE(an_exchange_that_waits_for_long_is_logged, job<2>) {
  c.exchange(0, "gpu", host("a", {0}));
  c.at(4s);
  c.exchange(1, "cpu", host("b", {0}));
  (void)c.log();
  c.at(10s - 1ns);
  BOOST_TEST(!contains(c.log(), "has waited"));

  c.at(10s);
  auto const first = c.log();
  c.at(20s);
  auto const second = c.log();
  c.exchange(0, "cpu", host("a", {0}));
  c.exchange(1, "gpu", host("b", {0}));
  (void)c.log();
  c.at(60s);

  expect_words(first, {"'gpu' has waited for 10 s: 1 of 2 tasks is missing: 1"});
  BOOST_TEST(!contains(first, "'cpu' has waited"));
  expect_words(second, {"'cpu' has waited for 16 s", "'gpu' has waited for 20 s"});
  BOOST_TEST(!contains(c.log(), "has waited"));
}

BOOST_AUTO_TEST_CASE(who_leaves_ends_an_exchange_and_no_other_can_be_opened) {
  cluster c{2, {.leave_barrier = false}};
  c.exchange(0, "cpu", host("a", {0}));
  c.exchange(1, "cpu", host("b", {0}));
  auto const mine = c.exchange(1, "gpu", host("b", {0}));
  auto const other = c.exchange(0, "tpu", host("a", {0}));

  BOOST_TEST(c.after(c.leave(1)).code(mine) == "INTERNAL");
  BOOST_TEST(c.code(other) == "INTERNAL");
  expect_words(c.text(other), {"'tpu' failed", "task 1", "left"});
  auto const next = c.exchange(0, "gpu", host("a", {0}));
  BOOST_TEST(c.code(next) == "INTERNAL");
  expect_words(c.text(next), {"cannot be completed", "task 1", "has left"});
  BOOST_TEST(ids(c, c.exchange(0, "cpu", host("a", {0}))) == "a 0=0; b 0=1");
}

BOOST_FIXTURE_TEST_CASE(an_exchange_outlives_a_connection, job<2>) {
  c.keep_coordinator();
  auto const first = c.exchange(0, "gpu", host("a", {0}));
  c.blink(0);
  c[1].deaf = true;
  auto const second = c.exchange(1, "gpu", host("b", {0}));
  BOOST_TEST(ids(c, first) == "a 0=0; b 0=1");
  BOOST_TEST(c.code(second) == "waits");

  c[1].deaf = false;
  c.blink(1);

  BOOST_TEST(c.answer_to(second) == c.answer_to(first));
}

BOOST_FIXTURE_TEST_CASE(another_session_of_a_task_takes_its_topology_along, job<2>) {
  auto const older = c.exchange(0, "gpu", host("a", {0}));
  int const moved = c.observer();
  BOOST_TEST(c.after(c.join({moved, 0}, 100)).code(older) == "ABORTED");
  auto const second = c.exchange(1, "gpu", host("b", {0}));

  c.exchange({moved, 0}, "gpu", host("a", {0}));

  BOOST_TEST(ids(c, second) == "a 0=0; b 0=1");
}

BOOST_AUTO_TEST_CASE(a_platform_needs_a_proper_name) {
  cluster c{1, {.key_bytes_max = 10}};
  BOOST_TEST(c.code(c.exchange(0, "", {})) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.exchange(0, "\xff", {})) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.exchange(0, std::string("g\0u", 3), {})) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.exchange(0, std::string(10, 'g'), {})) == "OK");
  auto const refused = c.exchange(0, std::string(11, 'g'), {});
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"11 bytes", "key_bytes_max is 10"});
}

BOOST_AUTO_TEST_CASE(platforms_are_limited) {
  cluster c{1, {.topology_platforms_max = 2}};
  c.exchange(0, "a", {});
  c.exchange(0, "b", {});
  auto const refused = c.exchange(0, "c", {});
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"too many platforms", "topology_platforms_max is 2"});
  BOOST_TEST(c.code(c.exchange(0, "a", {})) == "OK");
}

BOOST_FIXTURE_TEST_CASE(devices_of_a_task_are_limited, job<1>) {
  core::local_topology mine;
  mine.devices.resize(core::topology_devices_max);
  BOOST_TEST(c.code(c.exchange(0, "gpu", mine)) == "OK");
  mine.devices.emplace_back();
  auto const refused = c.exchange(0, "cpu", mine);
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"too many devices", "topology_devices_max is 65536"});
}

BOOST_FIXTURE_TEST_CASE(topologies_are_counted_as_memory_until_the_end, job<2>) {
  auto const before = c.look().memory_bytes;
  auto large = host("a", {0});
  large.devices[0].debug_text.assign(100'000, 't');
  c.exchange(0, "gpu", large);
  BOOST_TEST(c.after(c.exchange(1, "gpu", host("b", {0}))).look().memory_bytes > before + 100'000);
  BOOST_TEST(c.look().memory_bytes < before + 110'000);
}

BOOST_AUTO_TEST_CASE(a_topology_for_which_there_is_no_room_is_refused_alone) {
  cluster c{2, {.memory_bytes_max = 64'000}};
  auto const waiting = c.exchange(1, "gpu", host("b", {0}));
  auto large = host("a", {0});
  large.devices[0].debug_text.assign(60'000, 't');

  auto const refused = c.exchange(0, "gpu", large);

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"'gpu'", "no room", "memory_bytes_max is 64000"});
  BOOST_TEST(c.code(waiting) == "waits");
}

BOOST_AUTO_TEST_CASE(topologies_that_make_no_frame_together_are_refused) {
  cluster c{2, {.value_bytes_max = 1'000}};
  auto large = host("a", {0});
  large.devices[0].debug_text.assign(40'000, 't');
  auto const waiting = c.exchange(0, "gpu", large);

  auto const refused = c.exchange(1, "gpu", large);

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"with this topology it has", "frame_bytes_max is 66536"});
  BOOST_TEST(c.code(waiting) == "waits");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
