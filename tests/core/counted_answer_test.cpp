#include "coxswain/core/counted_answer.hpp"

#include "tests/core/cluster.hpp"

#include <memory>
#include <string>
#include <utility>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(counted_answer_test)

BOOST_AUTO_TEST_CASE(an_answer_counts_until_the_last_reference_is_gone) {
  auto const memory = std::make_shared<memory_meter>(1'000'000);
  core::listing_answer listing;
  listing.entries.push_back({std::string(1'000, 'k'), bytes{"value"}, 7});
  auto const size = core::bytes_of(listing);
  auto one = core::counted({{}, std::move(listing)}, size, memory);
  auto other = one;

  BOOST_TEST(size >= 1'000u + sizeof(core::listing_answer::entry));
  BOOST_TEST(memory->used() == size);
  BOOST_TEST(std::get<core::listing_answer>(one->value).entries.size() == 1u);
  one.reset();
  BOOST_TEST(memory->used() == size);
  other.reset();
  BOOST_TEST(memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(all_texts_count) {
  std::string const text(1'000, 'x');
  core::snapshot picture;
  picture.tasks.emplace_back();
  picture.tasks.back().label = text;
  picture.barriers.emplace_back();
  picture.barriers.back().missing = text;
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

  BOOST_TEST(core::bytes_of(picture) > 2'000u);
  BOOST_TEST(core::bytes_of(tasks) > 1'000u);
  BOOST_TEST(core::bytes_of(events) > 1'000u);
  BOOST_TEST(core::bytes_of(changes) > 1'000u);
  BOOST_TEST(core::bytes_of(why) > 3'000u + sizeof(missing_task));
}

BOOST_AUTO_TEST_CASE(a_listing_counts_while_it_is_on_its_way) {
  cluster c{1};
  c.put(0, std::string(1'000, 'k'), "v");
  c.heartbeat(0);
  auto const before = c.look().memory_bytes;
  auto const listed = c.send(0, core::list_args{""});

  BOOST_TEST(c.code(listed) == "OK");
  BOOST_TEST(c.look().memory_bytes >= before + 1'000);
}

BOOST_AUTO_TEST_CASE(a_listing_for_which_there_is_no_memory_is_refused) {
  cluster c{1, with([](auto& o) { o.memory_bytes_max = 100'000; })};
  for (int i = 0; i < 8; ++i) c.put(0, "dir/" + std::to_string(i), std::string(10'000, 'v'));
  auto const listed = c.send(0, core::list_args{"dir"});
  core::get_all_args several;
  for (int i = 0; i < 8; ++i) several.keys.push_back("dir/" + std::to_string(i));
  auto const gotten = c.send(0, several);

  BOOST_TEST(c.code(listed) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(listed), {"the listing of 'dir'", "memory_bytes_max is 100000", "smaller"});
  BOOST_TEST(c.code(gotten) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(gotten), {"8 keys", "memory_bytes_max is 100000", "get fewer"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
