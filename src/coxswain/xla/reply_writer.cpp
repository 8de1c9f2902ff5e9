#include "coxswain/xla/reply_writer.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"
#include "coxswain/xla/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>

namespace coxswain::xla {
namespace {

// Of a task in a reply, besides its texts.
constexpr std::size_t field_bytes = 48;

std::string key_text(std::string const& key) { return core::shortened(key, 900); }

state state_of(core::snapshot::task const& task) {
  if (task.state == task_state::connected) return state::connected;
  return task.state == task_state::failed ? state::error : state::disconnected;
}

// Programs look for the words "heartbeat timeout" when a task was lost.
std::string shutdown_text(status const& why) {
  bool const is_lost = why.message().find(name(errc::unavailable)) != std::string::npos;
  return "Shutdown barrier has failed" + std::string{is_lost ? " after a heartbeat timeout" : ""} +
         ".\nBarrier result: '" + why.text() + "'";
}

// A text that Protobuf accepts: valid UTF-8.
std::string proper(std::string_view text) {
  auto made = core::shortened(text, text_bytes_max);
  if (!core::is_utf8(made))
    std::replace_if(
        made.begin(), made.end(), [](unsigned char c) { return c > 0x7f; }, '?');
  return made;
}

}  // namespace

reply_writer::reply_writer(job_failure const& why, bool is_strict, std::size_t bytes_max,
                           meter_ptr memory)
    : failure_{why}, is_strict_{is_strict}, bytes_max_{bytes_max}, memory_{std::move(memory)} {}

// Of a reply, before it is made.
status reply_writer::check_size(std::size_t bytes) const {
  constexpr std::size_t small = 64 * 1024;
  if (bytes > bytes_max_) {
    return {errc::resource_exhausted, "the reply would have " + std::to_string(bytes) +
                                          " bytes; at most " + std::to_string(bytes_max_) +
                                          " are sent"};
  }
  if (bytes <= small || !memory_ || memory_->fits_in_transit(bytes)) return {};
  return {errc::resource_exhausted, "no memory for a reply of " + std::to_string(bytes) +
                                        " bytes (memory_bytes_max); repeat the call later"};
}

result<encoded_reply> reply_writer::succeeded(open_call const& call, core::answer const& what) {
  if (auto const* const value = as<core::value_answer>(what)) {
    return encode_key_value(call.name, value->value);
  }
  if (auto const* const counter = as<core::counter_answer>(what)) {
    return encode_key_value(call.name, bytes{std::to_string(counter->value)});
  }
  if (auto const* const tasks = as<core::tasks_answer>(what)) return listing(call, *tasks);
  if (auto const* const alive = as<core::alive_answer>(what)) {
    std::size_t size = 0;
    for (auto const& name : call.asked) size += name.job.size();
    if (!call.asked.empty()) size += alive->tasks.size() * call.asked.front().job.size();
    size += alive->tasks.size() * field_bytes;
    if (status why = check_size(size); !why.ok()) return why;
    std::unordered_map<std::int32_t, task_name const*> asked;
    for (auto const& name : call.asked) asked.try_emplace(name.id, &name);
    std::vector<task_name> names;
    std::vector<incarnation> selves;
    for (auto const& there : alive->tasks) {
      auto const id = static_cast<std::int32_t>(there.id.value);
      auto const by_caller = asked.find(id);
      task_name name{id};
      if (!call.asked.empty()) name.job = call.asked.front().job;
      names.push_back(by_caller == asked.end() ? std::move(name) : *by_caller->second);
      selves.push_back(there.self);
    }
    return encoded_reply{encode_alive(call.of.of, names, selves)};
  }
  if (call.pages && call.pages->why() == directory_pages::purpose::list) {
    return encoded_reply{{}, bytes{call.pages->release_reply(), memory_}};
  }
  return encoded_reply{};
}

result<encoded_reply> reply_writer::listing(open_call const& call, core::tasks_answer const& all) {
  for (kept_listing const& kept : listings_) {
    bool const is_it =
        kept.version == all.version && kept.as == call.of.of && kept.job == call.name;
    if (is_it) return encoded_reply{{}, kept.what};
  }
  auto size = all.tasks.size() * (call.name.size() + field_bytes);
  for (auto const& task : all.tasks) {
    size += std::min(task.error.message().size(), text_bytes_max);
  }
  if (status why = check_size(size); !why.ok()) return why;
  std::vector<task_info> tasks;
  tasks.reserve(all.tasks.size());
  for (auto const& task : all.tasks) {
    task_info info;
    info.task = {static_cast<std::int32_t>(task.id.value), call.name};
    info.is = state_of(task);
    info.error = {task.error.code(), proper(task.error.message())};
    info.self = task.self;
    tasks.push_back(std::move(info));
  }
  bytes made{encode_tasks(call.of.of, tasks, static_cast<std::int64_t>(all.version)), memory_};
  listings_.push_back({all.version, call.of.of, call.name, made});
  return encoded_reply{{}, made};
}

outcome reply_writer::failed(open_call const& call, status const& why) const {
  std::string const& text = why.message();
  switch (call.of.what) {
    case method::register_task:
      if (failure_.has_happened()) {
        outcome how = failure_.as_outcome(call.of.of, std::nullopt);
        how.code = is_strict_ ? errc::aborted : errc::failed_precondition;
        return how;
      }
      break;
    case method::shutdown_task:
      if (why.code() != errc::internal) break;
      return by_service({errc::internal, shutdown_text(why)});
    case method::barrier: {
      bool const differs = core::states(why, &core::reasons::differs_from_waiting);
      constexpr auto conflict =
          "Conflicting tasks specified by different processes for the same barrier: ";
      status const given = differs ? status{why.code(), conflict + text} : why;
      return of_barrier(given, call.name, call.counter);
    }
    case method::cancel_barrier: return of_barrier(why, call.name, call.counter);
    case method::insert_key_value:
      if (why.code() != errc::already_exists) break;
      return plain({why.code(), "key " + key_text(call.name) + " already exists."});
    case method::try_get_key_value:
      if (why.code() != errc::not_found) break;
      return by_service({why.code(), "Config key " + key_text(call.name) + " not found."});
    case method::get_key_value:
      if (why.code() != errc::cancelled) break;
      return plain(why);
    case method::get_alive_tasks:
      if (why.code() != errc::invalid_argument) break;
      return plain(why);
    default: break;
  }
  return by_service(why);
}

}  // namespace coxswain::xla
