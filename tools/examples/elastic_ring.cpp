// A ring of processes whose number changes: in each round every member adds up the numbers of all,
// over plain sockets between neighbors. When one is lost, or another one joins, all go on in the
// next epoch.
//
//   coxswain run -n 4 --min-tasks 2 --max-restarts 3 -- coxswain-example-elastic-ring

#include "coxswain/client/client.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

using namespace coxswain;
using namespace asio::experimental::awaitable_operators;
using asio::ip::tcp;

class ring {
 public:
  ring(client& job, std::int64_t rounds, duration pause)
      : job_{job}, rounds_{rounds}, pause_{pause} {}

  // Until all rounds are complete; or the job goes on without this process.
  asio::awaitable<void> run() {
    bool is_member = true;
    while (is_member && !co_await is_finished()) is_member = co_await has_next_epoch();
  }

 private:
  // In this epoch.
  asio::awaitable<bool> is_finished() {
    auto const now = job_.epoch();
    std::cout << "epoch " << now.number << ": " << now.rank << " of " << now.size << std::endl;
    std::string const prefix = "epoch/" + std::to_string(now.number) + '/';
    // Whichever ends first ends the other.
    co_await (work(prefix, now.rank.value, now.size) || over(prefix));
    if (round_ < rounds_) co_return false;
    try {
      co_await job_.leave(60s);
      co_return true;
    } catch (error const&) {
      co_return false;  // the epoch is over
    }
  }

  asio::awaitable<bool> has_next_epoch() {
    try {
      co_await job_.next_epoch();
      co_return true;
    } catch (error const& why) {
      if (why.code() != errc::cancelled) throw;
      co_return false;
    }
  }

  // Nobody puts this key: the get ends when the epoch is over.
  asio::awaitable<void> over(std::string prefix) {
    try {
      co_await job_.get(prefix + "never", 24h);
    } catch (error const&) {
    }
  }

  // Ends when all rounds are complete, another epoch is wanted, or a neighbor has left the ring.
  // Its sockets end with it, and with them the work of the neighbors.
  asio::awaitable<void> work(std::string prefix, std::uint32_t rank, std::uint32_t size) {
    try {
      co_await exchange(std::move(prefix), rank, size);
    } catch (std::exception const&) {
    }
  }

  asio::awaitable<void> exchange(std::string prefix, std::uint32_t rank, std::uint32_t size) {
    tcp::endpoint const any_port{asio::ip::address_v4::loopback(), 0};
    auto const executor = co_await asio::this_coro::executor;
    tcp::acceptor acceptor{executor, any_port};
    tcp::socket next{executor};
    tcp::socket previous{executor};

    auto const port = std::to_string(acceptor.local_endpoint().port());
    co_await job_.put(prefix + std::to_string(rank), port);
    auto const theirs = co_await job_.get(prefix + std::to_string((rank + 1) % size), 60s);
    auto const their_port = static_cast<std::uint16_t>(std::stoi(theirs));
    tcp::endpoint const neighbor{any_port.address(), their_port};
    co_await (next.async_connect(neighbor, asio::use_awaitable) &&
              acceptor.async_accept(previous, asio::use_awaitable));

    // New members have no round, and some may be one behind: all continue with the latest.
    round_ = co_await job_.reduce("round", round_, reduction::max);
    asio::steady_timer timer{executor};
    while (round_ < rounds_ && !co_await job_.epoch_wanted()) {
      auto const sum = co_await pass_around(next, previous, rank + 1, size);
      std::cout << "round " << ++round_ << ": " << sum << std::endl;
      timer.expires_after(pause_);
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

  // The sum of the numbers of all members.
  static asio::awaitable<std::uint64_t> pass_around(tcp::socket& next, tcp::socket& previous,
                                                    std::uint64_t number, std::uint32_t size) {
    std::uint64_t sum = number;
    for (std::uint32_t hop = 1; hop < size; ++hop) {
      auto const bytes = asio::buffer(&number, sizeof number);
      co_await asio::async_write(next, bytes, asio::use_awaitable);
      co_await asio::async_read(previous, bytes, asio::use_awaitable);
      sum += number;
    }
    co_return sum;
  }

  client& job_;
  std::int64_t rounds_;
  duration pause_;
  std::int64_t round_{};  // completed rounds
};

asio::awaitable<void> work(std::int64_t rounds, duration pause) {
  client job = co_await client::connect_and_join(client_options::from_environment());
  ring members{job, rounds, pause};
  co_await members.run();
}

int main(int argc, char** argv) try {
  CLI::App program{"Joins the elastic job that the environment names, and adds numbers in a ring."};
  std::int64_t rounds = 100;
  int pause_ms = 0;
  program.add_option("--rounds", rounds, "How many sums to make")->capture_default_str();
  program.add_option("--pause-ms", pause_ms, "Pause after each of them")->capture_default_str();
  CLI11_PARSE(program, argc, argv);

  asio::io_context io{1};
  auto report = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, work(rounds, std::chrono::milliseconds{pause_ms}), report);
  io.run();
} catch (std::exception const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
