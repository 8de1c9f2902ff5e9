// The workload `check`: the same barriers by simulated tasks and by real client processes, whose
// requests must be the same to the byte.

#include "load/crowd.hpp"
#include "servers/machine.hpp"
#include "servers/process.hpp"
#include "studies/census.hpp"
#include "workloads/rounds.hpp"
#include "workloads/workloads.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

constexpr char const* subcommand = "client-process";

// Where a child process of the benchmark finds its channel.
constexpr int channel_fd = 3;

// Of one round of one task; the clock is the same in all processes.
struct moments {
  time_point called;
  time_point returned;
};

[[noreturn]] void become_client(std::string const& server, std::uint32_t task) {
  ::fcntl(channel_fd, F_SETFD, 0);
  auto const number = std::to_string(task);
  ::execl("/proc/self/exe", "coxswain-bench", subcommand, "--address", server.c_str(), "--task",
          number.c_str(), nullptr);
  throw system_failure("cannot start this program again");
}

asio::awaitable<void> do_rounds(client& of, channel& control, std::uint64_t rounds) {
  std::string took;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    moments m;
    m.called = now();
    co_await of.barrier("step");
    m.returned = now();
    append_raw(took, m);
  }
  control.send(message_kind::tally, took);
}

asio::awaitable<void> take_part(client_options how, channel& control) {
  auto const executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor commands{executor, ::dup(control.fd())};
  client self = co_await client::connect(std::move(how));
  control.send(message_kind::progress);
  co_await self.join();
  control.send(message_kind::done);
  for (;;) {
    co_await commands.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
    auto const command = control.receive();
    if (!command) co_return;
    if (command->kind == message_kind::finish) break;
    co_await do_rounds(self, control, command->number());
  }
  co_await self.leave();
  control.send(message_kind::done);
}

// A process for each task, this program again, which uses the public client and nothing of the
// benchmark's own wires.
class real_clients final : public load {
 public:
  real_clients(std::string server, std::uint32_t tasks)
      : server_{std::move(server)}, tasks_{tasks} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      all_.push_back(std::make_unique<child_process>(
          fmt::format("the client process of task {}", task), std::nullopt,
          [this, task](channel&) { become_client(server_, task); }));
      (void)all_.back()->receive();
      progress(task + 1);
    }
    for (auto const& one : all_) (void)one->receive();
  }

  // Rounds of a barrier; the latencies are those of `rounds_load`.
  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(2);
    found.operations = steps * tasks_;
    auto const cpu_before = cpu_time();
    auto const begun = now();
    for (auto const& one : all_) one->send(message_kind::steps, raw(steps));
    std::vector<moments> first(steps, {time_point::max(), time_point::max()});
    std::vector<moments> last(steps);
    for (auto const& one : all_) {
      auto const answer = one->receive();
      std::string_view took{answer.payload};
      for (std::uint64_t round = 0; round < steps; ++round) {
        auto const m = take_raw<moments>(took);
        first[round].called = std::min(first[round].called, m.called);
        last[round].called = std::max(last[round].called, m.called);
        last[round].returned = std::max(last[round].returned, m.returned);
      }
    }
    found.elapsed = now() - begun;
    found.busy = cpu_time() - cpu_before;
    for (std::uint64_t round = 0; round < steps; ++round) {
      found.latencies[0].add((last[round].returned - last[round].called).count());
      found.latencies[1].add((last[round].returned - first[round].called).count());
    }
    return found;
  }

  void finish() override {
    for (auto const& one : all_) one->send(message_kind::finish);
    for (auto const& one : all_) (void)one->receive();
    for (auto const& one : all_) one->await_end();
  }

  std::vector<pid_t> processes() const override {
    std::vector<pid_t> pids;
    for (auto const& one : all_) pids.push_back(one->pid());
    return pids;
  }

 private:
  duration cpu_time() const {
    duration sum = cpu_time_of(::getpid());
    for (auto const& one : all_) sum += cpu_time_of(one->pid());
    return sum;
  }

  std::string server_;
  std::uint32_t tasks_;
  std::vector<std::unique_ptr<child_process>> all_;
};

// Joins, runs the rounds that the channel asks for, and leaves when the channel says so.
void run_client(std::string const& server, std::uint32_t task) {
  channel control{net::descriptor{channel_fd}};
  try {
    client_options how{server, task_id{task}};
    std::exception_ptr problem;
    asio::io_context io{1};
    auto const ended = [&problem](std::exception_ptr why) { problem = std::move(why); };
    asio::co_spawn(io, take_part(std::move(how), control), ended);
    io.run();
    if (problem) std::rethrow_exception(problem);
  } catch (std::exception const& problem) {
    control.send(message_kind::failure, payload_of(bench_error{problem.what()}));
  }
}

