#include "coxswain/net/owned_coroutine.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>

namespace coxswain::net {
namespace {

// Waits until the test resumes it.
struct pause {
  std::coroutine_handle<>& parked;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owned_coroutine) const noexcept {
    parked = owned_coroutine;
  }
  void await_resume() const noexcept {}
};

owned_coroutine count(std::shared_ptr<int> steps, std::coroutine_handle<>& parked) {
  ++*steps;
  co_await pause{parked};
  ++*steps;
}

owned_coroutine fail(std::coroutine_handle<>& parked) {
  co_await pause{parked};
  throw std::runtime_error{"no more"};
}

BOOST_AUTO_TEST_SUITE(owned_coroutine_test)

BOOST_AUTO_TEST_CASE(it_runs_when_started_and_continues_when_resumed) {
  auto const steps = std::make_shared<int>();
  std::coroutine_handle<> parked;

  auto const r = count(steps, parked);
  BOOST_TEST(*steps == 0);
  r.start();
  BOOST_TEST(*steps == 1);
  BOOST_TEST(!r.done());
  parked.resume();

  BOOST_TEST(*steps == 2);
  BOOST_TEST(r.done());
  BOOST_TEST(!r.failure());
}

BOOST_AUTO_TEST_CASE(its_locals_are_destroyed_with_its_owner_wherever_it_is_suspended) {
  auto const steps = std::make_shared<int>();
  std::coroutine_handle<> parked;

  {
    auto const never_started = count(steps, parked);
    auto suspended = count(steps, parked);
    suspended.start();
    auto const moved = std::move(suspended);
    BOOST_TEST(steps.use_count() == 3);
  }

  BOOST_TEST(steps.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_ends_it_and_does_not_reach_the_resumer) {
  std::coroutine_handle<> parked;
  auto const r = fail(parked);
  r.start();

  BOOST_CHECK_NO_THROW(parked.resume());

  BOOST_TEST(r.done());
  BOOST_CHECK_THROW(std::rethrow_exception(r.failure()), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
