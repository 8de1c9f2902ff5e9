#pragma once
// One option in a table of them. Command line, environment, configuration files, Python and
// recordings are made of its row; its default is the value that its owner's constructor gives it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace coxswain {

// Where --help lists it.
enum class option_group : std::uint8_t {
  client,    // with the coordinator that is to be found
  internal,  // nowhere: a limit that only C++ programs can set
  embedded,  // nowhere: only for coordinators in a program
  job,
  listeners,
  tls,
  timing,
  spares,
  elastic,
  limits,
  journal,
  standby,
  recording,
  page,
  xla,
};

// A bound of a number, or of a duration, in nanoseconds.
struct option_bound {
  std::int64_t value;

  constexpr option_bound(std::int64_t number) noexcept : value{number} {}
  template <class Rep, class Period>
  constexpr option_bound(std::chrono::duration<Rep, Period> time) noexcept
      : value{std::chrono::nanoseconds{time}.count()} {}
};

struct option_facts {
  std::string_view flag{};     // empty: the name, or no-name if the default is true
  std::string_view type{};     // of a text: what --help calls it
  std::string_view choices{};  // the names of an enumeration's values, in their order
  option_bound least{0};       // a smaller default means that something else determines the value
  option_bound most{std::numeric_limits<std::int64_t>::max()};
  bool is_size{};         // a number of bytes
  bool may_be_forever{};  // a duration
};

template <class Owner, class Value>
struct option_row {
  char const* name;  // in Python and recordings
  Value Owner::*member;
  option_group group;
  std::string_view doc;
  option_facts facts;

  constexpr option_row(char const* called, Value Owner::*is, option_group in = {},
                       std::string_view says = {}, option_facts has = {}) noexcept
      : name{called}, member{is}, group{in}, doc{says}, facts{has} {}
};

// "--heartbeat-timeout"; an option that is on by default is turned off.
[[nodiscard]] inline std::string flag_of(std::string_view name, option_facts const& is,
                                         bool is_on) {
  std::string flag{is.flag.empty() ? name : is.flag};
  std::replace(flag.begin(), flag.end(), '_', '-');
  return (is_on ? "--no-" : "--") + flag;
}

}  // namespace coxswain
