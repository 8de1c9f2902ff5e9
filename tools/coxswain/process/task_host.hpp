#pragma once
// The coordinator in the process of a `coxswain task`, on the loop of that task. It ends after its
// task: when all others have left, too. Not here: the task (task_run).

#include "process/job_registry.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/server.hpp"

#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {

class task_host {
 public:
  // Listens and serves from now on. Throws program_error.
  task_host(asio::io_context& io, server::options options);

  // As server::addresses.
  [[nodiscard]] std::vector<std::string> addresses() const { return coordinator_.addresses(); }

  // Whether the coordinator has ended by itself: it cannot go on. `end` throws the reason.
  [[nodiscard]] bool has_failed() const noexcept { return problem_ != nullptr; }

  // Runs the loop until the coordinator has ended: at once if its task failed (`is_good` is false)
  // without a failure of the job; otherwise all others may leave first, in a failed job until no
  // session is left, for up to a minute. Signals that end programs end that wait. With a journal
  // it is suspended instead of ended at once: the next process of its task continues it.
  void end(bool is_good);

 private:
  void run_until(bool const& is_over);
  void await_others();

  asio::io_context& io_;
  server::server coordinator_;
  bool const has_journal_;
  bool has_ended_{};
  std::optional<job_registration> registered_;
  bool is_job_done_{};
  std::exception_ptr problem_;
};

// Looks `address` up and warns at once if it is none of this machine's: then neither this task nor
// the others reach the coordinator here, unless something forwards connections. `address` is
// valid.
asio::awaitable<void> warn_unless_local(std::string address);

}  // namespace coxswain::tools
