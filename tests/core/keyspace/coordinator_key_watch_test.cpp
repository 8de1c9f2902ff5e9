// Watches of keys: §7.2.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_key_watch_test)

rows const cases{
    {"a_watch_without_a_version_returns_the_current_one", 1,
     "0 watch '' -> to 0; 0 put k v; 0 watch '' -> to 1"},
    // So that a watcher of a quiet directory in a busy job does not fall behind.
    {"a_watch_that_times_out_returns_its_position", 2,
     "watch = 1 watch quiet 0 10s; 0 put busy 1; 0 put busy 2 overwrite; at 10s-; watch -> waits; "
     "at 10s; watch -> to 2"},
    {"a_watch_with_timeout_zero_returns_at_once", 1,
     "0 put a 1; nothing = 0 watch b 0 0s; at 0s; nothing -> to 1"},
    {"a_watch_is_executed_again_after_a_resume", 2,
     "lost = 0 watch '' 0; waits = 0 watch d 0; cut 0; 1 put k 1; 1 put l 2; resume 0; "
     "lost -> k=1 l=2 to 2; waits -> waits; 1 put d 3; waits -> d=3 to 3"},
    {"watches_end_unavailable_when_the_coordinator_stops", 1,
     "watch = 0 watch '' 0; stop maintenance; watch -> UNAVAILABLE; "
     "watch ~ is stopping ... maintenance"},
    {"cancelling_a_watch_does_not_affect_another_of_the_directory", 1,
     "first = 0 watch d 0; second = 0 watch d 0; cancel first; 0 put d/a 1; second -> d/a=1 to 1"},
    {"the_removal_of_an_ephemeral_key_is_a_change", 2,
     "0 owns d/alive v; 0 put d/plain v; watch = 1 watch d 2; ended 0 INTERNAL killed; "
     "watch -> d/alive=- to 3"},
    {"watches_continue_after_a_job_error_and_after_their_task_left", 2,
     "of_dead = 0/0 watch k 0; watch = 1 watch k 0; ended 0 INTERNAL killed; watch -> waits; "
     "later = 1 watch '' 0; 1 leaves; observer x; x put k v; watch -> k=v to 1; later -> k=v to 1; "
     "of_dead -> k=v to 1"},
    {"a_waiting_watch_gets_at_most_one_full_answer_of_many_changes", 1,
     "watch = 0 watch d 0; 0 put-all d/a=1 d/b=2 d/c=3 d/d=4; watch -> d/a=1 d/b=2 to 2; "
     "0 watch d 2 -> d/c=3 d/d=4 to 4",
     config{.changes_per_answer_max = 2}},
};

BOOST_FIXTURE_TEST_CASE(a_watch_returns_the_changes_below_a_directory_in_order, job<1>) {
  c.put(0, "d/a", "1");
  c.put(0, "e/b", "2");
  c.put(0, "d", "3");
  c.append(0, "d/a", "4");
  c.increment(0, "d/n", 5);
  c.put(0, "dd", "6");
  c.remove(0, "d/a");

  BOOST_TEST(c.changes(c.watch_keys(0, "d", 0)) == "d/a=1 d=3 d/a=14 d/n=5 d/a=- to 7");
  BOOST_TEST(c.changes(c.watch_keys(0, "/d/", 4)) == "d/n=5 d/a=- to 7");
  BOOST_TEST(c.changes(c.watch_keys(0, "", 5)) == "dd=6 d/a=- to 7");
  auto const* const update = c.body<core::key_changes_answer>(c.watch_keys(0, "d", 0));
  BOOST_TEST(update->changes[1].version == 3u);
  BOOST_TEST(update->changes[4].version == 7u);
}

BOOST_FIXTURE_TEST_CASE(a_watch_waits_for_the_next_change_of_its_directory, job<2>) {
  auto const watch = c.watch_keys(1, "d", 0);
  c.put(0, "e", "1");
  BOOST_TEST(c.after(c.remove_tree(0, "d")).code(watch) == "waits");
  BOOST_TEST(c.look().waiting_key_watches == 1u);

  c.put(0, "d/a/b", "2");

  BOOST_TEST(c.changes(watch) == "d/a/b=2 to 2");
  BOOST_TEST(c.look().waiting_key_watches == 0u);
}

