// The snapshot of the job, and which input gives which output.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_look_test)

rows const cases{
    {"the_job_is_done_when_all_tasks_have_joined_and_ended", 2,
     "empty; observer x; observer x2; done -> no; 0/0 joins 1; 0/0 leaves; done -> no; "
     "1/1 joins 2; done -> no; 1/1 leaves; done -> yes",
     config{.join_barrier = false, .leave_barrier = false}},
    {"the_job_is_not_done_during_a_join", 2, "empty; observer first; first/0 joins 1; done -> no"},
    // The log of a job from start to end, line by line.
    {"state_changes_are_logged_as_they_happen", 1,
     "empty; observer x host:1; 0/0 joins 1; log ~ task 0 (host:1) from 10.0.0.0:5000 is joining "
     "(1 of 1 "
     "tasks) ... all 1 tasks have joined; cut 0; log ~ task 0 (host:1) is suspect: its connection "
     "was lost; resume 0; log ~ task 0 (host:1) is back; 0 leaves; log ~ task 0 (host:1) has left "
     "... all tasks have left"},
};

BOOST_AUTO_TEST_CASE(a_new_coordinator_shows_an_empty_job) {
  auto c = cluster::without_clients(2, {.job = "train", .version = "9.9"});
  c.at(3s);

  auto const seen = c.look();

  BOOST_TEST(seen.job == "train");
  BOOST_TEST(seen.version == "9.9");
  BOOST_TEST((seen.coordinator == coordinator_self));
  BOOST_TEST((seen.uptime == 3s));
  BOOST_TEST_REQUIRE(seen.tasks.size() == 2u);
  BOOST_TEST((seen.tasks[1].id == task_id{1}));
  BOOST_TEST((seen.tasks[1].state == task_state::never_connected));
  BOOST_TEST(!seen.tasks[1].last_heard.has_value());
  BOOST_TEST(seen.tasks[1].label == "");
  BOOST_TEST(seen.barriers.empty());
  BOOST_TEST(!seen.error.has_value());
  BOOST_TEST(seen.sessions == 0u);
  BOOST_TEST(seen.memory_bytes == 0u);
  BOOST_TEST(!c.logic().done());
}

BOOST_FIXTURE_TEST_CASE(tasks_are_shown_with_their_address_and_last_sign_of_life, job<2>) {
  c[1].beats = false;
  c.at(40s).lose(1).at(41s);

  auto const seen = c.look();

  BOOST_TEST((seen.tasks[0].last_heard.value() < 34s));
  BOOST_TEST((seen.tasks[1].last_heard == 41s));
  BOOST_TEST(seen.tasks[1].suspect);
  BOOST_TEST(!seen.tasks[0].suspect);
  BOOST_TEST(seen.tasks[1].label == "host1:1001");
  BOOST_TEST(seen.tasks[1].peer == "10.0.0.1:5000");
  BOOST_TEST(seen.tasks[1].self.value == 101u);
}

BOOST_FIXTURE_TEST_CASE(a_dead_task_keeps_its_last_sign_of_life_and_its_error, job<2>) {
  c[0].beats = false;
  c.at(150s);

  auto const seen = c.look();

  BOOST_TEST((seen.tasks[0].state == task_state::failed));
  BOOST_TEST((seen.tasks[0].last_heard == 150s));
  expect_words(seen.tasks[0].error.text(), {"UNAVAILABLE", "no heartbeat from "});
  BOOST_TEST(seen.error->cause.task->value == 0u);
}

BOOST_AUTO_TEST_CASE(relays_are_shown_with_their_clients) {
  auto c = cluster::without_clients(1, {.page_entries_max = 2});
  core::hello_args relay{.label = "b12:77"};
  relay.relay = true;
  c.hello(relay, "10.0.0.1:9");
  c.at(3s);
  c.hello(relay, "10.0.0.2:9");
  c.hello(relay, "10.0.0.3:9");
  auto const reads_nothing = c.hello({}, "10.0.0.2:9 via relay, unix: process 5");
  c.hello({}, "10.0.0.2:9 via relay, unix: process 6");
  c.hello({}, "10.0.0.2:9");

  c.write_blocked(reads_nothing);

  auto const seen = c.look();
  BOOST_TEST_REQUIRE(seen.relays.size() == 2u);
  BOOST_TEST(seen.more_relays == 1u);
  BOOST_TEST((seen.relays[0] == core::snapshot::relay{"b12:77", "10.0.0.1:9", 0, 0, 0s}));
  BOOST_TEST((seen.relays[1] == core::snapshot::relay{"b12:77", "10.0.0.2:9", 2, 1, 3s}));
}

BOOST_AUTO_TEST_CASE(a_snapshot_lists_one_page_of_open_barriers_and_counts_the_rest) {
  cluster c{3, {.page_entries_max = 2}};
  for (auto const* const name : {"a", "b", "c", "d"}) c.barrier(0, name);
  c.count_barrier(1, "e", 2);

  auto const seen = c.look();

  BOOST_TEST(seen.barriers.size() == 2u);
  BOOST_TEST(seen.barriers[0].name == "a");
  BOOST_TEST(seen.barriers[1].missing == "1-2");
  BOOST_TEST(seen.more_barriers == 3u);
}

