#pragma once
// A coordinator's status page: HTTP for people, probes and scripts, on the io_context of the
// server. Its cost to the job is limited to its queries of the server: connections, requests,
// responses and the time for each are bounded.
//
//   coxswain::status_page::options options;
//   options.listen = "127.0.0.1:8477";
//   coxswain::status_page::page page{io, coordinator, options};
//
// Not thread-safe: on the io_context's one thread. Not here: responses (routes).

#include "coxswain/core/access/credential.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/status/options.hpp"
#include "coxswain/status/source/job_source.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::status_page {

class page {
 public:
  // Listens, and serves once `io` runs, until it is destroyed; before `job` is. Throws
  // coxswain::error: INVALID_ARGUMENT (the address is malformed), UNAVAILABLE (it cannot be
  // listened on), FAILED_PRECONDITION (other hosts could reach it, and there is neither a token nor
  // mutual TLS nor `insecure`), and the errors of net::tls_context for the files of `options::tls`.
  page(asio::io_context& io, server::server& job, options const& o);
  // Of a recording, for example.
  page(asio::io_context& io, std::unique_ptr<job_source> job, options const& o);
  ~page();
  page(page const&) = delete;
  page& operator=(page const&) = delete;

  // Before the end: returns when all watchers have the job as it is now, or after 1 s.
  asio::awaitable<void> finish();

  // Reads the files of `options::tls` again; see server::reload_certificates.
  void reload_certificates();

  // Replaces the tokens; there is at least one. Logins with a removed token end; watchers continue.
  void replace_credentials(std::vector<core::credential> by);

  // The address it listens on, with the chosen port: "127.0.0.1:41234".
  [[nodiscard]] std::string const& address() const;

  // The URL for a browser on this host: "http://127.0.0.1:41234/", or https with TLS.
  [[nodiscard]] std::string url() const;

  // The number of connections.
  [[nodiscard]] std::size_t connections() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace coxswain::status_page
