#include "coxswain/base/status.hpp"

#include "coxswain/base/error.hpp"

#include <array>

namespace coxswain {
namespace {

constexpr std::array<std::string_view, 17> names{
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

}  // namespace

std::string_view name(errc code) noexcept {
  auto const index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "UNKNOWN";
}

errc errc_of(std::uint32_t number) noexcept {
  return number < names.size() ? static_cast<errc>(number) : errc::unknown;
}

std::ostream& operator<<(std::ostream& out, errc code) { return out << name(code); }

std::string status::text() const {
  std::string text{name(code_)};
  if (!message_.empty()) text.append(": ").append(message_);
  return text;
}

std::ostream& operator<<(std::ostream& out, status const& s) { return out << s.text(); }

void throw_exception_from_error(status const& s, boost::source_location const&) { throw error{s}; }

}  // namespace coxswain
