// Items that were taken from a queue, and locks, by their owning handles.

#include "coxswain/client/blocking_client.hpp"

#include "tests/client/agent_lab.hpp"
#include "tests/client/two_clients.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <type_traits>

namespace coxswain::test {
namespace {

template <class Handle>
constexpr bool is_move_only =
    std::is_nothrow_move_constructible_v<Handle>&& std::is_nothrow_move_assignable_v<Handle> &&
    !std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle>;

static_assert(is_move_only<taken_item> && is_move_only<held_lock>);
static_assert(is_move_only<blocking_item> && is_move_only<blocking_lock>);

constexpr std::string_view holds_nothing =
    "FAILED_PRECONDITION: this handle holds nothing: it was given back or moved from, or its "
    "client "
    "is closed";

std::string text_of(taken_item const& item) {
  return item.value() + " " + std::to_string(item.redeliveries());
}

// Two connected clients.
class pair_of_clients : protected two_clients {
 protected:
  pair_of_clients() {
    auto const connect = [this]() -> asio::awaitable<void> {
      a = co_await client::connect(options());
      b = co_await client::connect(options());
    };
    run(io, connect());
  }

  asio::awaitable<void> push(std::string first, std::string second) {
    co_await b.push("q", first);
    co_await b.push("q", second);
  }

  [[nodiscard]] std::uint64_t leased() { return coordinator.look().leased_items; }

  // Waits until that many items are in the queue, and none is leased or waited for.
  asio::awaitable<void> until_there_are(std::uint64_t items) {
    for (;;) {
      auto const seen = coordinator.look();
      if (seen.queued_items == items && seen.leased_items + seen.waiting_pops == 0) co_return;
      co_await next_iteration();
    }
  }
};

class a_directory {
 public:
  a_directory() { BOOST_TEST_REQUIRE(::mkdtemp(name_.data()) != nullptr); }
  ~a_directory() { std::filesystem::remove_all(name_); }
  a_directory(a_directory const&) = delete;
  a_directory& operator=(a_directory const&) = delete;

  [[nodiscard]] std::string const& name() const { return name_; }

 private:
  std::string name_ = "/tmp/coxswain-client-XXXXXX";
};

core::answer item_answer() {
  core::answer made;
  made.value = core::value_answer{bytes{"a"}, 7, 2};
  return made;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_holdings, pair_of_clients)

BOOST_AUTO_TEST_CASE(a_destroyed_handle_gives_its_item_back_to_its_place) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await push("first", "second");
    {
      auto const item = co_await a.take("q");
      BOOST_TEST(text_of(item) == "first 0");
      BOOST_TEST(leased() == 1u);
    }
    co_await until_there_are(2);
    auto const again = co_await a.take("q");
    BOOST_TEST(text_of(again) == "first 1");
    BOOST_TEST(again.number() == 1u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_handle_that_moves_takes_its_item_along) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await push("first", "second");
    auto from = co_await a.take("q");
    auto to = std::move(from);
    auto const empty = co_await outcome_of(to.extend());
    BOOST_TEST(empty.ok());
    auto& gone = from;
    BOOST_CHECK_EXCEPTION((void)gone.finish(), error,
                          [](error const& e) { return e.what() == std::string{holds_nothing}; });

    to = co_await a.take("q");  // gives the first back
    BOOST_TEST(to.value() == "second");
    auto const first = co_await a.take("q");
    BOOST_TEST(text_of(first) == "first 1");
    auto& same = to;
    to = std::move(same);
    co_await to.finish();
    BOOST_TEST(leased() == 1u);

    taken_item none;
    BOOST_CHECK_THROW((void)none.release(), error);
    BOOST_CHECK_THROW((void)none.extend(), error);
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(an_item_is_finished_or_released_once) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await push("first", "second");
    auto item = co_await a.take("q");
    co_await item.release();
    BOOST_CHECK_THROW((void)item.finish(), error);
    item = co_await a.take("q");
    BOOST_TEST(text_of(item) == "first 1");
    co_await item.finish();
    BOOST_CHECK_THROW((void)item.release(), error);
    BOOST_TEST(leased() == 0u);
    auto const next = co_await a.pop("q");
    BOOST_TEST(next.value == "second");
  };
  run(io, test());
}

BOOST_AUTO_TEST_CASE(a_detached_item_stays_with_its_session_until_that_ends) {
  auto const test = [this]() -> asio::awaitable<void> {
    co_await push("first", "second");
    queue_item left;
    {
      auto item = co_await a.take("q");
      left = item.detach();
    }
    auto second = co_await a.take("q");
    BOOST_TEST(second.value() == "second");
    co_await a.extend(left);
    co_await a.close();
    auto const again = co_await b.take("q");
    BOOST_TEST(text_of(again) == "first 1");
    BOOST_CHECK_THROW((void)second.finish(), error);
  };
  run(io, test());
}

