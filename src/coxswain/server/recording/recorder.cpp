#include "coxswain/server/recording/recorder.hpp"

#include "coxswain/base/memory_reserve.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// How much is dropped at once when the ring is full.
constexpr std::size_t block_bytes = 64 * 1024;

// The capacity that buffers keep between records.
constexpr std::size_t buffer_bytes = 64 * 1024;

// A message of at most this size is recorded in its own size, with the length written over its
// value.
constexpr std::size_t short_bytes = 256;

void make_small(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > buffer_bytes) buffer.shrink_to_fit();
}

core::request without_arguments(core::request const& of) {
  return std::visit([]<class Args>(Args const&) { return core::request{Args{}}; }, of);
}

// `content`: the content of the record.
wire::record record_of(core::process_ended const& what, std::string& content) {
  content = what.why.message();
  wire::record input;
  input.kind = wire::record_kind::task_ended;
  input.number = what.task.value;
  input.code = what.why.code();
  return input;
}

wire::record record_of(core::preempt_args const& what, std::string& content) {
  content = std::to_string(what.in.count());
  wire::record input;
  input.kind = wire::record_kind::preempted;
  input.number = what.task.value;
  return input;
}

wire::record record_of(core::round_cancelled const& what, std::string& content) {
  content = what.what.name + '\0' + what.by;
  wire::record input;
  input.kind = wire::record_kind::round_cancelled;
  input.number = what.what.round.value_or(round_number{}).value;
  return input;
}

wire::record record_of(core::job_ended const& what, std::string& content) {
  content = what.by + '\0' + what.what.reason;
  wire::record input;
  input.kind = wire::record_kind::job_ended;
  input.number = static_cast<std::uint64_t>(what.what.how);
  return input;
}

wire::record record_of(core::credentials_replaced const& what, std::string& content) {
  content = recorded(what.by);
  wire::record input;
  input.kind = wire::record_kind::credentials_replaced;
  return input;
}

wire::record record_of(core::suspended const& what, std::string& content) {
  content = what.reason;
  wire::record input;
  input.kind = wire::record_kind::suspended;
  return input;
}

wire::record record_of(core::storing_refused const& what, std::string& content) {
  content = what.why;
  wire::record input;
  input.kind = wire::record_kind::storing_refused;
  return input;
}

wire::record record_of(core::restarted const& what, std::string& content) {
  content = what.term ? std::to_string(*what.term) : "";
  wire::record input;
  input.kind = wire::record_kind::restarted;
  input.number = static_cast<std::uint64_t>(what.downtime.count());
  return input;
}

template <class Request>
wire::record record_of_request(Request const& what, std::string& content) {
  wire::append_frame(content, {{}, {}, {}, what, {}});
  content.erase(0, wire::length_bytes);
  wire::record input;
  input.kind = wire::record_kind::owner_request;
  return input;
}

wire::record record_of(core::why_args const& what, std::string& content) {
  return record_of_request(what, content);
}

wire::record record_of(core::stacks_args const& what, std::string& content) {
  return record_of_request(what, content);
}

wire::record record_of(core::report_stack_args const& what, std::string& content) {
  return record_of_request(what, content);
}

wire::record record_of(core::stopped const& what, std::string& content) {
  content = what.reason;
  wire::record input;
  input.kind = wire::record_kind::stopped;
  return input;
}

}  // namespace

recorder::recorder(options const& o, incarnation self, time_point start, journal* log)
    : kept_bytes_max_{o.record_bytes_max},
      credentials_{o.core.credentials},
      pass_on_{o.record},
      journal_{log},
      start_{start} {
  head_.coordinator = self;
  head_.started = o.core.started;
  head_.settings = settings_of(o.core);
  if (journal_ != nullptr) journal_->begin(head_);
  head_.has_sent = pass_on_ != nullptr;
  pass_on_head();
}

recorder::recorder(options const& o, wire::recording_head head, time_point start,
                   std::uint64_t inputs, journal& log)
    : kept_bytes_max_{o.record_bytes_max},
      credentials_{o.core.credentials},
      pass_on_{o.record},
      journal_{&log},
      start_{start},
      head_{std::move(head)} {
  head_.lost = inputs;
  head_.has_sent = pass_on_ != nullptr;
  pass_on_head();
}

void recorder::pass_on_head() {
  if (!pass_on_) return;
  wire::append(buffer_, head_);
  pass_on_(buffer_);
  make_small(buffer_);
}

void recorder::write(time_point now, wire::record_kind kind, connection_id connection,
                     std::string_view content) {
  wire::record what;
  what.at = now - start_;
  what.kind = kind;
  what.connection = connection;
  what.content = content;
  write_input(what);
}

void recorder::write_connected(time_point now, connection_id id, std::string_view peer,
                               core::session_secret const& secret) {
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::connected;
  what.connection = id;
  what.content = peer;
  what.secret = secret;
  if (journal_ != nullptr) journal_->append(what);
  if (!is_on()) return;
  what.secret = digester_.digest(secret);
  write(what);
}

void recorder::write(time_point now, core::owner_input const& what) {
  if (auto const* const given = std::get_if<core::credentials_replaced>(&what)) {
    credentials_ = given->by;
  }
  std::string content;
  wire::record input =
      std::visit([&](auto const& alternative) { return record_of(alternative, content); }, what);
  input.at = now - start_;
  input.content = content;
  write_input(input);
}

