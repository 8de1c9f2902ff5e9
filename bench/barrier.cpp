// The workload `barrier`: all tasks arrive, all are released, again and again.

#include "rounds.hpp"
#include "workloads.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace coxswain::bench {
namespace {

class barrier final : public rounds {
 public:
  using rounds::rounds;

  CLI::App* add_to(CLI::App& program) override {
    auto* cmd = program.add_subcommand(
        "barrier",
        "All tasks arrive, all are released: the time from the last arrival sent to the last "
        "release received, and the server's CPU");
    add_options(*cmd);
    cmd->add_option("--redis-barrier", redis_barrier_,
                    "With --vs redis: script: a function counts, and publishes when all are there; "
                    "count: the client that counted the last one publishes; list: all wait for an "
                    "element of a list")
        ->transform(CLI::CheckedTransformer{
            std::map<std::string, redis_barrier>{{"script", redis_barrier::script},
                                                 {"count", redis_barrier::count},
                                                 {"list", redis_barrier::list}}})
        ->default_str("script");
    return cmd;
  }

  vocabulary words() const override {
    auto w = rounds::words();
    w.name = "barrier";
    w.title = "barrier over " + who().text();
    return w;
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis, side_kind::etcd}; }

  std::uint64_t steps_by_default() const override {
    return std::clamp<std::uint64_t>(20'480 / who().tasks(), 5, 50);
  }

 protected:
  round_shape shape(std::uint32_t /*tasks*/) const override { return {}; }
};

}  // namespace

std::unique_ptr<workload> make_barrier() { return std::make_unique<barrier>(); }

std::unique_ptr<workload> make_barrier(population who) { return std::make_unique<barrier>(who); }

}  // namespace coxswain::bench
