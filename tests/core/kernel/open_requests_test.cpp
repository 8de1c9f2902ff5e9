#include "coxswain/core/kernel/open_requests.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <string>

namespace coxswain::core {
namespace {

parked numbered(std::uint64_t number) {
  parked p;
  p.number = number;
  return p;
}

// The ids of the open requests.
std::string open_in(open_requests const& all) {
  std::string text;
  all.each([&](request_id id, parked const& p) {
    BOOST_TEST(p.number == id.value);
    text += (text.empty() ? "" : " ") + std::to_string(id.value);
  });
  return text;
}

void add(open_requests& to, std::uint64_t id) { to.add(request_id{id}, numbered(id)); }

BOOST_AUTO_TEST_SUITE(open_requests_test)

BOOST_AUTO_TEST_CASE(a_request_can_be_taken_once) {
  open_requests all;
  add(all, 5);

  BOOST_TEST(all.contains(request_id{5}));
  BOOST_TEST(all.look(request_id{5})->number == 5u);
  BOOST_TEST(all.take(request_id{5}).value().number == 5u);

  BOOST_TEST(all.empty());
  BOOST_TEST(!all.contains(request_id{5}));
  BOOST_TEST(!all.take(request_id{5}).has_value());
}

BOOST_AUTO_TEST_CASE(random_operations_match_a_map) {
  std::mt19937 random{17};
  for (int round = 0; round < 200; ++round) {
    open_requests all;
    std::map<std::uint64_t, bool> model;
    std::uint64_t highest = 0;
    for (int step = 0; step < 200; ++step) {
      if (random() % 2 == 0) {
        bool const again = random() % 8 == 0;
        std::uint64_t const id = again ? random() % (highest + 1) : highest + 1 + random() % 3;
        if (id == 0 || model.contains(id)) continue;
        highest = std::max(highest, id);
        add(all, id);
        model[id] = true;
      } else {
        std::uint64_t const id = random() % (highest + 2);
        BOOST_TEST(all.take(request_id{id}).has_value() == (model.erase(id) == 1));
      }
      BOOST_TEST_REQUIRE(all.size() == model.size());
    }
    std::string expected;
    for (auto const& [id, _] : model)
      expected += (expected.empty() ? "" : " ") + std::to_string(id);
    BOOST_TEST(open_in(all) == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
