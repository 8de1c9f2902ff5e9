#pragma once
// A `coxswain serve` process under attack: started, observed from outside, and stopped. Not here:
// attackers (attack) and the job beside them (quiet_job).

#include "coxswain/base/time.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace coxswain::hostile {

class coordinator_process {
 public:
  // Starts the program named by the environment variable COXSWAIN_BIN for this many tasks, with
  // these additional options, and waits until it is ready. Its tokens `worker`, `operator` and
  // `reader` grant the roles of those names.
  explicit coordinator_process(std::size_t tasks, std::vector<std::string> const& options = {});

  // Kills it.
  ~coordinator_process();
  coordinator_process(coordinator_process const&) = delete;
  coordinator_process& operator=(coordinator_process const&) = delete;

  // "127.0.0.1:41234": of the coordinator, for JAX processes alone (with --xla-listen), and of its
  // HTTP page.
  [[nodiscard]] std::string const& address() const noexcept { return address_; }
  [[nodiscard]] std::string const& jax_address() const noexcept { return jax_address_; }
  [[nodiscard]] std::string const& http() const noexcept { return http_; }

  // Whether it has not ended.
  bool is_running();

  [[nodiscard]] std::size_t resident_bytes() const;
  [[nodiscard]] std::size_t resident_bytes_max() const;  // since it started
  [[nodiscard]] std::size_t open_descriptors() const;

  // Sends GET /livez on a new connection; returns the time to the response. Throws
  // std::runtime_error if it is not 200 or takes longer than 60 s. Callable from any thread.
  [[nodiscard]] duration ask_livez() const;

  // The value of a metric without labels, from GET /metrics. Throws as ask_livez does.
  [[nodiscard]] double metric(std::string const& name) const;

  // Sends SIGTERM; returns the time until it ended, which must be within 60 s.
  duration terminate();

 private:
  [[nodiscard]] std::size_t status_kib(std::string const& field) const;
  [[nodiscard]] std::string get(std::string const& path) const;

  std::filesystem::path directory_;
  std::string address_;
  std::string jax_address_;
  std::string http_;
  pid_t pid_{};
};

// A `coxswain relay` process of that coordinator, with a worker's token, at a Unix socket and at a
// port for TCPStore clients.
class relay_process {
 public:
  relay_process(coordinator_process const& to, std::vector<std::string> const& options);

  // Kills it.
  ~relay_process();
  relay_process(relay_process const&) = delete;
  relay_process& operator=(relay_process const&) = delete;

  [[nodiscard]] std::string const& address() const noexcept { return address_; }
  [[nodiscard]] std::string const& tcp_store_address() const noexcept { return tcp_store_address_; }
  [[nodiscard]] std::size_t resident_bytes_max() const;  // since it started

 private:
  std::filesystem::path directory_;
  std::string address_;
  std::string tcp_store_address_;
  pid_t pid_{};
};

}  // namespace coxswain::hostile
