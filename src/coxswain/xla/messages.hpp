#pragma once
// Requests and replies of XLA's coordination service, as plain data: one set of structs for both
// generations of its protocol, which differ only in field numbers.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::xla {

// A task as clients name it. The third generation has a number only.
struct task_name {
  std::int32_t id{};
  std::string job{};
  bool recoverable{};
  friend bool operator==(task_name const&, task_name const&) = default;
};

// The union of all requests; the method decides which fields are used. A field that is not on the
// wire has Protobuf's default.
struct request {
  // The caller. Requests of the second generation about keys have none.
  std::optional<task_name> task{};
  incarnation self{};                    // of the caller; zero: not stated
  std::optional<incarnation> service{};  // that the caller knows; none: its generation states none

  std::string name{};   // of a key, directory or barrier
  std::string value{};  // of InsertKeyValue
  bool overwrite{};
  std::int64_t number{};           // increment, or the version of a watch
  std::int64_t timeout_ms{};       // of a barrier
  std::int64_t counter{};          // of a barrier
  std::vector<task_name> tasks{};  // participants, or whom GetAliveTasks asks for
  std::int32_t code{};             // of ReportErrorToService
  std::string text{};              // of the same

  friend bool operator==(request const&, request const&) = default;
};

// TaskState, in both generations.
enum class state : std::uint8_t { disconnected = 2, connected = 3, error = 4 };

struct task_info {
  task_name task{};
  state is{state::disconnected};
  status error{};
  incarnation self{};
  friend bool operator==(task_info const&, task_info const&) = default;
};

struct key_value {
  std::string key;
  bytes value;
  friend bool operator==(key_value const&, key_value const&) = default;
};

// A reply's bytes: `head`, then `tail`, which is shared instead of copied.
struct encoded_reply {
  std::string head{};
  bytes tail{};
  [[nodiscard]] std::size_t size() const noexcept { return head.size() + tail.size(); }
};

}  // namespace coxswain::xla
