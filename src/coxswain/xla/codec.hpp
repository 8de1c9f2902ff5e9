#pragma once
// Translates the bytes of XLA's coordination service, of both generations, to `request` and back.
// Fields are found by one table of their numbers. Not here: paths (methods), errors (outcome),
// HTTP/2 and the five bytes before each message (http2).

#include "coxswain/base/status.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::xla {

// Participants of one call: a list of numbers decodes to many times its bytes.
inline constexpr std::size_t tasks_max = 1'048'576;

// INVALID_ARGUMENT: these are no fields of Protobuf, a text is not UTF-8, a task has a negative
// number, or there are more than `tasks_max`. Unknown fields are skipped, as Protobuf does.
[[nodiscard]] result<request> decode(method_path of, std::string_view message);

// RegisterTask, Heartbeat: the coordinator's incarnation.
[[nodiscard]] std::string encode_incarnation(incarnation self);

// GetKeyValue, TryGetKeyValue, IncrementKeyValue. `value` is shared.
[[nodiscard]] encoded_reply encode_key_value(std::string_view key, bytes value);

// GetKeyValueDir: appends one key to the reply, whose fields may come in any number of pieces.
void append_listed(std::string& reply, std::string_view key, std::string_view value);

// Barrier.
[[nodiscard]] std::string encode_counter(std::int64_t counter);

// GetAliveTasks: the tasks and, in the same order, their incarnations.
[[nodiscard]] std::string encode_alive(generation of, std::vector<task_name> const& tasks,
                                       std::vector<incarnation> const& incarnations);

// WatchTasks: all tasks, and their version.
[[nodiscard]] std::string encode_tasks(generation of, std::vector<task_info> const& tasks,
                                       std::int64_t version);

// For tests and benchmarks: what a client sends.
[[nodiscard]] std::string encode_request(method_path of, request const& what);

}  // namespace coxswain::xla
