#pragma once
// operation_of<Args>: the facts of a request besides its fields, as data: its names, the role that
// it needs, its traits, and its result. Code for all requests reads it, so each fact is written
// once. Not here: the rows themselves (operations.hpp).

#include "coxswain/core/access/role.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>

namespace coxswain::core {

// How a request behaves.
namespace trait {
inline constexpr std::uint16_t needs_memory = 1;  // it waits or stores; refused without memory
inline constexpr std::uint16_t together =
    2;                                      // of several tasks: may use memory left free by others
inline constexpr std::uint16_t stores = 4;  // its reply is kept while there is room
inline constexpr std::uint16_t produces = 8;   // it may complete a waiting get or pop
inline constexpr std::uint16_t of_epoch = 16;  // it may wait for members, and ends with their epoch
inline constexpr std::uint16_t of_session = 32;   // about the session or a request; has no id
inline constexpr std::uint16_t of_task = 64;      // a task makes it, and the client names the task
inline constexpr std::uint16_t takes_task = 128;  // its task is not the session's yet
inline constexpr std::uint16_t watches = 256;     // it waits for changes, normally for ever
inline constexpr std::uint16_t idles = 512;       // it may normally wait for hours
}  // namespace trait

struct operation_row {
  std::string_view words;  // one of them, in texts, before its key or name: "get of key"
  std::string_view verb;   // what its role permits: "get keys"
  role needed{};           // requests that keep a session alive need only a reader
  std::uint16_t traits{};
  std::string_view doc;     // one sentence
  std::string_view name{};  // for programs: "get_all"; empty: as the record's

  [[nodiscard]] constexpr bool is(std::uint16_t trait) const noexcept {
    return (traits & trait) != 0;
  }

  // Refused, whatever its arguments are, while nothing may be stored.
  [[nodiscard]] constexpr bool is_stored() const noexcept {
    return is(trait::stores | trait::produces);
  }
};

// The row of a request whose callers are given `result`, a member of `Answer` or all of it.
template <class Answer, class Result>
struct answered_row : operation_row {
  using answer = Answer;
  Result result;
};

// The outcome of the request says everything.
[[nodiscard]] constexpr operation_row row(operation_row of) noexcept { return of; }

template <class Answer, class Result = std::identity>
[[nodiscard]] constexpr answered_row<Answer, Result> row(operation_row of,
                                                         Result result = {}) noexcept {
  return {of, result};
}

// A request without a row does not compile.
template <class Args>
inline constexpr auto operation_of = Args::has_no_operation_of;

}  // namespace coxswain::core
