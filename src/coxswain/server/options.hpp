#pragma once
// What a server is told at its start.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// How unmodified JAX processes are served, which speak the protocol of XLA's coordination service
// and bring no token. The listeners of `options::listen` serve them too, unless tokens are
// configured.
struct xla_options {
  // Further addresses, as in `options::listen`, for JAX processes only. Whoever reaches one may act
  // for any task. The file of a Unix socket is for this user only. TCP addresses need client
  // certificates, `allow` or `insecure`.
  std::vector<std::string> listen;

  // The hosts that may connect to the TCP addresses of `listen`: "10.0.0.0/8", "fd00::/8", "::1".
  // Others are refused. Empty: all may.
  std::vector<std::string> allow;

  // Listen on TCP addresses although neither client certificates nor `allow` protect them.
  bool insecure{false};

  // Behave as XLA's service where its own tests expect what our rules do not.
  bool strict{false};

  // How long GetAliveTasks waits, which has no deadline of its own.
  time_limit alive_timeout{without_limit};
};

struct options {
  // `core.memory_bytes_max` becomes half of the memory that this process may use (memory_limit).
  options();

  core::config core;

  // Where to listen: "host:port" (port 0: any), "[v6]:port", ":port" (all addresses), or
  // "unix:/path".
  std::vector<std::string> listen{"127.0.0.1:0"};

  // Listen on addresses that others can reach although neither a token is configured nor are
  // clients asked for certificates.
  bool insecure{false};

  // If any of it is set, TLS is spoken on all listeners but Unix sockets, and nothing else.
  tls_options tls;

  xla_options xla;

  // TLS handshakes that the peers of one host may begin in a second, on the average; further ones
  // wait for their turn, at most `core.hello_timeout`.
  std::size_t handshakes_per_second_max{1000};

  // What one session may have queued before further replies to it wait, and nothing more is read
  // from it until they have room. They wait earlier when `core.memory_bytes_max` is nearly used up;
  // one reply is queued in any case.
  std::size_t queued_bytes_max{64 * 1024 * 1024};

  // How many connections are taken at once; zero: the descriptor limit less 64 and less those that
  // the program wants for itself.
  std::size_t connections_max{0};

  // How many connections of one host may not have said Hello yet, TLS handshakes included; zero:
  // half of connections_max. When more come, those that have been silent longest give way. Unix
  // sockets are exempt.
  std::size_t strangers_per_host_max{0};

  // Subtracted from the descriptor limit for what else the program opens.
  std::size_t descriptors_reserved{0};

  // How long a stop waits for the last bytes to be read by the peers.
  time_limit linger{2s};

  // The process is the coordinator's own. When the whole job has met at the join barrier, the
  // free memory between what stays is given back to the system (glibc's malloc_trim).
  bool owns_process{false};

  // Told each event, on the server's thread. Must not block.
  std::function<void(core::event const&)> log;

  // The last inputs of the core are kept in so many bytes, for `server::recording`; zero: not at
  // all. Neither values nor secrets are in them.
  std::size_t record_bytes_max{16 * 1024 * 1024};

  // Given the whole recording piece by piece, from the first byte on, on the server's thread. Must
  // neither block nor throw. See proto/coxswain/v1/recording.proto.
  std::function<void(std::string_view)> record;
};

// INVALID_ARGUMENT, and says which and why: with these nothing could be served.
[[nodiscard]] status check(options const& o);

// The system's clock and time zone, for `core::config::started`.
[[nodiscard]] wall_time wall_clock_now();

}  // namespace coxswain::server
