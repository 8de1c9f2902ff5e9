#include "coxswain/base/status.hpp"

#include "coxswain/base/error.hpp"

#include <boost/system/errc.hpp>
#include <boost/system/error_condition.hpp>

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

class category final : public boost::system::error_category {
 public:
  [[nodiscard]] char const* name() const noexcept override { return "coxswain"; }

  [[nodiscard]] std::string message(int code) const override {
    return std::string{coxswain::name(errc_of(static_cast<std::uint32_t>(code)))};
  }

  [[nodiscard]] boost::system::error_condition default_error_condition(
      int code) const noexcept override {
    namespace generic = boost::system::errc;
    switch (static_cast<errc>(code)) {
      case errc::cancelled: return generic::make_error_condition(generic::operation_canceled);
      case errc::deadline_exceeded: return generic::make_error_condition(generic::timed_out);
      case errc::invalid_argument: return generic::make_error_condition(generic::invalid_argument);
      case errc::permission_denied:
        return generic::make_error_condition(generic::permission_denied);
      default: return {code, *this};
    }
  }
};

}  // namespace

boost::system::error_category const& errc_category() noexcept {
  static category const only;
  return only;
}

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
