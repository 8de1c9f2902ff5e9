#include "coxswain/client/agent/request_limits.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/core/model/content_bytes.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// The size limit of a request on the wire, without its texts and participants.
constexpr std::size_t head_bytes = 64;
// That of an item of a list without its text.
constexpr std::size_t item_bytes = 10;

bool is_owned(core::request const& what) {
  auto const is_ephemeral = [](auto const& args) {
    if constexpr (requires { args.ephemeral; }) return args.ephemeral;
    return false;
  };
  return std::visit(is_ephemeral, what);
}

// A key as the coordinator counts it: without slashes at its ends and without double ones.
std::size_t normal_bytes(std::string_view key) {
  std::size_t count = 0;
  bool slash = true;
  for (char const c : key) {
    if (c != '/' || !slash) ++count;
    slash = c == '/';
  }
  return count > 0 && slash ? count - 1 : count;
}

// Of keys, directories, queues and barriers.
std::size_t longest_name(core::request const& what) {
  std::size_t bytes = 0;
  auto const compare = [&bytes]<class T>(T const& name) {
    if constexpr (std::same_as<T, std::string>) {
      bytes = std::max(bytes, normal_bytes(name));
    } else {
      for (auto const& key : name) bytes = std::max(bytes, normal_bytes(key));
    }
  };
  auto const longest = [&](auto const& args) {
    if constexpr (requires { args.name; }) bytes = args.name.size();
    if constexpr (requires { args.platform; }) bytes = args.platform.size();
    core::each_member_of<core::as::name_t>(args, compare);
  };
  std::visit(longest, what);
  return bytes;
}

// The data of a barrier has a limit of its own.
std::size_t largest_value(core::request const& what) {
  if (std::holds_alternative<core::barrier_args>(what)) return 0;
  std::size_t bytes = 0;
  auto const compare = [&bytes](auto const& value) { bytes = std::max(bytes, value.size()); };
  std::visit([&](auto const& args) { core::each_member_of<core::as::value_t>(args, compare); },
             what);
  return bytes;
}

status too_large(open_call const& call, std::string_view part, std::size_t bytes,
                 std::string_view limit, std::uint64_t limit_bytes) {
  std::string text = text_of(call.message.what);
  text.append(": the ").append(part).append(" has ").append(std::to_string(bytes));
  text.append(" bytes; the coordinator's limit ").append(limit).append(" is ");
  return {errc::resource_exhausted, text.append(std::to_string(limit_bytes)).append(".")};
}

}  // namespace

bool needs_task(core::request const& what) {
  return core::row_of(what).is(core::trait::of_task) || is_owned(what);
}

std::size_t bytes_of(core::request const& what) {
  auto const per_item = []<class Item>(Item const&) -> std::size_t {
    return core::described<Item> ? sizeof(Item) : item_bytes;
  };
  return head_bytes + core::content_bytes(what, per_item);
}

void set_timeout(core::request& what, duration timeout) {
  auto const set = [timeout](auto& args) {
    if constexpr (requires { args.timeout; }) args.timeout = timeout;
  };
  std::visit(set, what);
}

status over_limit(open_call const& call, core::hello_answer const& terms) {
  auto const& what = call.message.what;
  if (std::size_t const name = longest_name(what); name > terms.key_bytes_max) {
    return too_large(call, "name", name, "key_bytes_max", terms.key_bytes_max);
  }
  if (std::size_t const value = largest_value(what); value > terms.value_bytes_max) {
    return too_large(call, "value", value, "value_bytes_max", terms.value_bytes_max);
  }
  // The exact size is known when it is encoded, which this size would not allow.
  if (call.bytes <= wire::message_bytes_max) return {};
  return too_large(call, "request", call.bytes, "frame_bytes_max", terms.frame_bytes_max);
}

status over_frame_limit(open_call const& call, std::string_view payload,
                        core::hello_answer const& terms) {
  if (payload.size() > terms.frame_bytes_max) {
    return too_large(call, "request", payload.size(), "frame_bytes_max", terms.frame_bytes_max);
  }
  if (payload.size() <= wire::request_bytes_max) return {};
  std::size_t const beside = wire::bytes_beside_values(payload);
  if (beside <= wire::request_bytes_max) return {};
  return too_large(call, "request without its values", beside, "request_bytes_max",
                   wire::request_bytes_max);
}

}  // namespace coxswain::detail
