#pragma once
// The jobs of this user that run on this machine: each coordinator that the program starts has a
// file in the user's runtime directory, by which the other subcommands find it. The file is the
// user's alone, because it holds a token. It is locked while its coordinator's process lives: one
// that is not locked is left over from a process that was killed, and is removed.

#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/options.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::tools {

struct registered_job {
  std::string job;
  std::string address;  // as processes of this machine reach it
  std::string token;    // empty: none is asked for
  bool is_drawn{};      // the token is random, for this run only
  tls_options tls;      // the files with which to connect
  std::string page;     // the URL of its status page; empty: there is none
  std::uint32_t num_tasks{};
  pid_t pid{};
  std::chrono::system_clock::time_point started;

  // "2026-11-23T09:12:52+0000".
  [[nodiscard]] std::string started_text() const;
};

// The registry entry of a coordinator with these options. `listener` is its address.
[[nodiscard]] registered_job described(server::options const& of, std::string const& listener,
                                       std::string page = {});

// The address for processes of this machine: a wildcard cannot be connected to.
[[nodiscard]] std::string reachable(std::string const& listener);

// Registers a job for its lifetime. If that fails, the log has the reason.
class job_registration {
 public:
  explicit job_registration(registered_job what);
  ~job_registration();
  job_registration(job_registration const&) = delete;
  job_registration& operator=(job_registration const&) = delete;

  // Replaces the token.
  void replace_token(std::string token);

 private:
  void write();

  registered_job what_;
  net::descriptor directory_;
  net::descriptor file_;  // locked
  std::string name_;
};

// Those whose coordinators run, the newest first.
[[nodiscard]] std::vector<registered_job> running_jobs();

// Them as a table, without their tokens.
[[nodiscard]] std::string jobs_text(std::vector<registered_job> const& all);

}  // namespace coxswain::tools
