// The agent's calls: opening, sending, taking back, deadlines.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// How much later than the coordinator the agent ends a call while it is connected (semantics D7).
constexpr duration slack = 1s;

// The size limit of a request on the wire, without its texts and participants.
constexpr std::size_t head_bytes = 64;

void set_timeout(core::request& what, duration timeout) {
  auto const set = [timeout](auto& args) {
    if constexpr (requires { args.timeout; }) args.timeout = timeout;
  };
  std::visit(set, what);
}

bool is_owned(core::request const& what) {
  auto const is_ephemeral = [](auto const& args) {
    if constexpr (requires { args.ephemeral; }) return args.ephemeral;
    return false;
  };
  return std::visit(is_ephemeral, what);
}

// Requests that need a task. They name it; for others the coordinator knows it.
bool needs_task(core::request const& what) {
  return std::holds_alternative<core::join_args>(what) ||
         std::holds_alternative<core::leave_args>(what) ||
         std::holds_alternative<core::reset_args>(what) ||
         std::holds_alternative<core::report_error_args>(what) ||
         std::holds_alternative<core::barrier_args>(what) ||
         std::holds_alternative<core::frozen_args>(what) ||
         std::holds_alternative<core::alive_args>(what) ||
         std::holds_alternative<core::exchange_topology_args>(what) ||
         std::holds_alternative<core::report_progress_args>(what) ||
         std::holds_alternative<core::grant_args>(what) || is_owned(what);
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

// Its approximate size on the wire.
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
    if constexpr (requires { args.participants; }) bytes += 5 * args.participants.size();
    if constexpr (requires { args.tasks; }) bytes += 5 * args.tasks.size();
    if constexpr (requires { args.mine; }) bytes += args.platform.size() + bytes_of(args.mine);
    return bytes;
  };
  return std::visit(count, what);
}

status too_large(open_call const& call, std::string_view part, std::size_t bytes,
                 std::string_view limit, std::uint64_t limit_bytes) {
  std::string text = text_of(call.message.what);
  text.append(": the ").append(part).append(" has ").append(std::to_string(bytes));
  text.append(" bytes; the coordinator's limit ").append(limit).append(" is ");
  return {errc::resource_exhausted, text.append(std::to_string(limit_bytes)).append(".")};
}

// RESOURCE_EXHAUSTED if the coordinator would treat so long a frame as a protocol error.
status over_frame_limit(open_call const& call, std::string_view payload,
                        std::uint64_t frame_bytes_max) {
  if (payload.size() > frame_bytes_max) {
    return too_large(call, "request", payload.size(), "frame_bytes_max", frame_bytes_max);
  }
  if (payload.size() <= wire::request_bytes_max) return {};
  std::size_t const beside = wire::bytes_beside_values(payload);
  if (beside <= wire::request_bytes_max) return {};
  return too_large(call, "request without its values", beside, "request_bytes_max",
                   wire::request_bytes_max);
}

}  // namespace

request_id agent::call(time_point now, core::request what, duration timeout,
                       std::optional<task_id> task) {
  assert(what.index() > 5 && "a request that is answered");
  request_id const id{++last_id_.value};
  open_call opened;
  opened.timeout = std::max(timeout, duration::zero());
  opened.deadline = deadline_after(now, opened.timeout);
  opened.bytes = bytes_of(what);
  opened.message.id = id;
  if (task || needs_task(what)) opened.message.task = task ? task : options_.task;
  set_timeout(what, opened.timeout);
  opened.message.what = std::move(what);
  if (status why = refusal(opened); !why.ok()) {
    complete(id, std::move(why));
    return id;
  }
  queued_bytes_ += opened.bytes;
  watch(now, opened);
  calls_.add(std::move(opened));
  if (phase_ == phase::up) send_call(now, id);
  return id;
}

void agent::cancel(time_point now, request_id call) {
  if (auto const taken = calls_.take(call)) forget(now, *taken);
}

// Why a call is not even queued; OK if it is.
status agent::refusal(open_call const& call) const {
  if (phase_ == phase::over) return end_;
  auto const& message = call.message;
  if (needs_task(message.what) && !message.task) {
    return {errc::failed_precondition,
            text_of(message.what) + ": this client is an observer; the call needs a task id"};
  }
  auto const* barrier = std::get_if<core::barrier_args>(&message.what);
  if (barrier && calls_.waits_at(message.task, barrier->name)) {
    return {errc::failed_precondition, "task " + std::to_string(message.task->value) +
                                           " already waits at " + text_of(message.what) +
                                           "; only one call per barrier can be open at a time"};
  }
  if (phase_ != phase::up && call.bytes > options_.queued_bytes_max - queued_bytes_) {
    return {errc::resource_exhausted,
            text_of(message.what) + ": not connected to the coordinator at " + options_.address +
                ", and the queued calls hold " + std::to_string(queued_bytes_) +
                " bytes; queued_bytes_max is " + std::to_string(options_.queued_bytes_max) + "."};
  }
  return over_limit(call);
}

