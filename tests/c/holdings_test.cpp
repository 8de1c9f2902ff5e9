// Locks and items of queues, by their handles.

#include "tests/c/fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace coxswain::test {
namespace {

using item_ptr = std::unique_ptr<coxswain_item, destroyed_by<coxswain_item_destroy>>;
using lock_ptr = std::unique_ptr<coxswain_held_lock, destroyed_by<coxswain_held_lock_destroy>>;

class holdings_fixture : protected c_fixture {
 protected:
  static void push(client_ptr const& by, std::string_view value) {
    BOOST_TEST_REQUIRE(
        outcome_text(coxswain_push(by.get(), c_string("q"), c_string(value), nullptr)) == "OK");
  }

  [[nodiscard]] static item_ptr take(client_ptr const& by,
                                     std::int64_t lease = COXSWAIN_LEASE_DEFAULT_MS) {
    coxswain_item* item = nullptr;
    BOOST_TEST(outcome_text(coxswain_take(by.get(), c_string("q"), long_enough, lease, &item)) ==
               "OK");
    return item_ptr{item};
  }

  // Its value and its redeliveries.
  [[nodiscard]] static std::string text(item_ptr const& item) {
    return text_of(coxswain_item_value(item.get())) + " " +
           std::to_string(coxswain_item_redeliveries(item.get()));
  }

  [[nodiscard]] static lock_ptr locked(client_ptr const& by) {
    coxswain_held_lock* lock = nullptr;
    BOOST_TEST(outcome_text(coxswain_locked(by.get(), c_string("l"), long_enough, &lock)) == "OK");
    return lock_ptr{lock};
  }

