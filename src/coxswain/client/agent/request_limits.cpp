#include "coxswain/client/agent/request_limits.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::detail {
namespace {

// The size limit of a request on the wire, without its texts and participants.
constexpr std::size_t head_bytes = 64;

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
  auto const longest = [](auto const& args) -> std::size_t {
    std::size_t bytes = 0;
    if constexpr (requires { args.key; }) bytes = normal_bytes(args.key);
    if constexpr (requires { args.directory; }) bytes = normal_bytes(args.directory);
    if constexpr (requires { args.queue; }) bytes = normal_bytes(args.queue);
    if constexpr (requires { args.name; }) bytes = args.name.size();
    if constexpr (requires { args.platform; }) bytes = args.platform.size();
    if constexpr (requires { args.keys; }) {
      for (auto const& key : args.keys) bytes = std::max(bytes, normal_bytes(key));
    }
    if constexpr (requires { args.entries; }) {
      for (auto const& entry : args.entries) bytes = std::max(bytes, normal_bytes(entry.key));
    }
    return bytes;
  };
  return std::visit(longest, what);
}

std::size_t largest_value(core::request const& what) {
  auto const largest = [](auto const& args) -> std::size_t {
    std::size_t bytes = 0;
    if constexpr (requires { args.value; }) bytes = args.value.size();
    if constexpr (requires { args.entries; }) {
      for (auto const& entry : args.entries) bytes = std::max(bytes, entry.value.size());
    }
    return bytes;
  };
  return std::visit(largest, what);
}

std::size_t bytes_of_all(std::vector<std::string> const& keys) {
  std::size_t bytes = 0;
  for (auto const& key : keys) bytes += key.size() + 4;
  return bytes;
}

std::size_t bytes_of_all(std::vector<core::put_all_args::entry> const& entries) {
  std::size_t bytes = 0;
  for (auto const& entry : entries) bytes += entry.key.size() + entry.value.size() + 16;
  return bytes;
}

std::size_t bytes_of_expected(core::expected_value const& expected) {
  auto const* const value = std::get_if<std::string>(&expected);
  return value ? value->size() : 0;
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
  auto const count = [](auto const& args) -> std::size_t {
    std::size_t bytes = head_bytes;
    if constexpr (requires { args.key; }) bytes += args.key.size();
    if constexpr (requires { args.value; }) bytes += args.value.size();
    if constexpr (requires { args.name; }) bytes += args.name.size();
    if constexpr (requires { args.secret.data(); }) bytes += args.secret.size();
    if constexpr (requires { args.data; }) bytes += args.data.size();
    if constexpr (requires { args.directory; }) bytes += args.directory.size();
    if constexpr (requires { args.queue; }) bytes += args.queue.size();
    if constexpr (requires { args.keys; }) bytes += bytes_of_all(args.keys);
    if constexpr (requires { args.entries; }) bytes += bytes_of_all(args.entries);
    if constexpr (requires { args.expected; }) bytes += bytes_of_expected(args.expected);
    if constexpr (requires { args.what.message(); }) bytes += args.what.message().size();
    if constexpr (requires { args.placement; }) {
      bytes += args.member.size() + bytes_of_all(args.placement);
    }
    if constexpr (requires { args.participants; }) bytes += 5 * args.participants.size();
    if constexpr (requires { args.tasks; }) bytes += 5 * args.tasks.size();
    if constexpr (requires { args.mine; }) bytes += args.platform.size() + bytes_of(args.mine);
    return bytes;
  };
  return std::visit(count, what);
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
