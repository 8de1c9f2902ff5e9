#pragma once
// PUBLIC. The coordinator in the process of task 0, as jax.distributed has it: all processes of a
// job run the same program, and that of task 0 is the coordinator, too, on a thread of its own.
//
//   auto const me = client_options::from_environment();
//   hosted_coordinator const coordinator{me};  // before the client: it is to outlive it
//   blocking_client job{me};
//   job.join();
//   job.leave();  // returns when all have left, so the coordinator may end then
//
// When that process dies, the job has lost its coordinator. Not here: a coordinator as a process of
// its own (`coxswain serve`), which survives every task.

#include "coxswain/client/options.hpp"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/options.hpp"

#include <optional>

namespace coxswain {

// The coordinator that `of` wants to meet: its number of tasks, job, attempt and token, and the
// files of TLS, of which a coordinator needs a certificate and its key. It listens where
// COXSWAIN_LISTEN or JAX_COORDINATOR_BIND_ADDRESS says; else at the port of the address: on the
// address itself if only this machine can reach that, otherwise on all of this machine's, which
// needs a token, mutual TLS or `insecure`. Throws INVALID_ARGUMENT: the address is malformed, or
// the number of tasks is not known.
[[nodiscard]] server::options hosting_options(client_options const& of);

class hosted_coordinator {
 public:
  // Does nothing unless `of` is task 0, nor if a coordinator answers at its address already:
  // `coxswain run`, `coxswain task` or `coxswain serve` has started it. Blocks for up to 5 s where
  // something listens that does not answer. Throws coxswain::error as hosting_options and
  // server::background_server do, and what a coordinator that is there has against the client.
  explicit hosted_coordinator(client_options const& of);
  hosted_coordinator(client_options const& of, server::options with);

  // The coordinator, if this object has started it; else null. Its wait_done() waits until all
  // tasks have left where leaving is no barrier.
  [[nodiscard]] server::background_server* get() noexcept { return server_ ? &*server_ : nullptr; }

 private:
  void start(client_options const& of, server::options with);

  std::optional<server::background_server> server_;
};

}  // namespace coxswain