  [[nodiscard]] std::uint64_t leased() {
    return coordinator.ask(&server::server::look).leased_items;
  }
};

// Runs `what` in a forked child, which ends with what it returns.
template <class What>
int in_child(What what) {
  pid_t const child = ::fork();
  if (child == 0) ::_exit(what());
  int how = -1;
  BOOST_REQUIRE(::waitpid(child, &how, 0) == child);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(holdings_test, holdings_fixture)

BOOST_AUTO_TEST_CASE(an_item_is_any_bytes_and_gone_once_it_is_finished) {
  auto const c = connected(options());
  std::uint64_t length = 0;
  std::string const odd{"a\0b\xff", 4};
  BOOST_TEST(outcome_text(coxswain_push(c.get(), c_string("q"), c_string(odd), &length)) == "OK");
  BOOST_TEST(length == 1u);
  auto const item = take(c);
  BOOST_TEST(text_of(coxswain_item_value(item.get())) == odd);
  BOOST_TEST(coxswain_item_number(item.get()) == 1u);

  BOOST_TEST(outcome_text(coxswain_extend(item.get(), COXSWAIN_NO_TIMEOUT)) == "OK");
  BOOST_TEST(outcome_text(coxswain_extend(item.get(), 0)).starts_with("INVALID_ARGUMENT: "));
  BOOST_TEST(outcome_text(coxswain_finish(item.get())) == "OK");

  BOOST_TEST(leased() == 0u);
  for (auto* const call : {&coxswain_finish, &coxswain_release}) {
    BOOST_TEST(outcome_text(call(item.get())) ==
               "FAILED_PRECONDITION: this handle holds nothing: it was given back or moved from, "
               "or its client is closed");
  }
  BOOST_TEST(code(coxswain_extend(item.get(), 1)) == COXSWAIN_FAILED_PRECONDITION);
  BOOST_TEST(text_of(coxswain_item_value(item.get())) == odd);
}

BOOST_AUTO_TEST_CASE(an_item_that_is_released_or_destroyed_returns_to_its_place) {
  auto const c = connected(options());
  push(c, "first");
  push(c, "second");

  BOOST_TEST(outcome_text(coxswain_release(take(c).get())) == "OK");
  auto again = take(c);
  BOOST_TEST(text(again) == "first 1");
  again.reset();

  BOOST_TEST(text(take(c)) == "first 2");
}

BOOST_AUTO_TEST_CASE(handles_may_outlive_their_client_whose_session_gives_all_back) {
  auto c = connected(options());
  auto const next = connected(options());
  push(next, "a");
  auto const item = take(c, COXSWAIN_NO_TIMEOUT);
  auto const lock = locked(c);

  c.reset();

  BOOST_TEST(text(take(next)) == "a 1");
  BOOST_TEST(coxswain_held_lock_token(locked(next).get()) == 2u);
  BOOST_TEST(text(item) == "a 0");
  BOOST_TEST(code(coxswain_finish(item.get())) == COXSWAIN_CANCELLED);
  BOOST_TEST(code(coxswain_held_lock_unlock(lock.get())) == COXSWAIN_CANCELLED);
}

BOOST_AUTO_TEST_CASE(a_held_lock_is_free_once_it_is_unlocked_or_destroyed) {
  auto const owner = connected(options());
  auto const next = connected(options());
  auto const first = locked(owner);
  BOOST_TEST(coxswain_held_lock_token(first.get()) == 1u);
  coxswain_held_lock* none = nullptr;
  BOOST_TEST(code(coxswain_locked(next.get(), c_string("l"), 0, &none)) ==
             COXSWAIN_DEADLINE_EXCEEDED);
  BOOST_TEST(!none);

  BOOST_TEST(outcome_text(coxswain_held_lock_unlock(first.get())) == "OK");
  BOOST_TEST(code(coxswain_held_lock_unlock(first.get())) == COXSWAIN_FAILED_PRECONDITION);
  auto second = locked(next);
  BOOST_TEST(coxswain_held_lock_token(second.get()) == 2u);
  second.reset();

  BOOST_TEST(coxswain_held_lock_token(locked(owner).get()) == 3u);
}

BOOST_AUTO_TEST_CASE(a_forked_child_gives_nothing_back) {
  auto const c = connected(options());
  push(c, "a");
  auto item = take(c);
  auto lock = locked(c);

  int const refused = in_child([&] {
    int const number = code(coxswain_finish(item.get()));
    bool const is_refused = code(coxswain_held_lock_unlock(lock.get())) == number;
    item.reset();
    lock.reset();
    return is_refused ? number : 0;
  });

  BOOST_TEST(refused == COXSWAIN_FAILED_PRECONDITION);
  BOOST_TEST(leased() == 1u);
  BOOST_TEST(outcome_text(coxswain_finish(item.get())) == "OK");
  BOOST_TEST(outcome_text(coxswain_held_lock_unlock(lock.get())) == "OK");
}

BOOST_AUTO_TEST_CASE(null_is_refused_or_empty) {
  auto const c = connected(options());

  BOOST_TEST(outcome_text(coxswain_take(c.get(), c_string("q"), 0, 1, nullptr)) ==
             "INVALID_ARGUMENT: where the item goes is NULL");
  BOOST_TEST(outcome_text(coxswain_locked(c.get(), c_string("l"), 0, nullptr)) ==
             "INVALID_ARGUMENT: where the lock goes is NULL");
  BOOST_TEST(outcome_text(coxswain_finish(nullptr)) == "INVALID_ARGUMENT: the item is NULL");
  BOOST_TEST(outcome_text(coxswain_release(nullptr)) == "INVALID_ARGUMENT: the item is NULL");
  BOOST_TEST(outcome_text(coxswain_extend(nullptr, 1)) == "INVALID_ARGUMENT: the item is NULL");
  BOOST_TEST(outcome_text(coxswain_held_lock_unlock(nullptr)) ==
             "INVALID_ARGUMENT: the lock is NULL");
  BOOST_TEST(coxswain_item_value(nullptr).size == 0u);
  BOOST_TEST(coxswain_item_number(nullptr) == 0u);
  BOOST_TEST(coxswain_item_redeliveries(nullptr) == 0u);
  BOOST_TEST(coxswain_held_lock_token(nullptr) == 0u);
  coxswain_item_destroy(nullptr);
  coxswain_held_lock_destroy(nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