constexpr char const* simulated = "simulated";
constexpr char const* processes = "processes";

std::string count_text(census const& of, std::string const& request) {
  auto const at = of.by_request().find(request);
  if (at == of.by_request().end()) return "0";
  return fmt::format("{} ({})", grouped(at->second.frames), grouped(at->second.bytes));
}

std::uint64_t requests_in(census const& of) {
  std::uint64_t sum = 0;
  for (auto const& [what, counted] : of.by_request()) {
    if (what != "heartbeat") sum += counted.frames;
  }
  return sum;
}

std::string side_by_side(census const& one, census const& other) {
  auto const line = [](std::string_view what, std::string_view b, std::string_view a) {
    return fmt::format("{:<26}{:>21}{:>21}\n", what, b, a);
  };
  auto text = line("what the servers were told", processes, simulated);
  text += line("  connections", grouped(other.connections()), grouped(one.connections()));
  std::set<std::string> all;
  for (auto const& [what, _] : one.by_request()) all.insert(what);
  for (auto const& [what, _] : other.by_request()) all.insert(what);
  for (auto const& what : all) {
    text += line("  " + what, count_text(other, what), count_text(one, what));
  }
  return text + line("  requests taken in a turn",
                     fmt::format("{:.2f}", other.requests_in_a_turn()),
                     fmt::format("{:.2f}", one.requests_in_a_turn()));
}

finding compare(std::string_view ours, std::string_view others) {
  census const one{ours};
  census const other{others};
  auto const where = census::difference(one, simulated, other, processes);
  finding found;
  found.is_good = !where;
  found.text = side_by_side(one, other);
  found.text += where ? "DIFFERENT: " + *where + ".\n"
                      : "The requests of each task are the same to the byte, but for its label and "
                        "its incarnation.\n";
  found.figures = {{"requests_differ", where ? std::uint64_t{1} : 0},
                   {"requests_of_simulated", requests_in(one)},
                   {"requests_of_processes", requests_in(other)}};
  return found;
}

struct check_options {
  std::uint32_t tasks{100};
  std::string arrivals{"together"};
};

void add_check(CLI::App& to, check_options& o) {
  add_number(to, "--tasks", o.tasks, 1, 1'000, "Tasks, and client processes");
  to.add_option("--arrivals", o.arrivals,
                "When the simulated tasks arrive: together, ordered, or jittered:6ms, at random "
                "moments within so long a time, as those of the processes do")
      ->capture_default_str();
}

plan plan_check(check_options const& o) {
  plan p;
  p.words = rounds_words("check", "barrier over " + counted(o.tasks, "simulated task") +
                                      " and as many client processes");
  p.words.measured = simulated;
  p.parameters = {{"tasks", o.tasks}};
  p.steps = std::clamp<std::uint64_t>(5'000 / o.tasks, 5, 50);
  // Those of the load are sockets to its children, or to the server.
  p.ours = p.others = {o.tasks, o.tasks};
  p.joins_first = false;
  p.job.num_tasks = o.tasks;
  p.record_bytes_max = std::size_t{1} << 30;
  p.compare = compare;
  p.make_load = [how = arrivals::parse(o.arrivals)](side_kind kind, address server,
                                                    extent size) -> std::unique_ptr<load> {
    if (kind == side_kind::processes) {
      return std::make_unique<real_clients>(server.text(), size.tasks);
    }
    return std::make_unique<rounds_load>(crowd_of(kind, std::move(server), size), round_shape{},
                                         how);
  };
  return p;
}

}  // namespace

workload make_check() {
  auto w = described<check_options>(
      "check",
      "Whether the simulated tasks are like real ones: the same barriers by them and by as many "
      "client processes. Fails if their requests are not the same to the byte",
      add_check, plan_check);
  w.always_beside = side_kind::processes;
  return w;
}

std::function<bool()> add_client_process(CLI::App& program) {
  struct arguments {
    std::string server;
    std::uint32_t task{};
  };
  auto const given = std::make_shared<arguments>();
  auto& cmd = *program.add_subcommand(subcommand, "One of the processes that 'check' starts");
  cmd.group("");
  cmd.add_option("--address", given->server, "The coordinator")->required();
  cmd.add_option("--task", given->task, "The task")->required();
  return [given, &cmd] {
    if (cmd.parsed()) run_client(given->server, given->task);
    return cmd.parsed();
  };
}

}  // namespace coxswain::bench
