#include "load/census.hpp"

#include "bench_error.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::bench {
namespace {

std::string who(std::optional<task_id> task) {
  return task ? fmt::format("task {}", task->value) : std::string{"a connection without a task"};
}

bool depends_on_time(core::request const& what) {
  return std::holds_alternative<std::monostate>(what) ||
         std::holds_alternative<core::ask_waiting_args>(what);
}

// Removes the label and incarnation, which differ between processes.
std::string without_what_is_random(core::client_message message) {
  if (auto* hello = std::get_if<core::hello_args>(&message.what)) hello->label.clear();
  if (auto* join = std::get_if<core::join_args>(&message.what)) join->self = {};
  std::string frame;
  wire::append_frame(frame, message);
  return frame.substr(wire::length_bytes);
}

}  // namespace

census::census(std::string_view recording) try {
  wire::recording_reader records{recording};
  if (records.head().lost > 0) {
    throw bench_error{
        "the coordinator has forgotten the beginning of what it was told: take fewer "
        "--rounds or --pairs"};
  }
  std::optional<duration> iteration;
  while (auto const next = records.next()) {
    if (next->kind == wire::record_kind::connected) ++connections_;
    if (next->kind != wire::record_kind::message) continue;
    if (iteration != next->at) ++iterations_;
    iteration = next->at;
    ++frames_;
    take(next->connection, next->content);
  }
  for (auto& [_, on] : lines_) {
    auto& all = by_task_[on.task];
    std::move(on.requests.begin(), on.requests.end(), std::back_inserter(all));
  }
  lines_.clear();
} catch (error const& problem) {
  throw bench_error{std::string{"what the coordinator was told cannot be read: "} + problem.what()};
}

void census::take(connection_id from, std::string_view payload) {
  auto message = wire::decode_client(payload);
  if (!message) throw bench_error{"it was told nonsense: " + message.error().text()};
  bool const is_beat = std::holds_alternative<std::monostate>(message->what);
  auto what = is_beat ? std::string{"heartbeat"} : detail::text_of(message->what);
  auto& counted = by_request_[what];
  ++counted.frames;
  counted.bytes += wire::length_bytes + payload.size();

  auto& on = lines_[from];
  if (message->task) on.task = message->task;
  if (depends_on_time(message->what)) return;
  on.requests.push_back({std::move(what), without_what_is_random(*std::move(message))});
}

double census::requests_per_iteration() const noexcept {
  return iterations_ == 0 ? 0 : static_cast<double>(frames_) / static_cast<double>(iterations_);
}

std::optional<std::string> census::difference(census const& one, std::string_view a,
                                              census const& other, std::string_view b) {
  if (one.connections_ != other.connections_) {
    return fmt::format("{} made {} connections, {} made {}", a, one.connections_, b,
                       other.connections_);
  }
  static std::vector<request> const nothing;
  auto const of = [](census const& c, std::optional<task_id> task) -> std::vector<request> const& {
    auto const at = c.by_task_.find(task);
    return at == c.by_task_.end() ? nothing : at->second;
  };
  auto tasks = one.by_task_;
  tasks.insert(other.by_task_.begin(), other.by_task_.end());
  for (auto const& [task, _] : tasks) {
    auto const& x = of(one, task);
    auto const& y = of(other, task);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (x[i].payload == y[i].payload) continue;
      return fmt::format(
          "request {} of {} is a {} of {} bytes from {}, but a {} of {} bytes from {}", i + 1,
          who(task), x[i].what, x[i].payload.size(), a, y[i].what, y[i].payload.size(), b);
    }
    if (x.size() == y.size()) continue;
    return fmt::format("{} sent {} requests among {}, but {} among {}", who(task), x.size(), a,
                       y.size(), b);
  }
  return std::nullopt;
}

}  // namespace coxswain::bench
