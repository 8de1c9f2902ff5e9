#include "side.hpp"

#include "bench_error.hpp"
#include "coordinator_process.hpp"
#include "interrupts.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include <poll.h>

namespace coxswain::bench {
namespace {

void run_server(side_plan const& plan, channel& control) {
  auto const listening = [&control](std::string const& where) {
    control.send(message_kind::listening, where);
  };
  if (plan.kind != side_kind::coxswain) {
    serve_floor(address{plan.at}, plan.tasks, plan.floor_trigger, listening);
  }
  serve_coordinator(plan.at, plan.tasks, listening);
}

// False if nothing came for so long; zero is without limit.
bool wait_for_command(channel const& control, duration longest) {
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  pollfd waited{control.fd(), POLLIN, 0};
  return ::poll(&waited, 1, ms == 0 ? -1 : static_cast<int>(ms)) != 0;
}

void send_samples(channel& control, std::vector<round_time> const& rounds) {
  std::string raw(rounds.size() * sizeof(round_time), '\0');
  std::memcpy(raw.data(), rounds.data(), raw.size());
  control.send(message_kind::samples, raw);
}

std::vector<round_time> samples_of(message const& m) {
  std::vector<round_time> rounds(m.payload.size() / sizeof(round_time));
  std::memcpy(rounds.data(), m.payload.data(), rounds.size() * sizeof(round_time));
  return rounds;
}

void run_load(side_plan const& plan, channel& control) {
  auto speaks = plan.kind == side_kind::coxswain ? make_coxswain_peer(plan.tasks)
                                                 : make_floor_peer(plan.tasks);
  load all{address{plan.at}, plan.tasks, std::move(speaks)};
  all.connect([&control](std::uint64_t n) { control.send_number(message_kind::progress, n); });
  control.send(message_kind::done);
  for (;;) {
    if (!wait_for_command(control, all.beat_period())) {
      all.beat();
      continue;
    }
    auto const command = control.receive();
    if (!command) return;
    if (command->kind == message_kind::finish) {
      all.leave();
      return control.send(message_kind::done);
    }
    std::vector<round_time> rounds(number_of(*command));
    for (auto& r : rounds) r = all.round();
    send_samples(control, rounds);
  }
}

}  // namespace

std::string name(side_kind kind) {
  switch (kind) {
    case side_kind::floor: return "floor";
    case side_kind::coxswain: return "coxswain";
    case side_kind::second_floor: return "floor-2";
  }
  return {};
}

side::side(side_plan plan, interrupts const& signals)
    : plan_{std::move(plan)}, signals_{signals}, server_pid_{plan_.running_as} {
  if (plan_.is_running) return;
  server_ = std::make_unique<child_process>(
      fmt::format("the server process ({})", name(plan_.kind)), plan_.cpus.server,
      [this](channel& control) { run_server(plan_, control); });
  server_pid_ = server_->pid();
  plan_.at = server_->receive(signals_).payload;
}

void side::connect(std::function<void(std::uint64_t)> const& progress) {
  load_ = std::make_unique<child_process>(fmt::format("the load ({})", name(plan_.kind)),
                                          plan_.cpus.load,
                                          [this](channel& control) { run_load(plan_, control); });
  for (;;) {
    auto const m = receive_from_load();
    if (m.kind == message_kind::done) return;
    progress(number_of(m));
  }
}

sample side::measure(std::uint64_t rounds) {
  auto const server_cpu = [this]() -> std::optional<duration> {
    if (!server_pid_) return std::nullopt;
    return cpu_time_of(*server_pid_);
  };
  auto const server_before = server_cpu();
  auto const load_before = cpu_time_of(load_->pid());

  load_->send_number(message_kind::rounds, rounds);
  sample s;
  s.rounds = samples_of(receive_from_load());
  if (server_before) s.server_cpu = *server_cpu() - *server_before;
  s.load_cpu = cpu_time_of(load_->pid()) - load_before;
  return s;
}

void side::finish() {
  load_->send(message_kind::finish);
  (void)receive_from_load();
}

duration side::cpu_time() const {
  duration sum{};
  for (auto const process : processes()) sum += cpu_time_of(process);
  return sum;
}

duration side::wait_time() const {
  duration sum{};
  for (auto const process : processes()) sum += wait_time_of(process);
  return sum;
}

// When the load fails, the server may know better why.
message side::receive_from_load() try {
  return load_->receive(signals_);
} catch (bench_error const& problem) {
  if (problem.code() == exit_code::interrupted || !server_) throw;
  auto const cause = server_->last_words();
  if (!cause) throw;
  throw bench_error{std::string{cause->what()} + "; " + problem.what(), cause->code()};
}

std::vector<pid_t> side::processes() const {
  std::vector<pid_t> all;
  if (server_pid_) all.push_back(*server_pid_);
  if (load_) all.push_back(load_->pid());
  return all;
}

}  // namespace coxswain::bench
