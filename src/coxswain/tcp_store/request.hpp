#pragma once
// The requests of torch's TCPStore protocol, as plain data. All numbers on the wire are
// little-endian. A request is a byte (`query`) and its fields; texts have a length of eight bytes
// before them. A client sends `validate` and, since torch 2.4, `ping` before anything else.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tcp_store {

enum class query : std::uint8_t {
  validate,
  set,
  compare_set,
  get,
  add,
  check,
  wait,
  count_keys,
  delete_key,
  append,
  multi_get,
  multi_set,
  cancel_wait,
  ping,
  queue_push,
  queue_pop,
  queue_length,
  list_keys,
  barrier,
};
inline constexpr std::size_t queries = 19;

// "set", "compare_set" ... as in torch's Python interface.
[[nodiscard]] std::string_view name(query what) noexcept;

// The number of a `validate`, and the bytes with which each connection begins.
inline constexpr std::uint32_t magic = 0x3C85F7CE;
inline constexpr std::string_view greeting{"\0\xCE\xF7\x85\x3C", 5};

struct request {
  query what{};
  // Keys and values in their order on the wire: of multi_set, each key before its value.
  std::vector<std::string> texts{};
  std::int64_t number{};  // of validate, ping, add and barrier

  friend bool operator==(request const&, request const&) = default;
};

}  // namespace coxswain::tcp_store
