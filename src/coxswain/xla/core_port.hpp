#pragma once
// The inputs that xla_service gives to the coordinator's core. The implementation records them, so
// that a recording contains nothing of HTTP/2. The core never calls back: its output is passed to
// `xla_service::sent`.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"

#include <string>

namespace coxswain::xla {

class core_port {
 public:
  // A connection that carries a session of xla_service. `secret` becomes its resume secret.
  virtual connection_id connected(time_point now, std::string peer,
                                  core::session_secret const& secret) = 0;
  virtual void received(time_point now, connection_id from, core::client_message&& what) = 0;
  virtual void heard(time_point now, connection_id from) = 0;
  virtual void session_lost(time_point now, connection_id from, core::loss how) = 0;

 protected:
  ~core_port() = default;
};

}  // namespace coxswain::xla
