#include "text/stacks_text.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::tools {
namespace {

using core::stacks_answer;

BOOST_AUTO_TEST_SUITE(stacks_texts)

BOOST_AUTO_TEST_CASE(each_group_has_its_tasks_and_frames) {
  stacks_answer answer;
  answer.number = 1;
  answer.complete = true;
  answer.wanted = 4;
  answer.more = 2;
  answer.age = 800ms;
  answer.groups = {{"5", 0, 1, 14s, true, "load (a.py:31)\n<module> (a.py:50)", "process 77: x"},
                   {"0-1", 0, 2, 12s, true, "all_reduce (b.py:7)", ""},
                   {"9", 0, 1, 12s, false, "its process has ended", ""}};

  BOOST_TEST(stacks_text(answer) ==
             "\nstacks of 4 tasks, 2 more were not asked, taken 800 ms ago\n"
             "\n1 task, 5, missing for 14.0 s, in load (a.py:31)\n"
             "  load (a.py:31)\n  <module> (a.py:50)\n  --\n  process 77: x\n"
             "\n2 tasks, 0-1, missing for 12.0 s, in all_reduce (b.py:7)\n  all_reduce (b.py:7)\n"
             "\n1 task, 9, missing for 12.0 s: its process has ended\n");
}

BOOST_AUTO_TEST_CASE(without_a_late_task_it_says_so) {
  BOOST_TEST(stacks_text({}) ==
             "\nno stacks: no task without a waiting call has held up others for 10 s\n");
}

BOOST_AUTO_TEST_CASE(a_stack_cannot_control_the_terminal) {
  stacks_answer answer;
  answer.wanted = 1;
  answer.groups = {{"0", 0, 1, 10s, true, "a\x1b[2J\nb", "c\x07"}};

  BOOST_TEST(stacks_text(answer).find('\x1b') == std::string::npos);
  BOOST_TEST(stacks_text(answer).find('\x07') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
