#pragma once
// The options of a server.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {
struct stacks_wanted;
}

namespace coxswain::server {

// How unmodified JAX processes are served, which speak the protocol of XLA's coordination service
// and cannot send a token; neither can torch's TCPStore clients. The listeners of
// `options::listen` serve both, unless tokens are configured.
struct xla_options {
  // Further addresses, as in `options::listen`, for JAX processes and TCPStore clients only. A
  // process that reaches one can act for any task. The file of a Unix socket is for this user only.
  // TCP addresses need client certificates, `allow` or `insecure`.
  std::vector<std::string> listen;

  // The hosts that may connect to the TCP addresses of `listen`: "10.0.0.0/8", "fd00::/8", "::1".
  // Others are refused. Empty: all may.
  std::vector<std::string> allow;

  // Listen on TCP addresses although neither client certificates nor `allow` protect them.
  bool insecure{false};

  // The name of this machine in the labels of JAX processes. A server sets it.
  std::string host;

  // Behave like XLA's service where its tests require what our rules forbid.
  bool strict{false};

  // How long GetAliveTasks waits, which has no deadline of its own.
  time_limit alive_timeout{without_limit};
};

// What the inputs in a journal must survive before any output that follows from them is sent.
enum class durability : std::uint8_t {
  process,  // the end of the process: they are written to files
  disk,     // the end of the machine, too: the files are synchronized with the disk
};

// How much of a journal was replayed by a start.
struct journal_progress {
  std::size_t bytes{};
  std::size_t bytes_in_all{};
};

// A write-ahead journal, from which a restarted coordinator continues its job.
struct journal_options {
  // Its directory, created if there is none. Empty: there is no journal.
  std::string directory;

  // With `disk` each reply waits for the disk, together with all others that wait then.
  durability level{durability::process};

  // When its files are larger than this, requests that would store something are refused, until a
  // snapshot replaces them; from three quarters on there is a warning. Zero: no limit.
  std::uint64_t bytes_max{0};

  // How long sessions have to resume after a restart; at least 1 s. Clients suspect a silent
  // connection after a third of it.
  time_limit restart_grace{15s};

  // How long clients take refused connections for a restart, instead of `core.coordinator_return`.
  time_limit restart_within{10min};

  // Called when the server's constructor begins to replay inputs, and then each second.
  std::function<void(journal_progress const&)> progress;
};

struct options {
  // `core.memory_bytes_max` becomes half of the memory that this process may use (memory_limit).
  options();

  core::config core;

  // Where to listen: "host:port" (port 0: any), "[v6]:port", ":port" (all addresses), or
  // "unix:/path".
  std::vector<std::string> listen{"127.0.0.1:0"};

  // Listen on addresses that other hosts can reach although there is neither a token nor a
  // requirement of client certificates.
  bool insecure{false};

  // If any of it is set, all listeners except Unix sockets require TLS.
  tls_options tls;

  xla_options xla;

  // Further addresses, as in `listen`, for torch's TCPStore clients of this user only, which can
  // send no token: 127.0.0.1 with a port. `listen` serves them too, unless tokens are configured,
  // and so does `xla.listen`.
  std::vector<std::string> tcp_store_listen;

  // The average number of TLS handshakes per second and host; further ones wait, at most
  // `core.hello_timeout`.
  std::size_t handshakes_per_second_max{1000};

  journal_options journal;

  // How many bytes can be queued for one session before further replies wait and reading from it
  // pauses until they have room. They wait earlier when `core.memory_bytes_max` is nearly used up;
  // one reply is always queued.
  std::size_t queued_bytes_max{64 * 1024 * 1024};

  // The maximum number of connections; zero: the descriptor limit less 64 and less those reserved
  // for the program.
  std::size_t connections_max{0};

  // The maximum number of connections of one host before Hello, including TLS handshakes; zero:
  // half of connections_max. Beyond it, those silent the longest are closed. Unix sockets are
  // exempt.
  std::size_t strangers_per_host_max{0};

  // Subtracted from the descriptor limit for other descriptors of the program.
  std::size_t descriptors_reserved{0};

  // How long a stop waits until the peers have read the last bytes.
  time_limit linger{2s};

  // How long to poll for input after each message before sleeping until the kernel wakes the
  // thread: replies leave some microseconds earlier, at the price of a core. At most 1 s; zero:
  // never. Nothing is polled for 100 ms after the thread was without a core for 0.5 ms.
  time_limit spin{};

  // The process has no other purpose. When the whole job has passed the join barrier, free memory
  // is returned to the system.
  bool owns_process{false};

  // Called with each event, on the server's thread. Must not block.
  std::function<void(core::event const&)> log;

  // With `core.reports_ends`: called when the stacks of processes are wanted that the owner has
  // started, on the server's thread. For each of them it should put in a core::report_stack_args,
  // later. Must not block.
  std::function<void(core::stacks_wanted const&)> wants_stacks;

  // The size of the latest inputs of the core kept for `server::recording`; zero: none. They
  // contain neither values nor secrets.
  std::size_t record_bytes_max{16 * 1024 * 1024};

  // Called with the whole recording piece by piece, on the server's thread. Must neither block nor
  // throw. See proto/coxswain/v1/recording.proto.
  std::function<void(std::string_view)> record;
};

// The options of the core of a job that outlives its coordinator's process.
void expect_restarts(options& o);

// INVALID_ARGUMENT: an option is unusable; the text says which and why.
[[nodiscard]] status check(options const& o);

// The system's clock and time zone, for `core::config::started`.
[[nodiscard]] wall_time wall_clock_now();

// The name of this machine, for people; empty if it has none.
[[nodiscard]] std::string host_name();

}  // namespace coxswain::server
