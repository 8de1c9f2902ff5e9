#pragma once
// The status page of a standby: probes, metrics, and who leads. One request per connection. On the
// io_context's one thread.

#include "coxswain/core/access/credential.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/standby/standby_view.hpp"
#include "coxswain/status/options.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::status_page {

class standby_page {
 public:
  // Listens, and answers with what `view` returns, until it is destroyed. Throws as page's
  // constructor.
  standby_page(asio::io_context& io, options o, std::function<server::standby_view()> view);
  ~standby_page();
  standby_page(standby_page const&) = delete;
  standby_page& operator=(standby_page const&) = delete;

  // As those of page.
  void reload_certificates();
  void replace_credentials(std::vector<core::credential> by);

  // The address it listens on, with the chosen port.
  [[nodiscard]] std::string const& address() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace coxswain::status_page
