#pragma once
// Environment variables for the launchers' readers: empty counts as not set, and a malformed one
// becomes a sourced_value with a problem.

#include "coxswain/launch/environment.hpp"
#include "coxswain/launch/sourced_value.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::launch {

class variables {
 public:
  explicit variables(environment const& of) : of_{of} {}

  // Empty if it is not set.
  [[nodiscard]] std::string operator[](std::string const& name) const;
  [[nodiscard]] bool has(std::string_view name) const {
    return !(*this)[std::string{name}].empty();
  }

  [[nodiscard]] sourced_value<std::string> text(std::string const& name) const;

  template <class Number>
  [[nodiscard]] sourced_value<Number> number(
      std::string const& name, Number least = 0,
      Number most = std::numeric_limits<Number>::max()) const {
    auto const wide = wide_number(name, least, most);
    if (!wide.problem().ok()) return sourced_value<Number>::wrong(wide.problem().message(), name);
    if (!wide.is_there()) return {};
    return {static_cast<Number>(*wide.value()), name};
  }

  // "HOST:PORT" from one variable; with a different text if its value was changed.
  [[nodiscard]] static sourced_value<std::string> address(std::string text, std::string const& name,
                                                          std::string const& value);

  // "HOST:PORT" of a host and a computed port, unless JAX_COORDINATOR_PORT is set.
  [[nodiscard]] sourced_value<std::string> address_at(std::string const& host, std::uint16_t port,
                                                      std::string const& from) const;

  // Empty if it cannot be read.
  [[nodiscard]] std::string file(std::string const& path) const;

 private:
  [[nodiscard]] sourced_value<std::uint64_t> wide_number(std::string const& name,
                                                         std::uint64_t least,
                                                         std::uint64_t most) const;

  environment const& of_;
};

// "NAME is 'VALUE'; expected ALLOWED."
[[nodiscard]] std::string refusal(std::string const& name, std::string const& value,
                                  std::string const& allowed);

// "host:port" without its port, and without the brackets of an IPv6 address.
[[nodiscard]] std::string host_of(std::string const& address);

// The parts between commas; an empty text has one empty part.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view list);

// A port computed from a job's id as JAX does: 61440 to 65535.
[[nodiscard]] constexpr std::uint16_t port_of_job(std::uint64_t id) noexcept {
  return static_cast<std::uint16_t>(61440 + id % 4096);
}

}  // namespace coxswain::launch