void recorder::write_event(time_point now, core::event const& what) {
  if (!is_on()) return;
  wire::record reported;
  reported.at = now - start_;
  reported.kind = wire::record_kind::event;
  reported.content = what.text;
  reported.number = static_cast<std::uint64_t>(what.level);
  output_.add(what);
  write(reported);
}

void recorder::write_digest(time_point now, std::vector<core::outgoing> const& messages) {
  wire::record sent;
  if (pass_on_) {
    for (auto const& message : messages) output_.add(message);
    sent.number = messages.size();
  }
  if (output_.empty()) return;
  sent.at = now - start_;
  sent.kind = wire::record_kind::sent;
  auto const digest = output_.take();
  sent.content = {reinterpret_cast<char const*>(digest.data()), digest.size()};
  write(sent);
}

void recorder::write_message(time_point now, connection_id from,
                             wire::decoded_payload const& payload, core::client_message& message,
                             core::coordinator const& receiver) {
  if (journal_ == nullptr && !is_on()) return;
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::message;
  what.connection = from;
  auto const& [whole, is_plain, value_in_it] = payload;
  what.content = whole;
  bool const is_exact = is_plain && !needs_placeholders(message.what);
  if (journal_ != nullptr) write_to_journal(what, message, receiver, is_plain);
  if (!is_on()) return;
  if (is_exact) return write(what);
  bool const is_compared = receiver.compares_value(message.what);
  bool const is_short = !value_in_it.empty() && whole.size() <= short_bytes && !is_compared;
  if (is_short && is_replaced_by_length(message.what)) return write_short(what, value_in_it);
  what.held = held_number(message, receiver);
  auto const value =
      is_plain && !is_compared ? placeholder_for_value(message.what, digester_) : std::nullopt;
  if (value && wire::append_with_value(message_, whole, *value)) {
    what.content = message_;
    write(what);
    return make_small(message_);
  }
  redaction replaced{message, receiver, digester_};
  replace_token(replaced.texts(), message);
  if (!is_plain || !replaced.empty()) {
    wire::append_frame(message_, message);
    what.content = std::string_view{message_}.substr(wire::length_bytes);
  }
  write(what);
  make_small(message_);
}

// `value` is a part of the content.
void recorder::write_short(wire::record what, std::string_view value) {
  std::array<char, short_bytes> copy;
  std::copy(what.content.begin(), what.content.end(), copy.begin());
  auto const begin = static_cast<std::size_t>(value.data() - what.content.data());
  write_placeholder(std::span{copy}.subspan(begin, value.size()));
  what.content = {copy.data(), what.content.size()};
  write(what);
}

// With its values and secrets; a token is never written. While the disk is full, a request that is
// refused regardless of its arguments is written without them.
void recorder::write_to_journal(wire::record what, core::client_message& message,
                                core::coordinator const& receiver, bool is_plain) {
  text_replacement replaced;
  replace_token(replaced, message);
  bool const is_refused = receiver.refuses_to_store(message.what);
  if (is_refused || !is_plain || !replaced.empty()) {
    if (is_refused) {
      wire::append_frame(message_, {message.id, message.answered_through, message.task,
                                    without_arguments(message.what), message.epoch});
    } else {
      wire::append_frame(message_, message);
    }
    what.content = std::string_view{message_}.substr(wire::length_bytes);
  }
  journal_->append(what);
  make_small(message_);
}

void recorder::replace_token(text_replacement& in, core::client_message& message) const {
  auto* const hello = std::get_if<core::hello_args>(&message.what);
  if (!hello || hello->token.empty()) return;
  auto const known = core::credential_of(credentials_, hello->token);
  in.replace(hello->token, known ? recorded_token(*known) : "wrong");
}

std::size_t recorder::block::add(wire::record const& what) noexcept {
  char* const begin = bytes_.get() + used_;
  auto const bytes = static_cast<std::size_t>(wire::write(what, begin) - begin);
  used_ += bytes;
  ++records_;
  return bytes;
}

void recorder::write_input(wire::record const& what) {
  if (journal_ != nullptr) journal_->append(what);
  write(what);
}

void recorder::write(wire::record const& what) {
  if (pass_on_) {
    wire::append(buffer_, what);
    pass_on_(buffer_);
    make_small(buffer_);
  }
  if (kept_bytes_max_ > 0) keep(what);
}

void recorder::keep(wire::record const& what) {
  if (kept_.empty() || !kept_.back().has_room_for(what)) {
    try {
      memory_reserve::use const of_none{nullptr};
      kept_.emplace_back(std::max(block_bytes, wire::bytes_max(what)));
    } catch (std::bad_alloc const&) {
      // Memory is needed elsewhere: the recording so far is dropped, and starts again.
      for (auto const& section : kept_) head_.lost += section.records();
      ++head_.lost;
      kept_bytes_ = 0;
      return kept_.clear();
    }
  }
  kept_bytes_ += kept_.back().add(what);
  while (kept_bytes_ > kept_bytes_max_ && kept_.size() > 1) {
    kept_bytes_ -= kept_.front().bytes().size();
    head_.lost += kept_.front().records();
    kept_.pop_front();
  }
}

std::string recorder::recording() const {
  std::string all;
  wire::append(all, head_);
  for (auto const& section : kept_) all += section.bytes();
  return all;
}

}  // namespace coxswain::server
