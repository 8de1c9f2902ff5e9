// Without space for its journal a coordinator stores nothing more, and the job can still end well.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

void refuse_storing(cluster& c, std::string why) {
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::storing_refused{std::move(why)}).ok());
}

BOOST_AUTO_TEST_SUITE(coordinator_space_test)

BOOST_AUTO_TEST_CASE(nothing_is_stored_and_no_round_begins) {
  cluster c{2};
  auto const open = c.barrier(0, "open", 300s);
  refuse_storing(c, "the disk is full");

  BOOST_TEST(c.text(c.put(0, "k", "v")) == "the disk is full");
  BOOST_TEST(c.code(c.barrier(0, "new", 300s)) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(open) == "waits");
  c.barrier(1, "open", 300s);
  BOOST_TEST(c.code(open) == "OK");
  expect_words(c.log(), {"nothing more is stored, and no round begins: the disk is full"});

  refuse_storing(c, "");
  BOOST_TEST(c.code(c.put(0, "k", "v")) == "OK");
  expect_words(c.log(), {"nothing is refused for lack of space any more"});
}

BOOST_AUTO_TEST_CASE(tasks_leave) {
  cluster c{2};
  refuse_storing(c, "the disk is full");
  auto const first = c.leave(0);
  c.leave(1);
  BOOST_TEST(c.code(first) == "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