BOOST_AUTO_TEST_CASE(a_snapshot_examines_a_bounded_number_of_participants) {
  cluster c{3, {.participants_per_picture_max = 12}};
  for (auto const* const name : {"a", "b", "c"}) c.barrier(0, name);
  BOOST_TEST(c.after(c.exchange(1, "cuda", {})).look().barriers.size() == 2u);
  BOOST_TEST(c.look().more_barriers == 2u);
}

BOOST_FIXTURE_TEST_CASE(inspect_returns_the_snapshot_of_look, job<1>) {
  int const o = c.observer();
  c.put(o, "a/b", "12345");
  auto const get = c.get(o, "missing");
  auto const seen = c.inspect(o);

  auto const* const body = c.body<boxed<core::snapshot>>(seen);

  BOOST_TEST_REQUIRE(body != nullptr);
  auto const& s = *body;
  BOOST_TEST(s->keys == 1u);
  BOOST_TEST(s->key_bytes == 5u);
  BOOST_TEST(s->sessions == 2u);
  BOOST_TEST(s->waiting_gets == 1u);
  BOOST_TEST(s->memory_bytes > 5u);
  BOOST_TEST(s->memory_bytes_max == c.logic().memory()->owned_max());
  BOOST_TEST(c.code(get) == "waits");
}

BOOST_FIXTURE_TEST_CASE(the_lateness_of_deadline_replies_is_shown, job<1>) {
  c.get(0, "a", 1s);
  BOOST_TEST(c.at(1s).look().deadlines_answered == 1u);
  BOOST_TEST((c.look().lateness_max == 0ns));
  c.get(0, "b", 100ms);

  BOOST_TEST(c.stall(103ms).look().deadlines_answered == 2u);
  BOOST_TEST((c.look().lateness_max == 3ms));
}

BOOST_FIXTURE_TEST_CASE(cancelled_deadlines_do_not_count_as_late, job<2>) {
  c.cancel(c.barrier(0, "b", 1s));
  c.barrier(0, "b", 5s);
  BOOST_TEST(c.at(2s).look().deadlines_answered == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_snapshot_changes_nothing, job<2>) {
  c.barrier(0, "b", 10s);
  c.at(1s);

  BOOST_TEST((c.look() == c.look()));
  BOOST_TEST((c.logic().look(t0 + 9s) != c.look()));
}

BOOST_FIXTURE_TEST_CASE(a_barrier_counts_as_passed_after_its_first_released_round, job<2>) {
  auto const history = [&] { return c.logic().history(t0 + c.now(), "b"); };
  BOOST_TEST(history().passed.value == 0u);
  BOOST_TEST(history().open.value == 0u);

  c.barrier(0, "b", 10s);
  BOOST_TEST(history().open.value == 1u);
  expect_words(history().missing, {"1 of 2 tasks is missing", "1 (connected", "host1:1001"});
  c.at(10s);
  BOOST_TEST(history().passed.value == 0u);
  c.barrier(1, "b");  // will get the failure

  c.barrier(0, "b");
  c.barrier(1, "b");
  BOOST_TEST(history().passed.value == 2u);
  c.barrier(0, "b");
  BOOST_TEST(history().passed.value == 2u);
  BOOST_TEST(history().open.value == 3u);
}

BOOST_FIXTURE_TEST_CASE(keys_are_shown_from_a_prefix_in_pages, job<1>) {
  for (auto const* const key : {"a/1", "a/2", "ab", "b"}) c.put(0, key, "value");
  auto const names = [&](std::string const& prefix, std::string const& after, std::size_t most) {
    std::string all;
    for (auto const& e : c.logic().keys(prefix, after, most).entries) all += e.key + " ";
    return all;
  };

  BOOST_TEST(names("", "", 9) == "a/1 a/2 ab b ");
  BOOST_TEST(names("a", "", 9) == "a/1 a/2 ab ");
  BOOST_TEST(names("a/", "", 1) == "a/1 ");
  BOOST_TEST(names("a/", "a/1", 9) == "a/2 ");
  BOOST_TEST(names("a", "a/2", 9) == "ab ");
  BOOST_TEST(names("", "b", 9) == "");
  BOOST_TEST(c.logic().keys("", "", 0).version == 4u);
}

BOOST_FIXTURE_TEST_CASE(a_key_is_found_by_any_equivalent_path, job<1>) {
  c.put(0, "a/1", "value");

  BOOST_TEST(c.logic().value("/a//1").value().value.view() == "value");
  BOOST_TEST((c.logic().value("a").error().code() == errc::not_found));
  BOOST_TEST((c.logic().value("/").error().code() == errc::invalid_argument));
}

BOOST_FIXTURE_TEST_CASE(the_operator_can_post_a_preemption_notice, job<2>) {
  auto const now = t0 + c.now();

  BOOST_TEST(c.logic().put_in(now, core::preempt_args{task_id{1}, 0s}).ok());
  BOOST_TEST(c.at(0s).pushed<core::freeze_request>(0).size() == 1u);
  expect_words(c.log(), {"task 1", "will be preempted in 0"});

  BOOST_TEST(
      (c.logic().put_in(now, core::preempt_args{task_id{2}, 0s}).code() == errc::invalid_argument));
  c.task_ended(1, {errc::aborted, "killed"});
  BOOST_TEST((c.logic().put_in(now, core::preempt_args{task_id{0}, 0s}).code() ==
              errc::failed_precondition));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
