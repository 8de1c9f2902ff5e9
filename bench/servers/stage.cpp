#include "servers/stage.hpp"

#include <boost/json/value.hpp>

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {

std::string circumstances::over() const {
  return transport == "unix" ? "Unix sockets" : transport == "tls" ? "TLS" : "TCP";
}

void circumstances::add_to(boost::json::object& o) const {
  o["machine"] = measured_on.machine;
  o["program"] = measured_on.program;
  o["day"] = measured_on.day;
}

boost::json::object circumstances::disturbed_json() const {
  return {{"others", disturbed.others},
          {"stolen", disturbed.stolen},
          {"waiting", disturbed.waiting},
          {"is_too_much", disturbed.is_too_much()}};
}

side& stage::add(side_plan what, bool over_unix, std::string const& name) {
  constexpr std::size_t descriptors_besides = 128;  // and what the server keeps for itself
  auto const connections = what.work->of(what.kind).connections;
  need_descriptors(connections + descriptors_besides);
  what.cpus = plan_cpus();
  if (directory_) what.directory = directory_->path();
  if (!what.is_running) {
    what.at = over_unix ? fmt::format("unix:{}/{}", what.directory, ++added_) : "127.0.0.1:0";
  }
  sides_.push_back(std::make_unique<side>(std::move(what), signals_));
  sides_.back()->connect([&](std::uint64_t n) {
    live_.show(fmt::format("{}: {} of {} connections", name, n, connections));
  });
  return *sides_.back();
}

void stage::remove(side& one) {
  waited_ += one.wait_time();
  std::erase_if(sides_, [&one](auto const& s) { return s.get() == &one; });
}

void stage::watch() {
  machine_before_ = read_machine_time();
  ours_before_ = used_by_us();
}

circumstances stage::seen() const {
  return {transport_, plan_cpus(),
          disturbance_between(machine_before_, ours_before_, read_machine_time(), used_by_us()),
          here()};
}

usage stage::used_by_us() const {
  usage u{cpu_time_of(::getpid()) + cpu_time_of_ended_children(), waited_};
  for (auto const& s : sides_) {
    u.used += s->cpu_time();
    u.waited += s->wait_time();
  }
  return u;
}

}  // namespace coxswain::bench
