#pragma once
// PUBLIC. The coordinator in the process of task 0, as in jax.distributed: all processes of a job
// run the same program, and task 0 also hosts the coordinator, on a thread of its own.
//
//   auto const me = client_options::from_environment();
//   hosted_coordinator const coordinator{me};  // before the client, which it must outlive
//   blocking_client job{me};
//   job.join();
//   job.leave();  // returns when all have left, so the coordinator may end then
//
// When that process dies, the job has lost its coordinator. Not here: a coordinator in its own
// process (`coxswain serve`), which survives every task.

#include "coxswain/client/options.hpp"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/options.hpp"

#include <optional>

namespace coxswain {

// The options of the coordinator that `of` connects to: its number of tasks, job, attempt, token
// and TLS files, of which a coordinator needs a certificate and its key. It listens on
// COXSWAIN_LISTEN or JAX_COORDINATOR_BIND_ADDRESS; else at the port of the address: on the address
// itself if only this machine can reach that, otherwise on all of this machine's, which needs a
// token, mutual TLS or `insecure`. Throws INVALID_ARGUMENT: the address is malformed, or the number
// of tasks is unknown.
[[nodiscard]] server::options hosting_options(client_options const& of);

class hosted_coordinator {
 public:
  // Does nothing unless `of` is task 0, nor if a coordinator already answers at its address,
  // started by `coxswain run`, `coxswain task` or `coxswain serve`. Blocks for up to 5 s if
  // something listens there that does not answer. Throws coxswain::error as hosting_options and
  // server::background_server do, and the error with which an existing coordinator refuses the
  // client.
  explicit hosted_coordinator(client_options const& of);
  hosted_coordinator(client_options const& of, server::options with);

  // The coordinator, if this object has started it; else null. Its wait_done() waits until all
  // tasks have left, for jobs whose leave is not a barrier.
  [[nodiscard]] server::background_server* get() noexcept { return server_ ? &*server_ : nullptr; }

 private:
  void start(client_options const& of, server::options with);

  std::optional<server::background_server> server_;
};

}  // namespace coxswain
