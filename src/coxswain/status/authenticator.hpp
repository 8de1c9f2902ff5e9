#pragma once
// Authentication: tokens and cookies, and a browser's headers about the page that makes it ask. Not
// here: the role needed for each request (routes).

#include "coxswain/base/status.hpp"
#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/status/http.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::status_page {

class authenticator {
 public:
  // Without tokens every request is a worker's, or, if `asks_for_certificates`, every one with a
  // certificate. If `anyone_may_look`, a request without a token is a reader's. `is_private`: only
  // this host can reach the port, which is part of the cookie's name, because browsers share
  // cookies between ports.
  struct access {
    bool is_private{};
    bool is_encrypted{};
    bool asks_for_certificates{};
    std::uint16_t port{};
    bool anyone_may_look{};
  };
  authenticator(std::vector<core::credential> credentials, access which);

  // Cookies for tokens that are not among them are forgotten.
  void replace_credentials(std::vector<core::credential> by);

  // There are no tokens.
  [[nodiscard]] bool lets_everybody_in() const noexcept { return credentials_.empty(); }

  // PERMISSION_DENIED: on loopback, where reading needs no token, the Host must be one of this
  // host's own names: otherwise any web page could have its own name resolved to this host (DNS
  // rebinding).
  [[nodiscard]] status checked_host(http_request const& asked) const;

  // PERMISSION_DENIED: the requesting page has another origin.
  [[nodiscard]] static status checked_origin(http_request const& asked);

  // The role of the sender. UNAUTHENTICATED: it presents no token, or an unknown one; or no
  // certificate where that is required instead.
  [[nodiscard]] result<core::role> role_of(http_request const& asked) const;

  // The value for Set-Cookie that represents the token from now on, made of `secret`, which is
  // random. UNAUTHENTICATED: the token is unknown.
  [[nodiscard]] result<std::string> log_in(std::string_view token,
                                           core::session_secret const& secret);

 private:
  // A login. The cookie is not the token itself, which would be sent to every server of this host.
  struct visitor {
    std::string cookie;
    core::credential by;
  };

  std::vector<core::credential> credentials_;
  access access_;
  std::string cookie_name_;
  std::deque<visitor> visitors_;
};

}  // namespace coxswain::status_page
