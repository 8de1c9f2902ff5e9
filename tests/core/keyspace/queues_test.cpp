#include "coxswain/core/keyspace/queues.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::core {
namespace {

struct shop {
  std::string pop(std::string const& queue) {
    auto const item = queues.pop(queue);
    return item ? std::string{item->value.view()} : "none";
  }
  std::string next(std::string const& queue) {
    auto const who = queues.to_be_served(queue);
    return who ? std::to_string(who->who.request.value) : "nobody";
  }

  meter_ptr memory = make_meter(1'000'000);
  core::queues queues{memory};
};

ticket waiter(std::uint64_t n) { return {session_id{1}, request_id{n}}; }

BOOST_AUTO_TEST_SUITE(queues_test)

BOOST_AUTO_TEST_CASE(each_queue_is_first_in_first_out) {
  shop s;
  s.queues.push("q", "a");
  s.queues.push("r", "b");
  s.queues.push("q", "c");
  BOOST_TEST(s.queues.length("q") == 2u);
  BOOST_TEST(s.queues.items() == 3u);

  BOOST_TEST(s.pop("q") == "a");
  BOOST_TEST(s.pop("q") == "c");
  BOOST_TEST(s.pop("q") == "none");
  BOOST_TEST(s.pop("r") == "b");
  BOOST_TEST(s.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_returned_item_gets_its_old_position) {
  shop s;
  for (auto const* const item : {"a", "b", "c"}) s.queues.push("q", item);
  auto const a = *s.queues.pop("q");
  auto const b = *s.queues.pop("q");

  s.queues.put_back("q", b);
  s.queues.put_back("q", a);

  BOOST_TEST(s.pop("q") == "a");
  BOOST_TEST(s.pop("q") == "b");
  BOOST_TEST(s.pop("q") == "c");
}

BOOST_AUTO_TEST_CASE(the_longest_waiter_is_served_first_when_there_is_an_item) {
  shop s;
  auto const first = s.queues.wait("q", {waiter(1)});
  s.queues.wait("q", {waiter(2)});
  BOOST_TEST(s.next("q") == "nobody");
  s.queues.push("q", "a");
  BOOST_TEST(!s.queues.settled());
  BOOST_TEST(s.next("q") == "1");

  s.queues.cancel("q", first);

  BOOST_TEST(s.next("q") == "2");
  BOOST_TEST(s.pop("q") == "a");
  BOOST_TEST(s.queues.settled());
  BOOST_TEST(s.queues.waiting() == 1u);
}

BOOST_AUTO_TEST_CASE(take_all_returns_every_waiter) {
  shop s;
  s.queues.wait("q", {waiter(1)});
  s.queues.wait("p", {waiter(2)});
  s.queues.wait("q", {waiter(3)});
  s.queues.push("r", "a");

  auto const all = s.queues.take_all_waiters();

  BOOST_TEST(all.size() == 3u);
  BOOST_TEST(all[0].request.value == 2u);
  BOOST_TEST(s.queues.waiting() == 0u);
  BOOST_TEST(s.queues.settled());
  BOOST_TEST(s.pop("r") == "a");
}

BOOST_AUTO_TEST_CASE(destroying_queues_frees_their_memory) {
  auto const memory = make_meter(1'000'000);
  {
    queues all{memory};
    all.push("q", "a");
    all.push("q", "b");
    BOOST_TEST(memory->used() > 2u);
  }

  BOOST_TEST(memory->used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
