#include "coxswain/core/kernel/slot_map.hpp"

#include "coxswain/base/ids.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {
namespace {

using map = slot_map<session_id, std::string>;

BOOST_AUTO_TEST_SUITE(slot_map_test)

BOOST_AUTO_TEST_CASE(objects_are_found_until_they_are_erased) {
  map m;
  session_id const a = m.insert("a");
  session_id const b = m.insert("b");

  BOOST_TEST(*m.find(a) == "a");
  BOOST_TEST(*m.find(b) == "b");
  BOOST_TEST(m.size() == 2u);
  m.erase(a);

  BOOST_TEST(m.find(a) == nullptr);
  BOOST_TEST(*m.find(b) == "b");
  BOOST_TEST(m.size() == 1u);
}

BOOST_AUTO_TEST_CASE(zero_is_never_an_id) {
  map m;

  BOOST_TEST(m.find(session_id{}) == nullptr);
  BOOST_TEST((m.insert("a") != session_id{}));
  BOOST_TEST(m.find(session_id{}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_reused_slot_gives_a_new_id) {
  map m;
  session_id const old = m.insert("old");
  m.erase(old);
  session_id const successor = m.insert("new");

  BOOST_TEST((old != successor));
  BOOST_TEST(m.find(old) == nullptr);
  BOOST_TEST(*m.find(successor) == "new");
}

BOOST_AUTO_TEST_CASE(the_next_id_of_a_slot_finds_nothing_until_given) {
  map m;
  session_id const first = m.insert("a");
  m.erase(first);
  session_id const guessed{first.value + (std::uint64_t{1} << 32)};

  BOOST_TEST(m.find(guessed) == nullptr);
  BOOST_TEST((m.insert("b") == guessed));
  BOOST_TEST(*m.find(guessed) == "b");
}

BOOST_AUTO_TEST_CASE(a_slot_reused_a_thousand_times_gives_a_thousand_ids) {
  map m;
  std::set<session_id> ids;
  for (int i = 0; i < 1000; ++i) {
    session_id const id = m.insert("x");
    ids.insert(id);
    m.erase(id);
  }

  BOOST_TEST(ids.size() == 1000u);
  BOOST_TEST(m.size() == 0u);
}

BOOST_AUTO_TEST_CASE(ids_never_given_find_nothing) {
  map m;
  session_id const a = m.insert("a");

  BOOST_TEST(m.find(session_id{a.value + 1}) == nullptr);
  BOOST_TEST(m.find(session_id{a.value + (std::uint64_t{1} << 32)}) == nullptr);
  BOOST_TEST(m.find(session_id{UINT64_MAX}) == nullptr);
}

BOOST_AUTO_TEST_CASE(visiting_goes_by_slot_and_may_erase_the_visited_object) {
  map m;
  session_id const a = m.insert("a");
  m.insert("b");
  m.insert("c");
  m.erase(a);
  m.insert("d");
  std::string seen;

  m.each([&](session_id id, std::string const& text) {
    seen += text;
    if (text == "b") m.erase(id);
  });

  BOOST_TEST(seen == "dbc");
  BOOST_TEST(m.size() == 2u);
}

BOOST_AUTO_TEST_CASE(an_erased_object_is_destroyed_at_once) {
  slot_map<session_id, std::shared_ptr<int>> m;
  auto const thing = std::make_shared<int>(1);
  session_id const id = m.insert(thing);
  BOOST_TEST(thing.use_count() == 2);

  m.erase(id);

  BOOST_TEST(thing.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(growing_moves_no_object) {
  map all;
  slot_table<session_id, std::string> beside;
  auto const first = all.insert("a");
  beside.emplace(first, "beside a");
  auto const* const at = all.find(first);
  auto const* const beside_at = beside.find(first);

  for (int i = 0; i < 10'000; ++i) beside.emplace(all.insert("x"), "y");

  BOOST_TEST(all.find(first) == at);
  BOOST_TEST(beside.find(first) == beside_at);
}

BOOST_AUTO_TEST_CASE(a_side_table_uses_the_ids_of_its_map) {
  map all;
  slot_table<session_id, std::string> beside;
  auto const first = all.insert("a");
  auto const second = all.insert("b");
  beside.emplace(second, "beside b");
  beside.emplace(first, "beside a");

  BOOST_TEST(*beside.find(first) == "beside a");
  BOOST_TEST(*beside.find(second) == "beside b");
  all.erase(first);
  beside.erase(first);
  beside.erase(first);
  std::string left;
  std::as_const(beside).each([&](session_id, std::string const& one) { left += one + ";"; });
  BOOST_TEST(left == "beside b;");
  auto const third = all.insert("c");  // in the same slot

  BOOST_TEST(!beside.find(first));
  BOOST_TEST(!beside.find(third));
  BOOST_TEST(!beside.find(session_id{}));
  BOOST_TEST(!beside.find(session_id{1'000'000}));
  beside.emplace(third, "beside c");
  std::string seen;
  std::as_const(beside).each([&](session_id, std::string const& one) { seen += one + ";"; });
  BOOST_TEST(seen == "beside c;beside b;");
  BOOST_TEST(beside.size() == 2u);
  beside.clear();
  BOOST_TEST(beside.size() == 0u);
  BOOST_TEST(!beside.find(third));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
