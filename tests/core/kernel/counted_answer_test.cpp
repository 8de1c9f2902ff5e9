#include "coxswain/core/kernel/counted_answer.hpp"

#include "tests/core/cluster.hpp"

#include <string>
#include <utility>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(counted_answer_test)

BOOST_AUTO_TEST_CASE(an_answer_and_its_values_count_while_referenced) {
  auto const memory = make_meter(1'000'000);
  core::listing_answer listing;
  listing.entries.push_back({std::string(1'000, 'k'), bytes{std::string(5'000, 'v'), memory}, 7});
  auto const one = core::make_answer({{}, std::move(listing)});
  auto const size = core::bytes_of(*one) + 5'000;
  BOOST_TEST(memory->used() + memory->transit() == 0u);

  core::hold(holder::core, *one, *memory);
  core::hold(holder::core, *one, *memory);
  core::hold(holder::transit, *one, *memory);
  auto const used = memory->used();
  BOOST_TEST(used >= size);
  BOOST_TEST(used < size + 1'000);
  BOOST_TEST(memory->transit() == 0u);

  core::let_go(holder::core, *one, *memory);
  BOOST_TEST(memory->used() == used);
  core::let_go(holder::core, *one, *memory);
  BOOST_TEST(memory->used() == 0u);
  BOOST_TEST(memory->transit() == used);
  core::let_go(holder::transit, *one, *memory);
  BOOST_TEST(memory->transit() == 0u);
}

BOOST_AUTO_TEST_CASE(all_texts_count) {
  std::string const text(1'000, 'x');
  core::snapshot picture;
  picture.tasks.emplace_back();
  picture.tasks.back().label = text;
  picture.barriers.emplace_back();
  picture.barriers.back().missing = text;
  picture.spares.emplace_back();
  picture.spares.back().member = text;
  picture.error.emplace().later.push_back({{}, {errc::internal, text}});
  core::snapshot::elastic_state elastic;
  elastic.ending = text;
  picture.elastic = std::move(elastic);
  picture.state.headline = text;
  core::epoch_members_answer members;
  members.members.emplace_back();
  members.members.back().label = text;
  core::tasks_answer tasks;
  tasks.tasks = picture.tasks;
  core::events_answer events;
  events.entries.emplace_back();
  events.entries.back().what.text = text;
  core::key_changes_answer changes;
  changes.changes.push_back({text, 1, {}});
  core::why_answer why;
  why.waits.emplace_back();
  why.waits.back().waiting = text;
  why.waits.back().missing.emplace().missing = text;
  why.waits.back().missing->known.emplace_back();
  why.stuck = text;

  auto const bytes = [](auto value) {
    return core::bytes_of({{}, std::move(value)}) - sizeof(core::answer);
  };
  BOOST_TEST(bytes(boxed{picture}) > 6'000u);
  BOOST_TEST(bytes(members) > 1'000u);
  BOOST_TEST(bytes(tasks) > 1'000u);
  BOOST_TEST(bytes(events) > 1'000u);
  BOOST_TEST(bytes(changes) > 1'000u);
  BOOST_TEST(bytes(why) > 3'000u + sizeof(missing_task));
}

// Only memory owned by the core influences its replies.
BOOST_FIXTURE_TEST_CASE(a_listing_in_transit_is_not_charged_to_the_core, job<1>) {
  c.put(0, std::string(1'000, 'k'), "v");
  c.heartbeat(0);
  auto const before = c.look().memory_bytes;
  auto const listed = c.send(0, core::list_args{""});

  BOOST_TEST(c.code(listed) == "OK");
  BOOST_TEST(c.look().memory_bytes == before);
}

BOOST_AUTO_TEST_CASE(an_answer_holds_an_eighth_of_the_memory_at_most) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  for (int i = 0; i < 6; ++i) c.put(0, "dir/" + std::to_string(i), std::string(10'000, 'v'));
  auto const listed = c.send(0, core::list_args{"dir"});
  core::get_all_args several;
  for (int i = 0; i < 6; ++i) several.keys.push_back("dir/" + std::to_string(i));
  auto const gotten = c.send(0, several);

  BOOST_TEST(c.body<core::listing_answer>(listed)->entries.size() == 1u);
  BOOST_TEST(c.body<core::listing_answer>(listed)->more);
  BOOST_TEST(c.code(gotten) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(gotten),
               {"6 keys", "12500 bytes, an eighth of memory_bytes_max", "get fewer"});

  c.remove_tree(0, "dir");
  c.put(0, "dir/large", std::string(13'000, 'v'));
  auto const large = c.send(0, core::list_args{"dir"});
  BOOST_TEST(c.code(large) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(large), {"a key below 'dir'", "12500 bytes, an eighth of memory_bytes_max",
                               "get it by itself"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