BOOST_FIXTURE_TEST_CASE(every_kind_of_change_wakes_watches, job<2>) {
  auto const after = [&](std::uint64_t version) { return c.watch_keys(1, "k", version); };
  auto one = after(0);
  c.put(0, "k", "1");
  BOOST_TEST(c.changes(one) == "k=1 to 1");
  one = after(1);
  c.compare_and_set(0, "k", std::uint64_t{1}, "2");
  BOOST_TEST(c.changes(one) == "k=2 to 2");
  one = after(2);
  c.append(0, "k", "3");
  BOOST_TEST(c.changes(one) == "k=23 to 3");
  one = after(3);
  c.increment(0, "k", 1);
  BOOST_TEST(c.changes(one) == "k=24 to 4");
  one = after(4);
  c.put_all(0, {{"k/a", "5"}, {"other", "6"}, {"k/b", "7"}});
  BOOST_TEST(c.changes(one) == "k/a=5 k/b=7 to 7");
  one = after(7);
  c.remove(0, "k");
  BOOST_TEST(c.changes(one) == "k=- to 8");
  one = after(8);
  c.remove_tree(0, "k");
  BOOST_TEST(c.changes(one) == "k/a=- k/b=- to 10");
}

BOOST_FIXTURE_TEST_CASE(refused_changes_wake_no_watch, job<1>) {
  c.put(0, "k", "v");
  auto const watch = c.watch_keys(0, "", 1);
  c.put(0, "k", "w");
  c.compare_and_set(0, "k", core::absent_value{}, "w");
  c.increment(0, "k", 1);
  c.put_all(0, {{"j", "1"}, {"k", "2"}});
  BOOST_TEST(c.after(c.remove(0, "missing")).code(watch) == "waits");
  c.remove_tree(0, "", true);
  BOOST_TEST(c.changes(watch) == "k=- to 2");
}

// Of an ended task, while another task continues.
core::config with_pages_of_two() {
  return core::config{.recoverable = true, .page_entries_max = 2};
}

void put_five_owned(cluster& c) {
  for (auto const* const key : {"d/a", "d/b", "d/c", "d/d", "d/e"}) c.put_owned(0, key, "v");
}

BOOST_AUTO_TEST_CASE(the_ephemeral_keys_of_an_ended_task_are_removed_in_pages) {
  cluster c{2, with_pages_of_two()};
  put_five_owned(c);
  auto const first = c.watch_keys(1, "d", 5);
  BOOST_TEST(c.task_ended(0, {errc::internal, "killed"}).changes(first) == "d/a=- d/b=- to 7");
  BOOST_TEST(c.count(c.count_keys(1, "d")) == "3");
  BOOST_TEST(c.listing(c.list(1, "d")) == "d/c=v d/d=v");
  BOOST_TEST((c.logic().next_deadline() == t0));  // at once
  auto const second = c.watch_keys(1, "d", 7);
  BOOST_TEST(c.advance_once().changes(second) == "d/c=- d/d=- to 9");
  c.advance_once();
  BOOST_TEST(c.listing(c.list(1, "d")) == "");
  BOOST_TEST((c.logic().next_deadline() > t0));
}

BOOST_AUTO_TEST_CASE(tasks_ending_together_share_one_page_of_removals_per_iteration) {
  cluster c{3, with_pages_of_two()};
  put_five_owned(c);
  c.put_owned(1, "d/0", "v");
  c.task_ended(0, {errc::internal, "killed"}).task_ended(1, {errc::internal, "killed"});

  BOOST_TEST(c.count(c.count_keys(2, "d")) == "4");
  c.advance_once().advance_once();
  BOOST_TEST(c.listing(c.list(2, "d")) == "");
}

BOOST_AUTO_TEST_CASE(an_ephemeral_key_of_an_ended_task_is_not_found_by_name) {
  cluster c{2, with_pages_of_two()};
  put_five_owned(c);
  c.task_ended(0, {errc::internal, "killed"});

  BOOST_TEST(c.code(c.try_get(1, "d/e")) == "NOT_FOUND");
  BOOST_TEST(c.code(c.put(1, "d/d", "mine")) == "OK");
  auto const all = c.get_all(1, {"d/c", "d/d"});
  BOOST_TEST(c.code(all) == "waits");
  BOOST_TEST(c.changes(c.watch_keys(1, "d", 7)) == "d/e=- d/d=- d/d=mine d/c=- to 11");
  c.advance_once();
  BOOST_TEST(c.listing(c.list(1, "d")) == "d/d=mine");
  BOOST_TEST(c.after(c.put(1, "d/c", "new")).code(all) == "OK");
}

