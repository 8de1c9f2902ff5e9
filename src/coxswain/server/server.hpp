#pragma once
// The coordinator on sockets, for embedding: it lives on the caller's io_context and does all its
// work there. Not here: decisions (core/coordinator), encoding (server/dispatch).
//
//   asio::io_context io{1};
//   coxswain::server::options options;
//   options.core.num_tasks = 8;
//   coxswain::server::server coordinator{io, options};
//   co_spawn(io, coordinator.run(), detached);
//   io.run();
//
// Not thread-safe: every function is called on the io_context's one thread, or before it runs.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/owner_input.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/journal/core_origin.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

class server {
 public:
  // Opens the listeners; connections are taken once `run` runs. Throws coxswain::error:
  // INVALID_ARGUMENT (a malformed address, no task, a value too large for a message), UNAVAILABLE
  // (an address cannot be bound; the text names it and the likely reason), FAILED_PRECONDITION
  // (other hosts could reach a listener, and there is neither a token nor mutual TLS nor
  // `insecure`), and the errors of net::tls_context for the files of `options::tls`. With
  // `options::journal`: INVALID_ARGUMENT (its job has other options), UNAVAILABLE (another process
  // uses it, or it cannot be read or written), DATA_LOSS (it is damaged).
  // With a `job` its journal is used instead.
  server(asio::io_context& io, options o, shared_job job = {});

  // Closes everything at once, without a goodbye.
  ~server();
  server(server const&) = delete;
  server& operator=(server const&) = delete;

  // The addresses it listens on, in the order of the options, with the chosen ports:
  // "127.0.0.1:41234", "unix:/path".
  [[nodiscard]] std::vector<std::string> const& addresses() const;

  // Serves until `stop` was called and every peer has read its goodbye, or `linger` has passed.
  // Also returns when the server is destroyed. Throws coxswain::error: RESOURCE_EXHAUSTED, the
  // kernel refuses to watch the listeners; DATA_LOSS, the journal cannot be written: all
  // connections were closed, and nothing left that the journal does not have. With a shared job
  // likewise the error of its journal.
  asio::awaitable<void> run();

  // Runs the io_context on this thread, as its own `run` does, with fewer system calls: the thread
  // sleeps in the server's own epoll. Only descriptors and timers of the io_context, and handlers
  // posted by `options::log`, wake it: no other thread may post to it. Once called, the server is
  // served in here only. Throws what handlers throw.
  void run_context();

  // Waits until the job is over: all tasks have joined and left, or failed, and every leave was
  // acknowledged (at most `linger` later). Also returns when the server was stopped or destroyed.
  asio::awaitable<void> job_done();

  // An orderly stop: pending calls end, every session gets a goodbye with `reason`, `run` returns.
  // A second call changes nothing.
  void stop(std::string reason);

  // With a journal: ends this process's part, so that another process continues the job. Every
  // session gets a goodbye with `reason` after which it may resume, and `run` returns.
  // FAILED_PRECONDITION: there is no journal.
  status suspend(std::string reason);

  // An input of the owner: a task's process has ended, a task will be preempted, a round is
  // cancelled, tokens are replaced, the job ends (`run` returns then). Errors: those of
  // core::owner_input; INVALID_ARGUMENT: no token at all, which would admit everyone, an empty one,
  // or a duplicate.
  status put_in(core::owner_input what);

  // Waits until the journal has all inputs so far for good: `put_in` does not wait for a shared
  // job's journal. OK at once without a journal. UNAVAILABLE: it has not confirmed them in time, it
  // has failed, or the server has ended; they may take effect nevertheless.
  asio::awaitable<status> durable(duration at_most);

  // Reads the files of `options::tls` again now, instead of after `reload_period`, for new
  // connections. Throws coxswain::error as net::tls_context does; then the previous content is
  // still used. Does nothing without TLS.
  void reload_certificates();

  // Adds a line to the log (options::log). It is not an event of the job; only the core reports
  // those.
  void report(core::severity level, std::string text);

  // Whether it accepts connections: it runs, and was not stopped.
  [[nodiscard]] bool is_serving() const;

  // UNAVAILABLE: replies wait for the journal, its disk or etcd, and have for 10 s.
  [[nodiscard]] status journal_health() const;

  // How the job is: what `look` has as its state, but not the rest.
  [[nodiscard]] core::job_state state() const;

  // A snapshot of the whole job.
  [[nodiscard]] core::snapshot look() const;

  // The counters so far. Visits each connection once.
  [[nodiscard]] coxswain::server::statistics statistics() const;

  // The job is looked at: tasks that hold up others are asked whether they answer.
  void ask_missing();

  // Further queries: see the functions of the same names of core::coordinator. They change nothing,
  // so they are not recorded.
  [[nodiscard]] core::why_answer why() const;
  [[nodiscard]] core::stacks_answer stacks() const;
  [[nodiscard]] core::events_answer events(std::optional<std::uint64_t> after,
                                           core::severity at_least,
                                           std::size_t last_of_each = 0) const;
  [[nodiscard]] std::uint64_t last_event() const;
  [[nodiscard]] core::listing_answer keys(std::string const& prefix, std::string const& after,
                                          std::size_t most) const;
  [[nodiscard]] result<core::value_answer> value(std::string_view key) const;
  [[nodiscard]] core::barrier_history history(std::string_view barrier) const;
  [[nodiscard]] std::optional<task_id> task_of_member(std::string const& name) const;

  // No session is left but those of relays, and none of a JAX process.
  [[nodiscard]] bool is_deserted() const;

  // Nobody may join any more: when all tasks have left, `run` returns.
  [[nodiscard]] bool is_draining() const;

  // Why the job failed, if it did.
  [[nodiscard]] std::optional<job_error> error() const;

  // The latest inputs of the coordinator's core, within `options::record_bytes_max`, for `replay`
  // and `coxswain replay`.
  [[nodiscard]] std::string recording() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace coxswain::server