// At whichever moment the cancellation comes: before the reply was sent, while it is in transit,
// and when it has arrived.
BOOST_AUTO_TEST_CASE(a_cancelled_take_that_meets_its_item_returns_it_to_its_place_at_once) {
  std::size_t cancelled = 0;
  std::size_t completed = 0;
  for (std::size_t steps = 0; steps < 60; ++steps) {
    asio::cancellation_signal stop;
    std::optional<bool> is_taken;
    auto const ended = [&](std::exception_ptr failure, taken_item const&) { is_taken = !failure; };
    asio::co_spawn(io, a.take("q"), asio::bind_cancellation_slot(stop.slot(), ended));
    auto const waits = [this]() -> asio::awaitable<void> {
      while (coordinator.look().waiting_pops == 0) co_await next_iteration();
    };
    run(io, waits());
    asio::co_spawn(io, push("first", "second"), asio::detached);
    for (std::size_t i = 0; i < steps; ++i) io.poll_one();
    stop.emit(asio::cancellation_type::terminal);

    auto const test = [&]() -> asio::awaitable<void> {
      while (!is_taken) co_await next_iteration();
      ++(*is_taken ? completed : cancelled);
      co_await until_there_are(2);
      for (auto const* const expected : {"first", "second"}) {
        auto const item = co_await b.pop("q", 60s);
        BOOST_TEST(item.value == expected);
      }
    };
    run(io, test());
  }
  BOOST_TEST(cancelled > 0u);
  BOOST_TEST(completed > 0u);
}

BOOST_AUTO_TEST_CASE(a_held_lock_is_free_once_its_handle_is_destroyed_or_replaced) {
  auto const test = [this]() -> asio::awaitable<void> {
    {
      auto const lock = co_await a.locked("l");
      BOOST_TEST(lock.name() == "l");
      BOOST_TEST(lock.token() == 1u);
      auto const held = co_await b.try_lock("l");
      BOOST_TEST(!held);
    }
    auto lock = co_await b.locked("l", 60s);
    BOOST_TEST(lock.token() == 2u);
    lock = co_await b.locked("m");
    auto free = co_await a.locked("l", 60s);
    BOOST_TEST(free.token() == 4u);
    auto moved = std::move(free);
    co_await moved.unlock();
    BOOST_CHECK_EXCEPTION((void)moved.unlock(), error,
                          [](error const& e) { return e.what() == std::string{holds_nothing}; });
    BOOST_TEST(lock.detach() == 3u);
    lock = {};
    auto const still = co_await a.try_lock("m");
    BOOST_TEST(!still);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(client_holdings_and_losses, fake_fixture)

// A call made while disconnected is sent when the session resumes.
BOOST_AUTO_TEST_CASE(an_item_is_kept_through_a_loss_of_the_connection) {
  for (bool const is_finished : {true, false}) {
    auto const test = [this, is_finished]() -> asio::awaitable<void> {
      auto c = co_await fake.welcome(fake.options());
      std::optional<taken_item> item;
      auto const taken = [&item](std::exception_ptr, taken_item got) { item = std::move(got); };
      asio::co_spawn(io, c.take("q"), taken);
      (void)co_await fake.read();
      co_await fake.reply(1, item_answer());
      while (!item) co_await next_iteration();
      BOOST_TEST(text_of(*item) == "a 2");

      fake.hang_up();
      std::string finished;
      if (is_finished) note(io, item->finish(), finished);
      if (!is_finished) item.reset();
      co_await fake.accept();
      (void)co_await fake.read();
      auto const resume = std::get<core::resume_args>(fake.message().what);
      auto resumed = unknown(resume.open);
      co_await fake.say(std::move(resumed));
      while (!std::holds_alternative<core::update_lease_args>(fake.message().what)) {
        (void)co_await fake.read();
      }
      auto const asked = std::get<core::update_lease_args>(fake.message().what);
      BOOST_TEST(asked.item == 7u);
      BOOST_TEST(asked.redeliveries == 2u);
      BOOST_TEST((asked.change ==
                  (is_finished ? core::lease_change::finish : core::lease_change::release)));
      co_await fake.reply_ok(2);
      while (is_finished && finished.empty()) co_await next_iteration();
      BOOST_TEST(finished == (is_finished ? "ok" : ""));
    };
    run(io, test());
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_holdings_and_restarts)

BOOST_AUTO_TEST_CASE(an_item_and_a_lock_are_kept_through_a_restart_with_a_journal) {
  a_directory const directory;
  asio::io_context io{1};
  auto const test = [&]() -> asio::awaitable<void> {
    auto with = server_options(1);
    with.journal.directory = directory.name();
    std::optional<server::server> coordinator{std::in_place, io, with};
    bool is_over = false;
    auto const over = [&is_over](std::exception_ptr) { is_over = true; };
    asio::co_spawn(io, coordinator->run(), over);
    with.listen = {coordinator->addresses().front()};
    client_options as{with.listen.front()};
    auto c = co_await client::connect(as);
    co_await c.push("q", "first");
    co_await c.push("q", "second");
    auto item = co_await c.take("q");
    auto left = co_await c.take("q");
    auto const lock = co_await c.locked("l");

    BOOST_TEST(coordinator->suspend("restart").ok());
    while (!is_over) co_await next_iteration();
    coordinator.reset();
    { auto const dropped = std::move(left); }
    coordinator.emplace(io, with);
    asio::co_spawn(io, coordinator->run(), asio::detached);

    co_await item.finish();
    auto const next = co_await c.take("q");
    BOOST_TEST(text_of(next) == "second 1");
    auto const held = co_await c.try_lock("l");
    BOOST_TEST(!held);
    BOOST_TEST(c.reconnects() == 1u);
    BOOST_TEST(lock.token() == 1u);
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