// A waiting get_all does not see keys of a task that ended meanwhile.
BOOST_AUTO_TEST_CASE(a_waiting_get_ignores_an_ephemeral_key_pending_removal) {
  cluster c{2, with_pages_of_two()};
  put_five_owned(c);
  auto const all = c.get_all(1, {"other", "d/e"});
  c.task_ended(0, {errc::internal, "killed"});
  BOOST_TEST(c.after(c.put(1, "other", "v")).code(all) == "waits");
  BOOST_TEST(c.after(c.put(1, "d/e", "new")).code(all) == "OK");
  c.advance_once();
}

BOOST_AUTO_TEST_CASE(a_watch_examines_a_bounded_number_of_changes_and_returns_its_position) {
  cluster c{1, {.changes_looked_at_max = 3}};
  for (int i = 0; i < 4; ++i) c.put(0, "busy", "v", true);
  c.put(0, "quiet/k", "1");
  auto const before = c.logic().counts().steps;
  auto const first = c.watch_keys(0, "quiet", 0);
  BOOST_TEST(c.logic().counts().steps == before);

  BOOST_TEST(c.changes(first) == "to 3");
  BOOST_TEST(c.changes(c.watch_keys(0, "quiet", 3)) == "quiet/k=1 to 5");
  BOOST_TEST(c.code(c.watch_keys(0, "quiet", 5)) == "waits");
}

BOOST_FIXTURE_TEST_CASE(watches_of_the_same_directory_share_one_answer, job<3>) {
  auto const one = c.watch_keys(1, "d", 0);
  auto const two = c.watch_keys(2, "d", 0);
  auto const root = c.watch_keys(2, "", 0);
  c.put(0, "d/k", "v");

  BOOST_TEST(c.answer_to(one) == c.answer_to(two));
  BOOST_TEST(c.replies() == "0:OK 2:OK 1:OK 2:OK");
  BOOST_TEST(c.changes(root) == "d/k=v to 1");
}

