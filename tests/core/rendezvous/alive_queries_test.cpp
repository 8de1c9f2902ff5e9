#include "coxswain/core/rendezvous/alive_queries.hpp"

#include "coxswain/core/model/messages.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::core {
namespace {

ticket ticket_of(std::uint64_t n) { return {session_id{n}, request_id{1}}; }

task_set_ptr all_of(std::uint32_t n) { return boost::make_local_shared<task_set const>(n); }

task_set_ptr set_of(std::vector<task_id> tasks) {
  return boost::make_local_shared<task_set const>(std::move(tasks));
}

class fixture {
 protected:
  meter_ptr memory{make_meter(14'000)};
  alive_queries queries{memory};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(alive_queries_test, fixture)

BOOST_AUTO_TEST_CASE(a_query_is_forgotten_with_its_last_call) {
  auto const number = queries.call(all_of(2), task_id{0}, ticket_of(1)).number;
  queries.call(all_of(2), task_id{0}, ticket_of(2));
  queries.cancel(number, task_id{0}, ticket_of(1));
  BOOST_TEST(queries.all().at(number).called.contains(task_id{0}));

  queries.cancel(number, task_id{0}, ticket_of(2));

  BOOST_TEST(queries.all().empty());
  BOOST_TEST(memory->used() == 0u);
  BOOST_TEST(queries.call(all_of(2), task_id{0}, ticket_of(1)).number != number);
}

BOOST_AUTO_TEST_CASE(a_query_is_complete_when_nobody_is_awaited) {
  auto& q = queries.call(all_of(4), task_id{0}, ticket_of(1));
  std::uint32_t asked = 0;
  auto const awaits = [&](std::uint32_t last) {
    return [&asked, last](task_id id) {
      ++asked;
      return id.value == last;
    };
  };

  BOOST_TEST(!alive_queries::is_complete(q, awaits(2)));
  BOOST_TEST(asked == 3u);
  BOOST_TEST(!alive_queries::is_complete(q, awaits(2)));
  BOOST_TEST(asked == 4u);  // the set that was checked first
  BOOST_TEST(!alive_queries::is_complete(q, awaits(0)));
  BOOST_TEST(alive_queries::is_complete(q, awaits(9)));
}

BOOST_AUTO_TEST_CASE(the_members_of_a_query_need_memory) {
  std::vector<task_id> many;
  for (std::uint32_t i = 0; i < 400; ++i) many.push_back(task_id{i});
  auto const large = set_of(many);
  many[0] = task_id{9999};
  std::swap(many.front(), many.back());

  BOOST_TEST(queries.has_room(large));
  queries.call(large, task_id{0}, ticket_of(1));

  BOOST_TEST(memory->used() > 400 * (sizeof(task_id) + sizeof(alive_answer::task)));
  BOOST_TEST(queries.has_room(large));
  BOOST_TEST(!queries.has_room(set_of(many)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::core
