// The workload `failure`: one process of a job is killed, and all others, which are the load, are
// notified.

#include "load/fleet.hpp"
#include "workloads/workload.hpp"

#include "coxswain/wire/codec.hpp"

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

// The last task, in its own process, until it is killed.
class victim {
 public:
  victim(address const& server, std::uint32_t tasks) : pid_{::fork()} {
    if (pid_ < 0) throw system_failure("cannot start the victim");
    if (pid_ == 0) live(server, tasks);
  }
  ~victim() { kill(); }
  victim(victim const&) = delete;
  victim& operator=(victim const&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  // Never returns and never unwinds: the stack above belongs to the parent.
  [[noreturn]] static void live(address const& server, std::uint32_t tasks) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      fleet alone{server, make_coxswain_peer(tasks), {1, 0}};
      alone.connect([](std::uint64_t) {});
      alone.speaks().expect({join_answer()});
      alone.ask(0, task_id{tasks - 1}, core::join_args{incarnation{1}});
      alone.run("the end of the join");
      for (;;) ::pause();
    } catch (std::exception const& problem) {
      std::cerr << "the victim: " << problem.what() << '\n';
    }
    ::_exit(1);
  }

  pid_t pid_;
};

class failure_load final : public fleet_load, public connections::listener {
 public:
  failure_load(address const& server, std::uint32_t tasks)
      : fleet_load{fleet{server, make_coxswain_peer(tasks), {tasks - 1, tasks - 1}}},
        survivors_{tasks - 1},
        victim_{server, tasks} {}

  // One failure, whatever the number, because the job has then failed.
  tally measure(std::uint64_t /*steps*/) override {
    tally found;
    found.latencies.resize(1);
    found.operations = survivors_;
    ignorant_ = survivors_;
    auto const begun = now();
    stopwatch const watch;
    victim_.kill();
    all_.wires().await(ignorant_, 0, *this, "survivors were not notified");
    watch.stop(found);
    found.latencies[0].add((now() - begun).count());
    return found;
  }

  // The server ends with its only sample.
  void beat() override {}
  duration beat_period() const noexcept override { return {}; }
  void finish() override {}

 private:
  void arrived(std::size_t, received_frame const& frame) override {
    auto const message = wire::decode_server(frame.beginning);
    if (!message) throw bench_error{"it sent nonsense: " + message.error().text()};
    if (std::holds_alternative<job_error>(message->what.value)) --ignorant_;
  }

  std::uint32_t survivors_;
  victim victim_;
  std::size_t ignorant_{};
};

}  // namespace

std::unique_ptr<load> make_failure(load_plan const& plan) {
  return std::make_unique<failure_load>(plan.server, plan.size.tasks);
}

}  // namespace coxswain::bench