BOOST_AUTO_TEST_CASE(a_removal_below_watched_directories_gives_each_watch_its_own_changes) {
  cluster c{1, {.page_entries_max = 2'000}};
  c.check_less();
  std::vector<call> watches;
  for (int i = 0; i < 1'000; ++i) {
    std::string const directory = "d/" + std::to_string(i);
    c.put_all(0, {{directory + "/a", ""}, {directory + "/b", ""}});
    watches.push_back(c.watch_keys(0, directory, static_cast<std::uint64_t>(2 * i + 2)));
  }
  c.remove_tree(0, "d");

  for (int i = 0; i < 1'000; ++i) {
    std::string const directory = "d/" + std::to_string(i);
    BOOST_TEST(c.changes(watches[static_cast<std::size_t>(i)]) ==
               directory + "/a=- " + directory + "/b=- to 4000");
  }
}

BOOST_FIXTURE_TEST_CASE(list_then_watch_misses_nothing_and_repeats_nothing, job<2>) {
  c.put(0, "d/a", "1");
  auto const listing = c.list(1, "d");
  c.put(0, "d/b", "2");

  auto const version = c.body<core::listing_answer>(listing)->version;
  BOOST_TEST(c.changes(c.watch_keys(1, "d", version)) == "d/b=2 to 2");
}

BOOST_AUTO_TEST_CASE(a_watch_has_no_timeout_by_default) {
  BOOST_TEST((core::watch_keys_args{}.timeout == without_limit));
  cluster c{1};
  auto const watch = c.watch_keys(0, "", 0);
  BOOST_TEST(c.at(2h).code(watch) == "waits");
}

BOOST_AUTO_TEST_CASE(a_long_history_is_returned_in_batches) {
  cluster c{1, {.changes_per_answer_max = 2, .change_bytes_per_answer_max = 1000}};
  for (int i = 1; i <= 3; ++i) c.put(0, "k", std::to_string(i), true);
  c.put(0, "k", std::string(999, 'x'), true);
  c.put(0, "k", "5", true);

  BOOST_TEST(c.changes(c.watch_keys(0, "k", 0)) == "k=1 k=2 to 2");
  BOOST_TEST(c.changes(c.watch_keys(0, "k", 2)) == "k=3 to 3");
  auto const large = c.watch_keys(0, "k", 3);
  BOOST_TEST(c.body<core::key_changes_answer>(large)->changes.size() == 1u);
  BOOST_TEST(c.body<core::key_changes_answer>(large)->version == 4u);
  BOOST_TEST(c.changes(c.watch_keys(0, "k", 4)) == "k=5 to 5");
}

BOOST_AUTO_TEST_CASE(a_change_larger_than_an_answer_is_returned_alone) {
  cluster c{1, {.change_bytes_per_answer_max = 100}};
  std::string const large(200, 'x');
  c.put(0, "d/large", large);
  c.put(0, "d/small", "1");

  BOOST_TEST(c.changes(c.watch_keys(0, "d", 0)) == "d/large=" + large + " to 1");
  BOOST_TEST(c.changes(c.watch_keys(0, "d", 1)) == "d/small=1 to 2");
}

BOOST_AUTO_TEST_CASE(a_forgotten_version_is_out_of_range_with_the_current_one) {
  cluster c{1, {.changes_max = 3}};
  for (int i = 1; i <= 5; ++i) c.put(0, "k", std::to_string(i), true);

  BOOST_TEST(c.changes(c.watch_keys(0, "", 2)) == "k=3 k=4 k=5 to 5");
  auto const old = c.watch_keys(0, "", 1);

  BOOST_TEST(c.changes(old) == "OUT_OF_RANGE to 5");
  expect_words(c.text(old), {"version 5", "list"});
}

BOOST_AUTO_TEST_CASE(up_to_64_mib_of_changes_are_kept_and_always_the_last) {
  cluster c{1, {.change_bytes_max = 100}};
  c.put(0, "k", std::string(50, '1'));
  c.put(0, "k", std::string(48, '2'), true);
  BOOST_TEST(c.code(c.watch_keys(0, "", 0)) == "OK");
  c.put(0, "k", std::string(1000, '3'), true);

  BOOST_TEST(c.code(c.watch_keys(0, "", 1)) == "OUT_OF_RANGE");
  BOOST_TEST(c.code(c.watch_keys(0, "", 2)) == "OK");
}

// One removal can make more changes than the log keeps.
BOOST_AUTO_TEST_CASE(a_waiting_watch_that_is_overrun_is_out_of_range) {
  cluster c{2, {.changes_max = 3}};
  c.put_all(0, {{"d/1", ""}, {"d/2", ""}, {"d/3", ""}, {"d/4", ""}});
  auto const watch = c.watch_keys(1, "d", 4);

  c.remove_tree(0, "d");

  BOOST_TEST(c.changes(watch) == "OUT_OF_RANGE to 8");
}

BOOST_AUTO_TEST_CASE(a_waiting_watch_is_not_overrun_by_changes_elsewhere) {
  cluster c{2, {.changes_max = 3}};
  auto const watch = c.watch_keys(1, "d", 0);
  for (int i = 0; i < 10; ++i) c.put(0, "e", "v", true);

  c.put(0, "d", "v");

  BOOST_TEST(c.changes(watch) == "d=v to 11");
}

BOOST_AUTO_TEST_CASE(
    a_watch_of_a_version_from_the_future_is_invalid_where_upstream_ends_the_coordinator_d18) {
  cluster c{1};
  c.put(0, "k", "v");

  auto const refused = c.watch_keys(0, "", 2);

  BOOST_TEST(c.code(refused) == "INVALID_ARGUMENT");
  expect_words(c.text(refused), {"version 2", "version 1"});
  BOOST_TEST(c.code(c.watch_keys(0, "", UINT64_MAX)) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.watch_keys(0, std::string("\0", 1), 0)) == "INVALID_ARGUMENT");
}

// The change log makes room for values: it must not cause a refusal.
BOOST_AUTO_TEST_CASE(old_changes_are_dropped_when_their_memory_is_needed) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  c.put(0, "a", std::string(60'000, 'x'));
  BOOST_TEST(c.after(c.remove(0, "a")).logic().memory()->used() > 60'000u);

  BOOST_TEST(c.code(c.put(0, "b", std::string(60'000, 'y'))) == "OK");
  BOOST_TEST(c.code(c.watch_keys(0, "", 0)) == "OUT_OF_RANGE");
  c.remove(0, "b");
  BOOST_TEST(c.code(c.push(0, "q", std::string(60'000, 'z'))) == "OK");
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(a_watch_ends_when_cancelled_or_with_its_session, job<1>) {
  int const o = c.observer();
  auto const one = c.watch_keys(0, "", 0);
  c.watch_keys(o, "d", 0);
  BOOST_TEST(c.cancel(one).bye(o).look().waiting_key_watches == 0u);
  BOOST_TEST(c.after(c.put(0, "d", "v")).code(one) == "waits");
}

// The page of a listing after this key.
call page_after(cluster& c, std::string after, std::optional<std::uint64_t> version) {
  core::list_args args{"d"};
  args.after = std::move(after);
  args.version = version;
  return c.send(0, args);
}

void put_some(cluster& c, std::vector<std::string> const& keys) {
  for (auto const& key : keys) c.put(0, key, "v");
}

BOOST_AUTO_TEST_CASE(each_page_of_a_listing_is_a_consistent_snapshot) {
  cluster c{1, {.page_entries_max = 2, .page_bytes_max = 1000}};
  put_some(c, {"d/a", "d/b", "d/d", "d/e", "da"});
  auto const first = page_after(c, "", std::nullopt);
  c.put(0, "d/c", "3");
  auto const second = page_after(c, "d/b", 5);
  c.put(0, "d/e", std::string(990, 'x'), true);
  auto const third = page_after(c, "d/d", 5);

  auto const more = [&](call of) { return c.body<core::listing_answer>(of)->more; };
  BOOST_TEST(c.listing(first) == "d/a=v d/b=v");
  BOOST_TEST(more(first));
  BOOST_TEST(c.listing(second) == "d/c=3 d/d=v");
  BOOST_TEST(more(second));
  BOOST_TEST(c.body<core::listing_answer>(second)->version == 6u);
  BOOST_TEST(c.body<core::listing_answer>(third)->entries.size() == 1u);
  BOOST_TEST(!more(third));
  BOOST_TEST(c.listing(page_after(c, "d/e", 5)) == "");

  // Up to this many bytes, but at least one key.
  c.put(0, "d/d", std::string(2000, 'x'), true);
  BOOST_TEST(c.body<core::listing_answer>(page_after(c, "d/c", 5))->entries.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_page_is_out_of_range_when_changes_since_the_first_page_are_dropped) {
  cluster c{1, {.changes_max = 3}};
  put_some(c, {"d/1", "d/2", "d/3", "d/4", "d/5"});

  BOOST_TEST(c.code(page_after(c, "d/1", 2)) == "OK");
  BOOST_TEST(c.code(page_after(c, "d/1", 1)) == "OUT_OF_RANGE");
  BOOST_TEST(c.code(page_after(c, "d/1", 6)) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(a_remove_tree_removes_a_page_and_continues_after_it) {
  cluster c{1, {.page_entries_max = 2}};
  put_some(c, {"d", "d/a", "d/b", "d/c", "other"});
  auto const watch = c.send(0, core::watch_keys_args{"d", 5, 1s});

  auto const first = c.remove_tree(0, "d");
  BOOST_TEST(c.body<core::removed_answer>(first)->count == 3u);
  BOOST_TEST(c.body<core::removed_answer>(first)->last == "d/b");
  BOOST_TEST(c.body<core::key_changes_answer>(watch)->changes.size() == 3u);
  BOOST_TEST(c.listing(c.list(0, "")) == "d/c=v other=v");

  auto const second = c.send(0, core::remove_tree_args{"d", false, "d/b"});
  BOOST_TEST(c.body<core::removed_answer>(second)->count == 1u);
  BOOST_TEST(c.body<core::removed_answer>(second)->last == "");
  BOOST_TEST(c.listing(c.list(0, "")) == "other=v");
}

BOOST_AUTO_TEST_CASE(the_tasks_of_a_job_come_in_pages) {
  cluster c{5, {.page_entries_max = 2}};
  auto const page = [&](std::uint32_t first) {
    return **c.body<boxed<core::snapshot>>(c.send(0, core::inspect_args{task_id{first}}));
  };
  auto const first = page(0);
  auto const second = page(2);
  auto const third = page(4);

  BOOST_TEST(first.tasks.size() == 2u);
  BOOST_TEST((first.next_task == task_id{2}));
  BOOST_TEST(first.job == "default");
  BOOST_TEST(second.tasks.size() == 2u);
  BOOST_TEST((second.tasks.front().id == task_id{2}));
  BOOST_TEST((second.next_task == task_id{4}));
  BOOST_TEST(second.job == "");
  BOOST_TEST(third.tasks.size() == 1u);
  BOOST_TEST(!third.next_task);
  BOOST_TEST(page(5).tasks.empty());
  BOOST_TEST(page(UINT32_MAX).tasks.empty());
  BOOST_TEST(!page(UINT32_MAX).next_task);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
