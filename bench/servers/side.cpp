#include "servers/side.hpp"

#include "servers/servers.hpp"

#include <thread>
#include <utility>

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

void run_server(side_plan const& plan, channel& control) {
  if (is_rival(plan.kind)) become_rival(plan.kind, plan.at, plan.directory, control);
  ::malloc_trim(0);  // what our parent has freed would hide how much the server needs
  auto const memory = memory_of(::getpid());
  control.send(message_kind::memory, raw(memory.value_or(memory_use{}).now_bytes));
  if (plan.kind == side_kind::floor || plan.kind == side_kind::second_floor) {
    serve_floor(
        address{plan.at}, plan.work->floor_answers_together, plan.floor_trigger,
        [&control](std::string const& where) { control.send(message_kind::listening, where); });
  }
  coordinator_plan coordinator;
  coordinator.listen = plan.at;
  coordinator.tls = plan.tls.value_or(tls_options{});
  coordinator.is_quiet = plan.work->ends_in_failure;
  coordinator.record_bytes_max = plan.work->record_bytes_max;
  coordinator.job = plan.work->job;
  serve_coordinator(std::move(coordinator), control);
}

// What a server does after its last answer is work, too: a coordinator gives memory back.
void await_rest(pid_t server) {
  for (int i = 0; i < 50; ++i) {
    auto const used = cpu_time_of(server);
    std::this_thread::sleep_for(1ms);
    if (cpu_time_of(server) == used) return;
  }
}

// False if nothing came for so long; zero is without limit.
bool wait_for_command(channel const& control, duration longest) {
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  pollfd waited{control.fd(), POLLIN, 0};
  return ::poll(&waited, 1, ms == 0 ? -1 : static_cast<int>(ms)) != 0;
}

void run_load(side_plan const& plan, channel& control) {
  address server{plan.at};
  if (plan.tls) server.speak(*plan.tls);
  auto const all = plan.work->make_load(plan.kind, std::move(server), plan.work->of(plan.kind));
  if (plan.running_as) all->is_served_by(*plan.running_as);
  all->connect([&control](std::uint64_t n) { control.send(message_kind::progress, raw(n)); });
  for (auto const pid : all->processes()) {
    control.send(message_kind::process, raw(static_cast<std::uint64_t>(pid)));
  }
  control.send(message_kind::done);
  for (;;) {
    if (!wait_for_command(control, all->beat_period())) {
      all->beat();
      continue;
    }
    auto const command = control.receive();
    if (!command) return;
    if (command->kind == message_kind::finish) {
      all->finish();
      control.send(message_kind::done);
      (void)control.receive();  // the connections stay until the server has ended
      return;
    }
    if (command->kind == message_kind::conclusion)
      control.send(message_kind::conclusion, all->conclude());
    else if (command->kind == message_kind::act)
      all->turn_to(command->number());
    else
      control.send(message_kind::tally, all->measure(command->number()).to_bytes());
  }
}

}  // namespace

side::side(side_plan plan, interrupts const& signals)
    : plan_{std::move(plan)}, signals_{signals}, server_pid_{plan_.running_as} {
  if (plan_.is_running) return;
  server_ = std::make_unique<child_process>(
      fmt::format("the server process ({})", name(plan_.kind)), plan_.cpus.server,
      [this](channel& control) { run_server(plan_, control); });
  server_pid_ = server_->pid();
  plan_.running_as = server_pid_;
  if (!is_rival(plan_.kind)) server_first_bytes_ = server_->receive(signals_).number();
  plan_.at = server_->receive(signals_).payload;
  if (!is_rival(plan_.kind)) return;
  await_rival(address{plan_.at}, plan_.directory, [this] { return server_->ending(); });
}

// The server first: it need not see its clients vanish.
side::~side() { server_.reset(); }

void side::connect(std::function<void(std::uint64_t)> const& progress) {
  auto const before = server_pid_ ? memory_of(*server_pid_) : std::nullopt;
  load_ = std::make_unique<child_process>(fmt::format("the load ({})", name(plan_.kind)),
                                          plan_.cpus.load,
                                          [this](channel& control) { run_load(plan_, control); });
  for (;;) {
    auto const m = receive_from_load();
    if (m.kind == message_kind::done) break;
    if (m.kind == message_kind::process)
      further_.push_back(static_cast<pid_t>(m.number()));
    else
      progress(m.number());
  }
  if (server_pid_) await_rest(*server_pid_);
  auto const after = before ? memory_of(*server_pid_) : std::nullopt;
  if (!after) return;
  bytes_connected_ = static_cast<double>(after->now_bytes) - static_cast<double>(before->now_bytes);
}

sample side::measure(std::uint64_t steps) {
  auto const server_cpu = [this]() -> std::optional<duration> {
    if (!server_pid_) return std::nullopt;
    return cpu_time_of(*server_pid_);
  };
  sample s;
  s.server_first_bytes = server_first_bytes_;
  if (server_) forget_peak(*server_pid_);
  if (server_pid_) s.server_before = memory_of(*server_pid_);
  auto const server_before = server_cpu();
  auto const load_before = load_cpu_time();

  load_->send(message_kind::steps, raw(steps));
  s.found = tally::from_bytes(receive_from_load().payload);
  if (server_pid_) await_rest(*server_pid_);
  if (server_before) s.server_cpu = *server_cpu() - *server_before;
  s.load_cpu = load_cpu_time() - load_before;
  if (server_pid_) s.server_after = memory_of(*server_pid_);
  return s;
}

void side::turn_to(std::uint64_t act) { load_->send(message_kind::act, raw(act)); }

std::string side::conclude() {
  load_->send(message_kind::conclusion);
  return receive_from_load().payload;
}

void side::finish() {
  load_->send(message_kind::finish);
  (void)receive_from_load();
  further_.clear();
}

std::string side::recording() {
  server_->send(message_kind::recording);
  return server_->receive(signals_).payload;
}

duration side::cpu_time() const {
  duration sum{};
  for (auto const process : processes()) sum += cpu_time_of(process);
  for (auto const process : further_) sum += cpu_time_of(process);
  return sum;
}

duration side::load_cpu_time() const {
  duration sum = cpu_time_of(load_->pid());
  for (auto const process : further_) sum += cpu_time_of(process);
  return sum;
}

duration side::wait_time() const {
  duration sum{};
  for (auto const process : processes()) sum += wait_time_of(process);
  return sum;
}

// When the load fails, the server may know better why. A rival has no channel to say so.
message side::receive_from_load() try {
  return load_->receive(signals_);
} catch (bench_error const& problem) {
  if (problem.code() == exit_code::interrupted || !server_) throw;
  if (is_rival(plan_.kind)) {
    auto const ended = server_->ending();
    if (!ended) throw;
    throw bench_error{fmt::format("{} {}; {}", name(plan_.kind), *ended, problem.what())};
  }
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
