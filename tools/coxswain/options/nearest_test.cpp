// The nearest known name to an unknown one.

#include "options/nearest.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::tools {
namespace {

std::set<std::string> const options{"num-tasks", "linger", "listen", "job"};

BOOST_AUTO_TEST_SUITE(nearest_test)

BOOST_AUTO_TEST_CASE(a_few_wrong_letters_are_overlooked) {
  BOOST_TEST(nearest("num_tasks", options) == "num-tasks");
  BOOST_TEST(nearest("lister", options) == "listen");
  BOOST_TEST(nearest("numtask", options) == "num-tasks");
  BOOST_TEST(nearest("jop", options) == "job");
  BOOST_TEST(nearest("jbo", options) == "job");
}

BOOST_AUTO_TEST_CASE(another_word_is_near_to_nothing) {
  BOOST_TEST(nearest("verbosity", options) == "");
  BOOST_TEST(nearest("bin", options) == "");
  BOOST_TEST(nearest("", options) == "");
  BOOST_TEST(nearest("x", {}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
