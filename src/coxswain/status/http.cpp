#include "coxswain/status/http.hpp"

#include "coxswain/status/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace coxswain::status_page {
namespace {

struct unit {
  std::string_view name;
  double seconds{};
};

constexpr std::array<unit, 6> units{
    {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}};

constexpr double seconds_max = 1000.0 * 366 * 86400;

}  // namespace

bool is_probe(std::string_view target) noexcept {
  auto const path = target.substr(0, target.find('?'));
  return path == "/livez" || path == "/readyz" || path == "/healthz";
}

unsigned http_code(errc code) noexcept {
  switch (code) {
    case errc::ok: return 200;
    case errc::invalid_argument:
    case errc::out_of_range: return 400;
    case errc::unauthenticated: return 401;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists:
    case errc::failed_precondition:
    case errc::aborted: return 409;
    case errc::resource_exhausted: return 429;
    case errc::unimplemented: return 501;
    case errc::cancelled:
    case errc::unavailable: return 503;
    case errc::deadline_exceeded: return 504;
    case errc::unknown:
    case errc::internal:
    case errc::data_loss: break;
  }
  return 500;
}

std::string error_json(status const& why) {
  json::object const all{{"code", name(why.code())}, {"message", why.message()}};
  return serialized(all) + "\n";
}

result<duration> duration_of(std::string_view text) {
  double number{};
  auto const* const end = text.data() + text.size();
  auto const [rest, problem] = std::from_chars(text.data(), end, number);
  std::string_view const name{rest, static_cast<std::size_t>(end - rest)};
  for (auto const& unit : units) {
    double const seconds = number * unit.seconds;
    if (problem != std::errc{} || unit.name != name || !std::isfinite(number)) continue;
    if (seconds < 0 || seconds > seconds_max) break;
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds});
  }
  return status{errc::invalid_argument,
                "'" + std::string{text.substr(0, 100)} +
                    "' is not a time; expected a number and ms, s, m, h or d, such as 90s or 10m"};
}

}  // namespace coxswain::status_page
