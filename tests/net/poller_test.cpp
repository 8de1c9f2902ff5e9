#include "coxswain/net/poller.hpp"

#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/readiness.hpp"
#include "tests/net/sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::net {
namespace {

// Logs what happens: "(" a loop iteration begins, ")" it ends.
struct iteration_log final : iteration_owner {
  time_point iteration_begins() noexcept override {
    text += "(";
    began_at = std::chrono::steady_clock::now();
    iteration_time += iteration_takes;
    return iteration_time;
  }
  void iteration_ends() noexcept override {
    text += ")";
    if (at_end) at_end();
  }

  std::string take() { return std::exchange(text, {}); }

  std::string text;
  std::function<void()> at_end;
  time_point began_at;
  time_point iteration_time;  // the time of the last loop iteration
  duration iteration_takes{};
};

// Reads into a buffer of four bytes, and logs what it reads.
class reader final : private watched {
 public:
  reader(poller& by, iteration_log& log, socket socket, bool yields = false)
      : log_{log},
        yields_{yields},
        socket_{std::move(socket)},
        ready{by, socket_.value(), this},
        loop{read()} {
    loop.start();
  }

 private:
  owned_coroutine read() {
    for (;;) {
      co_await ready.readable();
      log_.text += "r";
      for (;;) {
        char buffer[4];
        auto const got = ::recv(socket_.value(), buffer, sizeof(buffer), 0);
        if (got == 0) log_.text += "$";
        if (got == 0 || (got < 0 && ready.hung_up())) co_return;
        if (got > 0) log_.text.append(buffer, static_cast<std::size_t>(got));
        if (got < 4 && !ready.hung_up()) break;
        if (yields_) co_await ready.next_iteration();
      }
    }
  }

  void has_room() noexcept override { log_.text += "w"; }

  iteration_log& log_;
  bool yields_;
  socket socket_;

 public:
  readiness ready;
  owned_coroutine loop;
};

// Waits until it can write, then calls `what`.
struct write_callback final : watched {
  explicit write_callback(std::function<void()> what) : writes{std::move(what)} {}
  void has_room() noexcept override { writes(); }

  std::function<void()> writes;
};

struct world {
  world() { polled->start(); }

  // A reader and the socket to write to it.
  int add(bool yields = false) {
    auto ends = unix_pair();
    readers.push_back(std::make_unique<reader>(*polled, log, std::move(ends.first), yields));
    peers.push_back(std::move(ends.second));
    return peers.back().value();
  }

  // Runs until something is logged, and then all handlers that are ready.
  std::string run() {
    auto const text = run_handler();
    return text + poll();
  }

  // Runs handlers until something is logged.
  std::string run_handler() {
    io->restart();
    while (log.text.empty()) {
      BOOST_TEST_REQUIRE(io->run_one_for(std::chrono::milliseconds{wait_max_ms}) == 1u);
    }
    return log.take();
  }

  std::string poll() {
    io->restart();
    io->poll();
    return log.take();
  }

