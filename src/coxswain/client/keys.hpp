#pragma once
// PUBLIC. Arguments and results of the calls for keys and queues. Not here: the calls (client).

#include "coxswain/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain {

namespace detail {
class client_calls;
}

enum class put_mode : std::uint8_t { create, overwrite };

// `ephemeral`: the key is removed when this client's task fails or leaves.
enum class key_lifetime : std::uint8_t { persistent, ephemeral };

// `all` is needed to remove the root.
enum class remove_mode : std::uint8_t { tree, all };

struct key_value {
  std::string key;
  std::string value;
  std::uint64_t version{};

  friend bool operator==(key_value const&, key_value const&) = default;
};

// What compare_and_set expects of a key.
class expectation {
 public:
  static expectation absent() { return expectation{std::monostate{}}; }
  static expectation version(std::uint64_t v) { return expectation{v}; }
  static expectation value(std::string_view v) { return expectation{std::string{v}}; }

 private:
  friend class detail::client_calls;
  using expected = std::variant<std::monostate, std::uint64_t, std::string>;  // monostate: absent
  explicit expectation(expected what) : what_{std::move(what)} {}

  expected what_;
};

// The result of compare_and_set: OK and the key's new version; or why not, and the key's present
// state.
struct swap_result {
  swap_result() = default;

  status outcome;
  std::uint64_t version{};           // zero if the key is missing
  std::optional<std::string> found;  // the value that was there instead

  [[nodiscard]] explicit operator bool() const noexcept { return outcome.ok(); }
};

struct queue_item {
  queue_item() = default;

  std::string value;
  // Rises with every push to any queue. An item that is handed out again keeps it.
  std::uint64_t number{};
  // Of an item that was taken: how often it was taken before and came back.
  std::uint32_t redeliveries{};
};

struct key_change {
  key_change() = default;

  std::string key;
  std::uint64_t version{};
  std::optional<std::string> value;  // none: the key was removed
};

}  // namespace coxswain