// RESOURCE_EXHAUSTED if the coordinator would refuse it for its size; OK if not, or if its limits
// are not known yet.
status agent::over_limit(open_call const& call) const {
  if (!session_) return {};
  auto const& what = call.message.what;
  if (std::size_t const name = longest_name(what); name > session_->key_bytes_max) {
    return too_large(call, "name", name, "key_bytes_max", session_->key_bytes_max);
  }
  if (std::size_t const value = largest_value(what); value > session_->value_bytes_max) {
    return too_large(call, "value", value, "value_bytes_max", session_->value_bytes_max);
  }
  // The exact size is known when it is encoded, which this size would not allow.
  if (call.bytes <= wire::message_bytes_max) return {};
  return too_large(call, "request", call.bytes, "frame_bytes_max", session_->frame_bytes_max);
}

// Sends an open call with the time that remains to it.
void agent::send_call(time_point now, request_id id) {
  open_call& call = *calls_.find(id);
  if (id > sent_through_) queued_bytes_ -= call.bytes;
  if (call.deadline != time_point::max()) {
    set_timeout(call.message.what, std::max(call.deadline - now, duration::zero()));
  }
  call.message.answered_through = answered_through_;
  auto const before = bytes_.size();
  wire::append_frame(bytes_, call.message);
  auto const payload = std::string_view{bytes_}.substr(before + wire::length_bytes);
  if (status why = over_frame_limit(call, payload, session_->frame_bytes_max); !why.ok()) {
    bytes_.resize(before);
    complete(id, std::move(why));
    calls_.take(id);
    return;
  }
  sent_through_ = std::max(sent_through_, id);
  sent_at_ = now;
}

// Sends the calls made while nothing could be sent.
void agent::send_queued(time_point now) {
  for (request_id const id : calls_.ids(sent_through_, last_id_)) {
    auto const& call = *calls_.find(id);
    if (status why = over_limit(call); !why.ok()) {
      queued_bytes_ -= call.bytes;
      complete(id, std::move(why));
      calls_.take(id);
      continue;
    }
    send_call(now, id);
  }
}

// Messages without an id: handshakes, heartbeats, Cancel and Bye.
void agent::send(time_point now, core::request what) {
  core::client_message message;
  message.answered_through = answered_through_;
  message.what = std::move(what);
  wire::append_frame(bytes_, message);
  sent_at_ = now;
}

// The coordinator no longer needs to answer this call.
void agent::forget(time_point now, open_call const& call) {
  auto const id = call.message.id;
  if (id > sent_through_) {
    queued_bytes_ -= call.bytes;
  } else if (phase_ == phase::up) {
    send(now, core::cancel_args{id});
  } else if (phase_ == phase::greeting) {
    cancelled_.push_back(id);
  }
}

void agent::complete(request_id call, status why) {
  completions_.push_back({call, core::answer{std::move(why), {}}});
}

void agent::complete_all(errc code, std::string const& text, bool outcome_matters) {
  for (auto const& call : calls_.take_all()) {
    bool const sent = call.message.id <= sent_through_;
    std::string told = text;
    if (code == errc::unavailable && outcome_matters)
      told = (sent ? "outcome unknown: " : "never sent: ") + text;
    complete(call.message.id, {code, std::move(told)});
  }
  queued_bytes_ = 0;
}

void agent::expire_calls(time_point now) {
  for (;;) {
    auto const first = calls_.first_deadline();
    if (!first || expiry(*first) > now) return;
    auto const call = calls_.take_first();
    complete(call.message.id, timed_out(now, call));
    forget(now, call);
  }
}

// The coordinator is to speak first, as long as it can.
time_point agent::expiry(time_point deadline) const {
  return phase_ == phase::up ? deadline_after(deadline, slack) : deadline;
}

status agent::timed_out(time_point now, open_call const& call) const {
  std::string text;
  if (std::holds_alternative<core::barrier_args>(call.message.what)) text = "Barrier timed out. ";
  text += text_of(call.message.what) + ": no reply from the coordinator at " + options_.address +
          " within " + text_of(call.timeout);
  if (phase_ == phase::up) {
    text += " although connected.";
  } else if (session_) {
    text += "; disconnected for " + text_of(now - down_at_) + ": " + last_error_.text();
  } else {
    text +=
        "; not connected yet after " + std::to_string(tries_) + (tries_ == 1 ? " try" : " tries");
    if (!last_error_.ok()) text += ": " + last_error_.text();
  }
  return {errc::deadline_exceeded, std::move(text)};
}

}  // namespace coxswain::detail
