#include "coxswain/net/shared_loop.hpp"

#include <boost/test/unit_test.hpp>

#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace coxswain::test {
namespace {

using net::shared_loop;

class fixture {
 protected:
  ~fixture() { loop.release_work(); }

  // Calls until the call is run on this thread.
  void call_here() {
    for (bool is_here = false; !is_here;) {
      shared_loop::caller here{loop};
      std::promise<bool> ended;
      auto answer = ended.get_future();
      asio::post(loop.context(), [&, caller = std::this_thread::get_id()] {
        ended.set_value(std::this_thread::get_id() == caller);
      });
      here.run([&] { return answer.wait_for(0s) == std::future_status::ready; }, without_limit);
      is_here = answer.get();
    }
  }

  // Where the loop runs work that is posted without a call.
  std::thread::id runner() {
    std::promise<std::thread::id> seen;
    asio::post(loop.context(), [&] { seen.set_value(std::this_thread::get_id()); });
    return seen.get_future().get();
  }

  shared_loop loop;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_loop_test, fixture)

BOOST_AUTO_TEST_CASE(a_caller_gets_the_loop_and_the_own_thread_continues) {
  auto const own = runner();
  BOOST_TEST((own != std::this_thread::get_id()));
  for (int i = 0; i < 10; ++i) {
    call_here();
    BOOST_TEST((runner() == own));
  }
}

BOOST_AUTO_TEST_CASE(a_long_call_is_left_to_the_own_thread) {
  auto const own = runner();
  call_here();
  shared_loop::caller here{loop};

  BOOST_TEST(!here.run([] { return false; }, without_limit));

  BOOST_TEST((runner() == own));
}

BOOST_AUTO_TEST_CASE(while_a_call_is_left_to_the_own_thread_no_caller_runs_the_loop) {
  auto const own = runner();
  auto waiting = std::make_unique<shared_loop::caller>(loop);
  BOOST_TEST(!waiting->run([] { return false; }, 0s));
  BOOST_TEST((runner() == own));  // it has the loop again

  shared_loop::caller here{loop};
  bool has_looked = false;
  here.run([&] { return has_looked = true; }, without_limit);

  BOOST_TEST(!has_looked);
  waiting.reset();
}

BOOST_AUTO_TEST_CASE(a_kept_loop_is_run_by_no_caller) {
  loop.keep();
  shared_loop::caller here{loop};
  bool has_looked = false;

  BOOST_TEST(!here.run([&] { return has_looked = true; }, without_limit));

  BOOST_TEST(!has_looked);
}

BOOST_AUTO_TEST_CASE(a_busy_own_thread_keeps_the_loop) {
  std::promise<void> begun;
  std::promise<void> free;
  loop.post([&] {
    begun.set_value();
    free.get_future().wait();
  });
  begun.get_future().wait();
  shared_loop::caller here{loop};

  BOOST_TEST(!here.run([] { return false; }, without_limit));

  free.set_value();
  runner();
}

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_runs_handlers) {
  std::size_t runs = 0;  // without a lock
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        std::promise<void> done;
        auto answer = done.get_future();
        shared_loop::caller here{loop};
        asio::post(loop.context(), [&] {
          ++runs;
          asio::post(loop.context(), [&] {
            ++runs;
            done.set_value();
          });
        });
        here.run([&] { return answer.wait_for(0s) == std::future_status::ready; }, without_limit);
        answer.get();
        if (n % 50 == 0) loop.post([&runs] { ++runs; });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  runner();

  BOOST_TEST(runs == 4u * (2 * 500 + 10));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
