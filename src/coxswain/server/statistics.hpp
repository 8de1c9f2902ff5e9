#pragma once
// A server's counters for operators, plain data. All are totals since the server's start, except
// those marked "now". Not here: the snapshot of the job (core::snapshot).

#include "coxswain/base/duration_histogram.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/shares.hpp"
#include "coxswain/core/observe/statistics.hpp"
#include "coxswain/server/journal/journal_statistics.hpp"
#include "coxswain/server/wait_counts.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace coxswain::server {

struct statistics {
  std::chrono::system_clock::time_point started{};
  duration uptime{};

  // Now; the limit; accepted; refused for lack of room.
  std::uint64_t connections{};
  std::uint64_t connections_max{};
  std::uint64_t connections_accepted{};
  std::uint64_t connections_refused{};

  // Of relays: their connections; the ones that these carry, those of them whose clients do not
  // read, and how many there have been; the ends of clients' processes that they reported; the
  // replies sent with a body for several routes.
  std::uint64_t relays{};
  std::uint64_t routes{};
  std::uint64_t routes_paused{};
  std::uint64_t routes_opened{};
  std::uint64_t exits_reported{};
  std::uint64_t replies_shared{};

  // TLS handshakes: now in progress or waiting; and failed ones.
  std::uint64_t handshakes{};
  std::uint64_t handshakes_failed{};

  // Bytes received, and bytes taken by the kernel; complete messages; and the number of send calls.
  std::uint64_t bytes_received{};
  std::uint64_t bytes_sent{};
  std::uint64_t frames_received{};
  std::uint64_t frames_sent{};
  std::uint64_t sends{};

  // Now: encoded bytes that wait for slow peers; and messages that have no room even there.
  std::uint64_t queued_bytes{};
  std::uint64_t queued_messages{};
  // Now: memory of messages in transit, both ways, that the core does not own. It counts towards
  // core::config::memory_bytes_max.
  std::uint64_t transit_bytes{};
  // Now: what sessions hold of the core's memory in waiting calls, unacknowledged replies and open
  // rounds, by core::share_kind.
  std::array<std::uint64_t, core::share_kinds> shares{};

  // How late timed loop iterations began, because of other work on the thread or the machine. There
  // is such an iteration each 50 ms unless others come before.
  duration_histogram loop_lag;

  // How long loop iterations took, and the longest one. Input that arrives meanwhile waits for the
  // next.
  duration_histogram iterations;
  duration iteration_max{};

  // Connections whose messages did not fit into their quantum of an iteration: how many further
  // iterations it took until none waited. And the most that a task's connection waited while it was
  // within its share.
  wait_counts waits;
  std::uint64_t worker_wait_max{};

  // The most work of connections without a task in one iteration, in steps.
  std::uint64_t steps_max{};

  // From the end of a barrier's round in the core until its outcome was handed to the kernel for
  // all peers that read; once per loop iteration, for the first round that ended in it.
  duration_histogram releases;

  // JAX processes (xla): their connections now, and the calls that were answered, by method; of
  // them, those that failed.
  struct method_counts {
    std::string_view method;
    std::uint64_t calls{};
    std::uint64_t failed{};
  };
  std::uint64_t jax_connections{};
  std::vector<method_counts> jax_calls;

  std::optional<journal_statistics> journal;

  core::statistics core;
};

}  // namespace coxswain::server
