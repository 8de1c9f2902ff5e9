#pragma once
// The jobs of this user that run on this machine: each coordinator that the program starts has a
// file in the user's runtime directory, by which the other subcommands find it. The file is the
// user's alone, because it holds a token. It is locked while its coordinator's process lives: one
// that is not locked is left over from a process that was killed, and is removed.

#include "coxswain/core/model/event.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/options.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {

struct registered_job {
  std::string job;
  std::string address;   // as processes of this machine reach it
  std::string token;     // empty: none is asked for
  bool is_everywhere{};  // it listens at all addresses of this machine
  tls_options tls;       // the files with which to connect
  std::string page;      // the URL of its status page; empty: there is none
  std::uint32_t num_tasks{};
  pid_t pid{};
  std::chrono::system_clock::time_point started;
};

// The registry entry of a coordinator with these options. `listener` is its address.
[[nodiscard]] registered_job described(server::options const& of, std::string const& listener,
                                       std::string page = {});

// The address for processes of this machine: a wildcard cannot be connected to.
[[nodiscard]] std::string reachable(std::string const& listener);

// Registers a job for its lifetime, after which it is among the ended_jobs. If that fails, the log
// has the reason.
class job_registration {
 public:
  explicit job_registration(registered_job what);
  ~job_registration();
  job_registration(job_registration const&) = delete;
  job_registration& operator=(job_registration const&) = delete;

  // Replaces the token.
  void replace_token(std::string token);

  // How the job ends: by the first event that says so.
  void note(core::event const& what);
  void note_recording(std::string path) { recording_ = std::move(path); }

 private:
  void write();

  registered_job what_;
  std::string end_;
  std::string recording_;
  net::descriptor directory_;
  net::descriptor file_;  // locked
  std::string name_;
};

// Those whose coordinators run, the newest first. What is left of killed ones is removed, and they
// are among the ended_jobs.
[[nodiscard]] std::vector<registered_job> running_jobs();

// The one that listens at one of these addresses (a list with commas); null if none does. Names are
// looked up.
[[nodiscard]] registered_job const* job_at(std::string const& addresses,
                                           std::vector<registered_job> const& jobs);

// Them as a table, without their tokens.
[[nodiscard]] std::string jobs_text(std::vector<registered_job> const& all);

}  // namespace coxswain::tools
