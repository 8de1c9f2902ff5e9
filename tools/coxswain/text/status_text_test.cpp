#include "text/status_text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::tools {

BOOST_AUTO_TEST_SUITE(status_text_test)

BOOST_AUTO_TEST_CASE(one_of_a_kind_is_not_plural) {
  core::snapshot picture;
  picture.job = "train";
  picture.tasks.resize(1);
  picture.sessions = picture.keys = picture.waiting_gets = 1;
  picture.queued_items = picture.waiting_pops = picture.waiting_key_watches = 1;
  picture.locks_held = picture.waiting_locks = 1;

  picture.state.headline = "Running (85 steps per minute)";

  auto const text = status_text(picture);

  BOOST_TEST(text.find("Running (85 steps per minute)\njob 'train', 1 task: ") == 0);
  for (auto const* words : {", 1 session, ", "\n1 key of 0 B, 1 waiting get\n",
                            "\n1 item in queues, 1 waiting pop, 1 watch of keys\n",
                            "\n1 lock held, 1 waiting call for locks\n"}) {
    BOOST_TEST(text.find(words) != std::string::npos, words << " is not in\n" << text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools
