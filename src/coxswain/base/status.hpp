#pragma once
// Outcomes. `status` is a canonical code with a text for people; `result<T>` is a value or a
// status. Internal code returns expected outcomes as these; `error` is the exception that the
// public client API throws. Not here: the exception (base/error.hpp).

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace coxswain {

// The canonical codes, numbered as in gRPC (google/rpc/code.proto).
enum class errc : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

// The code's canonical name, such as "DEADLINE_EXCEEDED".
[[nodiscard]] std::string_view name(errc code) noexcept;

// The code with this number, or `unknown` if there is none.
[[nodiscard]] errc errc_of(std::uint32_t number) noexcept;

std::ostream& operator<<(std::ostream& out, errc code);

// The category of `errc`, named "coxswain"; the messages are the canonical names. Generic
// conditions match where the standard has one: `cancelled` is operation_canceled, as Asio's
// operation_aborted is, and `deadline_exceeded` is timed_out.
[[nodiscard]] boost::system::error_category const& errc_category() noexcept;

[[nodiscard]] inline boost::system::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), errc_category()};
}

class [[nodiscard]] status {
 public:
  status() = default;
  status(errc code, std::string message) : code_{code}, message_{std::move(message)} {}

  [[nodiscard]] bool ok() const noexcept { return code_ == errc::ok; }
  [[nodiscard]] errc code() const noexcept { return code_; }
  [[nodiscard]] std::string const& message() const noexcept { return message_; }

  // "DEADLINE_EXCEEDED: Barrier timed out. ..." or "OK".
  [[nodiscard]] std::string text() const;

  friend bool operator==(status const&, status const&) = default;

 private:
  errc code_{errc::ok};
  std::string message_;
};

std::ostream& operator<<(std::ostream& out, status const& s);

// Called by `result<T>::value()` when there is none.
[[noreturn]] void throw_exception_from_error(status const& s, boost::source_location const& where);

template <class T>
using result = boost::system::result<T, status>;

}  // namespace coxswain

template <>
struct boost::system::is_error_code_enum<coxswain::errc> : std::true_type {};