  iteration_log log;
  std::optional<asio::io_context> io{std::in_place, 1};
  std::optional<poller> polled{std::in_place, *io, log};
  std::deque<socket> peers;
  std::vector<std::unique_ptr<reader>> readers;
};

void send(int socket, std::string_view text) {
  BOOST_TEST_REQUIRE(::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
                     static_cast<ssize_t>(text.size()));
}

BOOST_AUTO_TEST_SUITE(poller_test)

BOOST_FIXTURE_TEST_CASE(nothing_happens_until_something_arrives, world) {
  auto const peer = add();
  BOOST_TEST(poll() == "");

  send(peer, "abc");

  BOOST_TEST(run() == "(rabc)");
  BOOST_TEST(poll() == "");
}

BOOST_FIXTURE_TEST_CASE(one_iteration_serves_all_that_are_ready, world) {
  auto const one = add();
  auto const two = add();
  send(one, "a");
  send(two, "b");

  BOOST_TEST(run() == "(rarb)");
}

BOOST_FIXTURE_TEST_CASE(one_iteration_serves_more_than_one_epoll_batch, world) {
  constexpr std::size_t many = 2'500;
  for (std::size_t i = 0; i < many; ++i) send(add(), "x");

  auto const text = run();

  BOOST_TEST(text.size() == 2 * many + 2);
  BOOST_TEST(text.front() == '(');
  BOOST_TEST(text.find(')') == text.size() - 1);
}

BOOST_FIXTURE_TEST_CASE(input_at_the_end_of_a_busy_iteration_is_served_without_asio, world) {
  auto const one = add();
  auto const two = add();
  send(one, "a");
  send(two, "b");
  log.at_end = [&] {
    log.at_end = nullptr;
    send(two, "c");
  };

  BOOST_TEST(run_handler() == "(rarb)(rc)");
  BOOST_TEST(poll() == "");
}

BOOST_FIXTURE_TEST_CASE(long_busy_iterations_let_other_work_of_the_io_context_run, world) {
  auto const one = add();
  auto const two = add();
  log.iteration_takes = 200us;
  log.at_end = [&] {
    send(one, "a");
    send(two, "b");
  };
  send(one, "a");
  send(two, "b");

  BOOST_TEST(run_handler() == "(rarb)(rarb)(rarb)(rarb)");
}

BOOST_FIXTURE_TEST_CASE(input_after_an_iteration_with_one_event_is_reported_by_asio, world) {
  auto const one = add();
  auto const two = add();
  send(one, "a");
  log.at_end = [&] {
    log.at_end = nullptr;
    send(two, "b");
  };

  BOOST_TEST(run_handler() == "(ra)");
  BOOST_TEST(run_handler() == "(rb)");
}

struct spinning_world : world {
  spinning_world() {
    polled.emplace(*io, log, 1s);
    polled->start();
  }
};

BOOST_FIXTURE_TEST_CASE(it_polls_after_an_iteration_with_input_only, spinning_world) {
  auto const peer = add();
  poll();
  send(peer, "a");
  BOOST_TEST(run_handler() == "(ra)");

  BOOST_TEST(io->poll_one() == 1u);
  BOOST_TEST(log.take() == "");
  send(peer, "b");
  BOOST_TEST(run_handler() == "(rb)");
}

BOOST_FIXTURE_TEST_CASE(other_work_of_the_io_context_runs_while_it_polls, spinning_world) {
  send(add(), "a");
  BOOST_TEST(run_handler() == "(ra)");
  bool ran = false;
  asio::post(*io, [&] { ran = true; });

  io->poll_one();
  io->poll_one();

  BOOST_TEST(ran);
}

BOOST_FIXTURE_TEST_CASE(closing_ends_polling, spinning_world) {
  send(add(), "a");
  BOOST_TEST(run_handler() == "(ra)");

  polled->close();

  io->poll();
  BOOST_TEST(io->stopped());
}

BOOST_FIXTURE_TEST_CASE(destruction_while_polling, spinning_world) {
  send(add(), "a");
  BOOST_TEST(run_handler() == "(ra)");
  readers.clear();

  polled.reset();

  io->poll();
  BOOST_TEST(io->stopped());
}

BOOST_FIXTURE_TEST_CASE(an_edge_before_the_wait_is_not_lost, world) {
  auto ends = unix_pair();
  send(ends.second.value(), "x");
  readers.push_back(std::make_unique<reader>(*polled, log, std::move(ends.first)));

  BOOST_TEST(run() == "(rx)");

  readers[0]->ready.poke();  // it waits: resumes at once
  BOOST_TEST(log.take() == "r");
}

BOOST_FIXTURE_TEST_CASE(a_coroutine_woken_for_the_next_iteration_resumes_there_once, world) {
  auto const peer = add();
  send(peer, "x");
  BOOST_TEST(run() == "(rx)");

  readers[0]->ready.poke_next_iteration();
  readers[0]->ready.poke_next_iteration();
  BOOST_TEST(log.take() == "");
  BOOST_TEST(run() == "(r)");
  BOOST_TEST(poll() == "");
}

BOOST_FIXTURE_TEST_CASE(a_reader_with_much_data_yields_to_others, world) {
  auto const lot = add(true);
  auto const little = add();
  send(lot, "aaaabbbbcc");
  send(little, "x");

  BOOST_TEST(run() == "(raaaarx)(bbbb)(cc)");
}

BOOST_FIXTURE_TEST_CASE(an_edge_while_waiting_for_the_next_iteration_is_consumed_there, world) {
  auto const peer = add(true);
  send(peer, "aaaa");
  log.at_end = [&] {
    log.at_end = nullptr;
    send(peer, "b");
    readers[0]->ready.poke();
  };

  BOOST_TEST(run().starts_with("(raaaa)(b)"));
  BOOST_TEST(poll() == "");
}

BOOST_FIXTURE_TEST_CASE(a_hang_up_is_reported_so_that_a_short_read_is_not_the_last, world) {
  auto const peer = add();
  send(peer, "ab");
  peers.back().close();

  BOOST_TEST(run() == "(rab$)");
  BOOST_TEST(readers[0]->loop.done());
}

BOOST_FIXTURE_TEST_CASE(writability_is_reported_while_requested, world) {
  auto const peer = add();
  send(peer, "a");
  BOOST_TEST(run() == "(ra)");  // it is writable, but not watched for that

  readers[0]->ready.want_write(true);
  BOOST_TEST(run() == "(w)");
  BOOST_TEST(poll() == "");
  readers[0]->ready.want_write(false);
  send(peer, "b");
  BOOST_TEST(run() == "(rb)");
}

BOOST_FIXTURE_TEST_CASE(writability_returns_when_the_peer_has_read, world) {
  auto const peer = add();
  std::string const block(1 << 16, 'x');
  auto ends = unix_pair();
  int const here = ends.first.value();
  std::size_t written = 0;
  for (ssize_t sent; (sent = ::send(here, block.data(), block.size(), MSG_NOSIGNAL)) > 0;) {
    written += static_cast<std::size_t>(sent);
  }
  write_callback writes{[&] { log.text += "W"; }};
  readiness blocked{*polled, here, &writes};
  blocked.want_write(true);
  send(peer, "a");
  BOOST_TEST(run() == "(ra)");

  std::vector<char> sink(written);
  for (std::size_t read = 0; read < written;) {
    auto const got = ::recv(ends.second.value(), sink.data(), sink.size(), 0);
    BOOST_TEST_REQUIRE(got > 0);
    read += static_cast<std::size_t>(got);
  }

  BOOST_TEST(run() == "(W)");
}

BOOST_FIXTURE_TEST_CASE(a_requested_iteration_runs_once, world) {
  polled->request_iteration();
  polled->request_iteration();

  BOOST_TEST(run() == "()");
  BOOST_TEST(poll() == "");
}

// Under an attack each iteration requests the next, and readiness causes iterations in between.
// If each of those added a request, the page would wait for more and more iterations.
BOOST_FIXTURE_TEST_CASE(requested_iterations_do_not_accumulate_between_readiness_events, world) {
  auto const peer = add();
  int iterations = 0;
  log.at_end = [&] {
    if (++iterations > 100) return;
    send(peer, "x");
    polled->request_iteration();
  };
  polled->request_iteration();
  while (iterations <= 100) run_handler();

  BOOST_TEST(poll().size() <= std::string_view{"()(rx)"}.size());
}

BOOST_FIXTURE_TEST_CASE(an_iteration_runs_at_the_deadline_and_not_before, world) {
  auto const deadline = std::chrono::steady_clock::now() + 2ms;
  polled->wake_at(deadline + 1h);
  polled->wake_at(deadline);
  polled->wake_at(deadline + 1s);
  polled->wake_at(std::nullopt);

  BOOST_TEST(run() == "()");
  BOOST_TEST((log.began_at >= deadline));
}

BOOST_FIXTURE_TEST_CASE(a_past_deadline_expires_at_once_and_an_infinite_one_never, world) {
  polled->wake_at(time_point::max());
  BOOST_TEST(poll() == "");
  polled->wake_at(time_point::min());

  BOOST_TEST(run() == "()");
}

BOOST_FIXTURE_TEST_CASE(a_new_deadline_after_the_old_one_expires_again, world) {
  polled->wake_at(std::chrono::steady_clock::now());
  BOOST_TEST(run() == "()");
  polled->wake_at(std::chrono::steady_clock::now());
  BOOST_TEST(run() == "()");
}

BOOST_FIXTURE_TEST_CASE(an_operation_ended_by_another_in_the_same_iteration_is_not_resumed, world) {
  std::vector<int> peers{add(), add()};
  auto ends = unix_pair();
  std::unique_ptr<readiness> writer;
  // The reader served first ends both, and puts another into their slots.
  write_callback writes{[&] {
    log.text += "W";
    readers.clear();
    add();
    writer->want_write(false);
  }};
  writer = std::make_unique<readiness>(*polled, ends.first.value(), &writes);
  writer->want_write(true);
  for (auto const peer : peers) send(peer, "x");

  BOOST_TEST(run() == "(W)");
}

BOOST_FIXTURE_TEST_CASE(closing_leaves_the_io_context_without_work, world) {
  add();
  polled->wake_at(std::chrono::steady_clock::now() + 1h);
  polled->request_iteration();

  polled->close();

  io->run();  // returns
  BOOST_TEST(log.take() == "");
  polled->request_iteration();
  polled->wake_at(std::chrono::steady_clock::now());
  io->restart();
  io->run();
  BOOST_TEST(log.take() == "");
}

BOOST_FIXTURE_TEST_CASE(closing_at_the_end_of_an_iteration, world) {
  auto const peer = add(true);
  log.at_end = [&] { polled->close(); };
  send(peer, "aaaabbbb");

  io->run();  // returns

  BOOST_TEST(log.take() == "(raaaa)");
}

BOOST_AUTO_TEST_CASE(destruction_at_the_end_of_an_iteration) {
  for (bool const by_alarm : {false, true}) {
    world w;
    auto const peer = w.add(true);
    w.log.at_end = [&] {
      w.readers.clear();
      w.polled.reset();
    };
    if (by_alarm) {
      w.polled->wake_at(time_point::min());
    } else {
      send(peer, "aaaabbbb");
    }

    w.io->run();  // returns

    BOOST_TEST(w.log.take() == (by_alarm ? "()" : "(raaaa)"));
  }
}

BOOST_FIXTURE_TEST_CASE(destruction_while_everything_is_pending, world) {
  send(add(), "x");
  polled->request_iteration();
  polled->wake_at(time_point::min());
  readers.clear();
  polled.reset();

  io->run();  // returns

  BOOST_TEST(log.take() == "");
}

BOOST_FIXTURE_TEST_CASE(the_io_context_can_end_first, world) {
  send(add(), "x");
  polled->request_iteration();
  polled->wake_at(time_point::min());

  io.reset();

  polled->request_iteration();
  polled->wake_at(time_point::min());
  polled->start();
  add();
  BOOST_TEST(log.take() == "");
}

// In `run` the thread sleeps in our epoll, and Asio's is one of its descriptors.
BOOST_FIXTURE_TEST_CASE(running_serves_input_and_the_io_context, world) {
  auto const peer = add();
  asio::steady_timer timer{*io, 1ms};
  timer.async_wait([&](boost::system::error_code) {
    log.text += "t";
    send(peer, "a");
  });
  log.at_end = [&] { polled->close(); };

  polled->run();

  BOOST_TEST(log.take() == "t(ra)");
  BOOST_TEST(io->stopped());
}

BOOST_FIXTURE_TEST_CASE(running_serves_what_arrived_before, world) {
  send(add(), "a");
  log.at_end = [&] { polled->close(); };

  polled->run();

  BOOST_TEST(log.take() == "(ra)");
}

BOOST_FIXTURE_TEST_CASE(running_runs_a_requested_iteration_once, world) {
  asio::steady_timer timer{*io};
  log.at_end = [&] {
    timer.expires_after(5ms);
    timer.async_wait([&](boost::system::error_code) { polled->close(); });
  };
  polled->request_iteration();

  polled->run();

  BOOST_TEST(log.take() == "()");
}

BOOST_FIXTURE_TEST_CASE(running_runs_an_iteration_at_the_deadline, world) {
  auto const deadline = std::chrono::steady_clock::now() + 2ms;
  polled->wake_at(deadline);
  log.at_end = [&] { polled->close(); };

  polled->run();

  BOOST_TEST(log.take() == "()");
  BOOST_TEST((log.began_at >= deadline));
}

BOOST_FIXTURE_TEST_CASE(what_an_iteration_posts_runs_if_the_context_may, world) {
  send(add(), "a");
  log.at_end = [&] {
    asio::post(*io, [&] {
      log.text += "p";
      polled->close();
    });
    polled->let_context_run();
  };

  polled->run();

  BOOST_TEST(log.take() == "(ra)p");
}

BOOST_FIXTURE_TEST_CASE(a_stopped_context_ends_running_and_goes_on_later, world) {
  auto const peer = add();
  asio::post(*io, [&] { io->stop(); });
  polled->run();
  BOOST_TEST(log.take() == "");

  io->restart();
  send(peer, "a");
  log.at_end = [&] { polled->close(); };
  polled->run();

  BOOST_TEST(log.take() == "(ra)");
}

BOOST_FIXTURE_TEST_CASE(an_iteration_stops_the_context, world) {
  send(add(), "a");
  log.at_end = [&] {
    io->stop();
    polled->let_context_run();
  };

  polled->run();

  BOOST_TEST(log.take() == "(ra)");
}

BOOST_FIXTURE_TEST_CASE(destruction_in_an_iteration_while_running, world) {
  send(add(), "a");
  bool ran = false;
  log.at_end = [&] {
    readers.clear();
    polled.reset();
    asio::post(*io, [&] { ran = true; });
  };

  polled->run();

  BOOST_TEST(ran);
}

BOOST_FIXTURE_TEST_CASE(running_polls_after_an_iteration_with_input, spinning_world) {
  auto const peer = add();
  send(peer, "a");
  asio::steady_timer timer{*io};
  int iterations = 0;
  log.at_end = [&] {
    if (++iterations == 2) return polled->close();
    timer.expires_after(2ms);
    timer.async_wait([&](boost::system::error_code) { send(peer, "b"); });
  };

  polled->run();

  BOOST_TEST(log.take() == "(ra)(rb)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
