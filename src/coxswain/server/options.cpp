#include "coxswain/server/options.hpp"

#include "coxswain/net/address_range.hpp"
#include "coxswain/server/memory_limit.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/ranges.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

namespace coxswain::server {
namespace {

// Clients try to connect every 100 ms at most.
constexpr duration restart_grace_min = 1s;

status refusal(std::string why) { return {errc::invalid_argument, std::move(why)}; }

status check_times(options const& o) {
  struct time {
    char const* name;
    duration value;
  };
  time const all[] = {
      {"heartbeat_timeout", o.core.heartbeat_timeout},
      {"hello_timeout", o.core.hello_timeout},
      {"stalled_reader_timeout", o.core.stalled_reader_timeout},
      {"preemption_timeout", o.core.preemption_timeout},
  };
  for (auto const& [name, value] : all) {
    if (value == 0s) return refusal(std::string{name} + " must be above zero.");
  }
  return {};
}

// Clients refuse longer ones.
status check_stated_times(options const& o) {
  constexpr auto longest = wire::stated_time_max;
  if (o.core.heartbeat_timeout > longest) return refusal("heartbeat_timeout is above 30 days.");
  if (o.core.reconnect_grace > longest) return refusal("reconnect_grace is above 30 days.");
  if (o.core.coordinator_return > longest) return refusal("coordinator_return is above 30 days.");
  return {};
}

status check_journal(journal_options const& o) {
  if (o.restart_grace < restart_grace_min) {
    return refusal(
        "journal.restart_grace must be at least 1s: clients suspect a silent connection after a "
        "third of it, and must resume in the rest.");
  }
  constexpr auto longest = wire::stated_time_max;
  if (o.restart_grace > longest) return refusal("journal.restart_grace is above 30 days.");
  if (o.restart_within > longest) {
    return refusal("journal.restart_within is above 30 days.");
  }
  return {};
}

status check_sizes(options const& o) {
  if (o.core.memory_bytes_max == 0) return refusal("memory_bytes_max is 0: nothing has room.");
  if (o.core.key_bytes_max == 0) return refusal("key_bytes_max is 0: there could be no key.");
  if (o.core.frame_bytes_max() <= wire::message_bytes_max) return {};
  return refusal("value_bytes_max is " + std::to_string(o.core.value_bytes_max) +
                 ", but no message may have more than " + std::to_string(wire::message_bytes_max) +
                 " bytes with what surrounds it.");
}

status check_xla(options const& o) {
  for (auto const& range : o.xla.allow) {
    if (auto const parsed = net::address_range::parse(range); !parsed) return parsed.error();
  }
  if (o.xla.listen.empty() || o.core.credentials.empty()) return {};
  bool const has_worker = std::any_of(
      o.core.credentials.begin(), o.core.credentials.end(),
      [](core::credential const& credential) { return credential.as == core::role::worker; });
  if (has_worker) return {};
  return refusal("xla.listen: JAX processes are workers, and no token is a worker's.");
}

status check_elastic(options const& o) {
  if (!o.core.elastic) return {};
  if (o.core.min_tasks == 0 || o.core.min_tasks > o.core.num_tasks) {
    return refusal("An elastic job has at least 1 and at most num_tasks tasks: min_tasks is " +
                   std::to_string(o.core.min_tasks) + ", num_tasks " +
                   std::to_string(o.core.num_tasks) + ".");
  }
  if (!o.xla.listen.empty()) {
    return refusal("JAX processes cannot take part in an elastic job: their number is fixed.");
  }
  if (o.core.leave_barrier) return {};
  return refusal(
      "An elastic job needs its leave barrier: without it the first task that leaves "
      "ends the epoch.");
}

}  // namespace

options::options() { core.memory_bytes_max = memory_allowed(limits_of_this_process()) / 2; }

void expect_restarts(options& o) {
  o.core.restart_grace = std::max(o.journal.restart_grace, o.core.reconnect_grace);
  o.core.coordinator_return = o.journal.restart_within;
}

status check(options const& o) {
  if (o.listen.empty()) return refusal("A server needs an address to listen on.");
  if (o.core.num_tasks == 0) return refusal("A job needs at least one task: num_tasks is 0.");
  if (o.core.num_tasks > wire::stated_tasks_max) {
    return refusal("A job has at most " + std::to_string(wire::stated_tasks_max) +
                   " tasks: num_tasks is " + std::to_string(o.core.num_tasks) + ".");
  }
  if (status why = check_times(o); !why.ok()) return why;
  if (status why = check_stated_times(o); !why.ok()) return why;
  if (status why = check_journal(o.journal); !why.ok()) return why;
  if (status why = check_sizes(o); !why.ok()) return why;
  if (status why = check_xla(o); !why.ok()) return why;
  if (status why = check_elastic(o); !why.ok()) return why;
  return core::check(o.core.credentials);
}

wall_time wall_clock_now() {
  using namespace std::chrono;
  auto const now = system_clock::now();
  std::time_t const seconds = system_clock::to_time_t(now);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return {duration_cast<milliseconds>(now.time_since_epoch()).count(),
          static_cast<std::int32_t>(local.tm_gmtoff)};
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace coxswain::server
