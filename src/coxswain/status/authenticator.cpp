#include "coxswain/status/authenticator.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace coxswain::status_page {
namespace {

// Beyond it, the oldest login ends.
constexpr std::size_t visitors_max = 256;

constexpr std::string_view bearer = "bearer ";

std::string lowered(std::string_view text) {
  std::string low{text};
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

std::string_view trimmed(std::string_view text) {
  auto const begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// "localhost" of "localhost:8477", "[::1]" of "[::1]:8477".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_number_of_loopback(std::string_view host) {
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

std::string_view cookie_in(std::string_view all, std::string_view name) {
  while (!all.empty()) {
    auto const cookie = trimmed(all.substr(0, all.find(';')));
    all.remove_prefix(std::min(all.find(';'), all.size() - 1) + 1);
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) {
      return cookie.substr(name.size() + 1);
    }
  }
  return {};
}

status unknown_token() {
  return {errc::unauthenticated, "The token is not valid for this coordinator."};
}

}  // namespace

authenticator::authenticator(std::vector<core::credential> credentials, access which)
    : credentials_{std::move(credentials)},
      access_{which},
      cookie_name_{"coxswain_" + std::to_string(which.port)} {}

void authenticator::replace_credentials(std::vector<core::credential> by) {
  credentials_ = std::move(by);
  std::erase_if(visitors_, [this](visitor const& visitor) {
    return std::find(credentials_.begin(), credentials_.end(), visitor.by) == credentials_.end();
  });
}

status authenticator::checked_host(http_request const& asked) const {
  bool const is_guarded = !credentials_.empty() && !access_.anyone_may_look;
  if (is_guarded || !access_.is_private || !asked.host) return {};
  auto const host = lowered(without_port(*asked.host));
  if (host == "localhost" || host == "[::1]" || is_number_of_loopback(host)) return {};
  return {errc::permission_denied, "The Host " + core::in_quotes(*asked.host) +
                                       " is not this one: ask for localhost, or protect the "
                                       "coordinator with a token."};
}

status authenticator::checked_origin(http_request const& asked) {
  if (!asked.origin) return {};
  auto const scheme = asked.origin->find("://");
  auto const authority =
      scheme == std::string::npos ? std::string{} : asked.origin->substr(scheme + 3);
  if (!authority.empty() && asked.host && lowered(authority) == lowered(*asked.host)) return {};
  return {errc::permission_denied, "The page that asks is of " + core::in_quotes(*asked.origin) +
                                       ", which is not this server."};
}

result<core::role> authenticator::role_of(http_request const& asked) const {
  if (credentials_.empty()) {
    if (!access_.asks_for_certificates || asked.is_certified) return core::role::worker;
    return status{errc::unauthenticated, "A client certificate of this job is required."};
  }
  if (lowered(asked.authorization).starts_with(bearer)) {
    auto const token = trimmed(std::string_view{asked.authorization}.substr(bearer.size()));
    auto const known = core::credential_of(credentials_, token);
    if (!known) return unknown_token();
    return credentials_[*known].as;
  }
  auto const cookie = cookie_in(asked.cookie, cookie_name_);
  for (auto const& visitor : visitors_) {
    if (core::equal_in_constant_time(visitor.cookie, cookie)) return visitor.by.as;
  }
  if (access_.anyone_may_look) return core::role::reader;
  return status{errc::unauthenticated,
                "A token is required: send 'Authorization: Bearer TOKEN', or POST /login."};
}

result<std::string> authenticator::log_in(std::string_view token,
                                          core::session_secret const& secret) {
  auto const known = core::credential_of(credentials_, token);
  if (!known) return unknown_token();
  std::string const bytes{secret.begin(), secret.end()};
  visitors_.push_back({core::hexadecimal(bytes), credentials_[*known]});
  if (visitors_.size() > visitors_max) visitors_.pop_front();
  return cookie_name_ + "=" + visitors_.back().cookie + "; Path=/; HttpOnly; SameSite=Strict" +
         (access_.is_encrypted ? "; Secure" : "");
}

}  // namespace coxswain::status_page
