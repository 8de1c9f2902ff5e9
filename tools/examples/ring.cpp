// A ring of processes that survives the loss of members: in each round every member computes the
// sum of all numbers, over plain sockets between neighbors. When process_monitor reports a lost
// member, the others drop this generation of the ring, agree on the remaining members, and build
// the next.

#include "coxswain/client/process_monitor.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>
#include <iostream>

using namespace coxswain;
using namespace asio::experimental::awaitable_operators;
using asio::ip::tcp;

class ring {
 public:
  ring(client& job, asio::any_io_executor executor)
      : job_{job}, monitor_{job}, executor_{executor}, broken_{executor} {}

  // Passes numbers around until this many rounds are complete, and leaves the job.
  asio::awaitable<void> run(int rounds) {
    auto notify = [this](tasks_result const&, std::span<process const> lost) { note(lost); };
    static_cast<void>(co_await (live(rounds) && monitor_.run(notify)));
  }

 private:
  asio::awaitable<void> live(int rounds) {
    for (bool done = false; !done;) {
      co_await agree_on_members();
      auto const first =
          co_await (work(rounds) || broken_.async_wait(asio::as_tuple(asio::use_awaitable)));
      done = first.index() == 0 && std::get<0>(first);
      if (!done) std::cout << "generation " << generation_ << " is broken" << std::endl;
    }
    co_await job_.leave(60s);
  }

  // Waits until all live members have dropped the last generation.
  asio::awaitable<void> agree_on_members() {
    std::vector<task_id> tasks;
    for (process const& member : members_) tasks.push_back(member.task);
    members_ = co_await job_.alive_tasks(tasks, 60s);
    ++generation_;
    broken_.expires_at(asio::steady_timer::time_point::max());
    note({});
    std::cout << "generation " << generation_ << " has " << members_.size() << " members\n";
  }

  // Handles the monitor's updates. The waiter for `broken_` cancels the exchange.
  void note(std::span<process const> lost) {
    for (process const& p : lost) std::cout << "task " << p.task << " is lost" << std::endl;
    if (!monitor_.check_current(members_).ok()) broken_.expires_at({});
  }

  // Whether all rounds are complete; if not, the generation is broken.
  asio::awaitable<bool> work(int rounds) {
    try {
      co_await exchange("ring/" + std::to_string(generation_) + '/', rounds);
      co_return true;
    } catch (std::exception const&) {
      co_return false;  // a neighbor is gone, or another member or this one dropped the generation
    }
  }

  // The sockets live as long as the generation: dropping it wakes the neighbors.
  asio::awaitable<void> exchange(std::string prefix, int rounds) {
    process const self{*job_.task(), job_.incarnation()};
    auto const me = std::find(members_.begin(), members_.end(), self);
    auto const after = me + 1 == members_.end() ? members_.begin() : me + 1;
    tcp::endpoint const any_port{asio::ip::address_v4::loopback(), 0};
    tcp::acceptor acceptor{executor_, any_port};
    tcp::socket next{executor_};
    tcp::socket previous{executor_};

    auto const port = std::to_string(acceptor.local_endpoint().port());
    co_await job_.put(prefix + std::to_string(self.task.value), port);
    auto const theirs = co_await job_.get(prefix + std::to_string(after->task.value), 60s);
    auto const their_port = static_cast<std::uint16_t>(std::stoi(theirs));
    tcp::endpoint const neighbour{any_port.address(), their_port};
    co_await (next.async_connect(neighbour, asio::use_awaitable) &&
              acceptor.async_accept(previous, asio::use_awaitable));

    // Some may have completed a round that others have not: all continue with the earliest.
    std::vector<task_id> participants;
    for (process const& member : members_) participants.push_back(member.task);
    barrier_options const members{60s, participants};
    round_ = co_await job_.reduce(prefix + "round", round_, reduction::min, members);
    for (; round_ < rounds; ++round_) {
      auto const sum = co_await pass_around(next, previous);
      std::cout << "round " << round_ + 1 << ": " << sum << std::endl;
    }
    co_await job_.barrier(prefix + "done", members);
  }

  // The sum of all members' numbers; each is the task's number plus one.
  asio::awaitable<std::uint64_t> pass_around(tcp::socket& next, tcp::socket& previous) {
    std::uint64_t number = job_.task()->value + 1;
    std::uint64_t sum = number;
    for (std::size_t hop = 1; hop < members_.size(); ++hop) {
      auto const bytes = asio::buffer(&number, sizeof number);
      co_await asio::async_write(next, bytes, asio::use_awaitable);
      co_await asio::async_read(previous, bytes, asio::use_awaitable);
      sum += number;
    }
    co_return sum;
  }

  client& job_;
  process_monitor monitor_;
  asio::any_io_executor executor_;
  asio::steady_timer broken_;     // cancelled when the generation ends
  std::vector<process> members_;  // at first empty: all tasks
  int generation_{};
  std::int64_t round_{};  // completed rounds
};

asio::awaitable<void> work(int rounds) {
  auto options = client_options::from_environment();
  options.recoverable = true;  // our death does not fail the job
  client job = co_await client::connect_and_join(std::move(options));
  auto const executor = co_await asio::this_coro::executor;
  ring members{job, executor};
  co_await members.run(rounds);
}

int main(int argc, char** argv) try {
  CLI::App program{"Joins the job that the environment names, and adds numbers in a ring."};
  int rounds = 100;
  program.add_option("--rounds", rounds, "How many sums to make")->capture_default_str();
  CLI11_PARSE(program, argc, argv);

  asio::io_context io{1};
  auto report = [](std::exception_ptr problem) {
    if (problem) std::rethrow_exception(problem);
  };
  asio::co_spawn(io, work(rounds), report);
  io.run();
} catch (std::exception const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
