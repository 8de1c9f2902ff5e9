#include "stage.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace coxswain::bench {

std::string circumstances::text() const {
  auto words = std::string{transport == "unix" ? "Unix sockets" : "TCP"};
  if (!cpus.server) return words + "; one CPU for all";
  return words + fmt::format("; servers on CPU {}, load on CPU {}", *cpus.server, *cpus.load);
}

stage::stage(bool unix_sockets) {
  if (unix_sockets) sockets_.emplace();
}

side& stage::add(workload const& work, std::string const& name, side_kind kind) {
  constexpr std::size_t descriptors_besides = 128;
  auto const connections = work.connections(kind);
  need_descriptors(connections + descriptors_besides);
  side_plan plan;
  plan.work = &work;
  plan.kind = kind;
  plan.cpus = plan_cpus();
  plan.at = sockets_ ? fmt::format("unix:{}/{}", sockets_->path(), sides_.size()) : "127.0.0.1:0";
  sides_.push_back(std::make_unique<side>(std::move(plan), signals_));
  sides_.back()->connect([&](std::uint64_t n) {
    live_.show(fmt::format("{}: {} of {} connections", name, n, connections));
  });
  return *sides_.back();
}

void stage::watch() {
  machine_before_ = read_machine_time();
  ours_before_ = used_by_us();
}

circumstances stage::seen() const {
  return {sockets_ ? "unix" : "tcp", plan_cpus(),
          disturbance_between(machine_before_, ours_before_, read_machine_time(), used_by_us()),
          here()};
}

usage stage::used_by_us() const {
  usage u{cpu_time_of(::getpid()) + cpu_time_of_ended_children(), {}};
  for (auto const& s : sides_) {
    u.used += s->cpu_time();
    u.waited += s->wait_time();
  }
  return u;
}

}  // namespace coxswain::bench
