#include "coxswain/server/recorder.hpp"

#include "coxswain/base/text_numbers.hpp"
#include "coxswain/server/settings.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// What is lost at once when the ring is full.
constexpr std::size_t block_bytes = 64 * 1024;

// The value of a request, if it has one.
std::string* value_in(core::request& what) {
  return std::visit(
      []<class Args>(Args& args) -> std::string* {
        if constexpr (requires { args.value; }) return &args.value;
        if constexpr (requires { args.data; }) return &args.data;
        return nullptr;
      },
      what);
}

// That of a grant, wherever it is named.
std::string* secret_in(core::request& what) {
  if (auto* const granted = std::get_if<core::grant_args>(&what)) return &granted->secret;
  auto* const hello = std::get_if<core::hello_args>(&what);
  return hello && hello->acts_for ? &hello->acts_for->secret : nullptr;
}

// Equal for equal secrets, and too short to tell them. What is no secret stays none.
std::string recorded_secret(std::string const& secret) {
  bool const is_one = secret.size() >= core::grant_secret_bytes_min &&
                      secret.size() <= core::grant_secret_bytes_max;
  if (!is_one) return secret;
  auto const digits = std::to_string(std::hash<std::string>{}(secret));
  return "secret " + std::string(20 - digits.size(), '0') + digits;
}

std::string payload_of(core::client_message const& message) {
  std::string frame;
  wire::append_frame(frame, message);
  return frame.substr(wire::length_bytes);
}

}  // namespace

recorder::recorder(options const& o, incarnation self, time_point start)
    : kept_bytes_max_{o.record_bytes_max},
      value_bytes_max_{o.record_value_bytes_max},
      credentials_{o.core.credentials},
      pass_on_{o.record},
      start_{start} {
  head_.coordinator = self;
  head_.started = o.core.started;
  head_.settings = settings_of(o.core);
  if (!pass_on_) return;
  wire::append(buffer_, head_);
  pass_on_(buffer_);
}

void recorder::write(time_point now, wire::record_kind kind, connection_id connection,
                     std::string_view content) {
  wire::record what;
  what.at = now - start_;
  what.kind = kind;
  what.connection = connection;
  what.content = content;
  write(what);
}

void recorder::write_connected(time_point now, connection_id id, std::string_view peer,
                               core::session_secret const& secret) {
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::connected;
  what.connection = id;
  what.content = peer;
  what.secret = secret;
  write(what);
}

void recorder::write_task_ended(time_point now, task_id task, status const& why) {
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::task_ended;
  what.content = why.message();
  what.number = task.value;
  what.code = why.code();
  write(what);
}

void recorder::write_preempted(time_point now, task_id task, duration in) {
  auto const nanoseconds = std::to_string(in.count());
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::preempted;
  what.content = nanoseconds;
  what.number = task.value;
  write(what);
}

void recorder::write_cancelled(time_point now, core::cancel_barrier_args const& round,
                               std::string_view by) {
  auto const content = (round.name + '\0').append(by);
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::round_cancelled;
  what.content = content;
  what.number = round.round.value_or(round_number{}).value;
  write(what);
}

void recorder::write_credentials(time_point now, std::vector<core::credential> by) {
  credentials_ = std::move(by);
  write(now, wire::record_kind::credentials_replaced, {}, recorded(credentials_));
}

void recorder::write_event(time_point now, core::event const& what) {
  if (!is_on()) return;
  wire::record told;
  told.at = now - start_;
  told.kind = wire::record_kind::event;
  told.content = what.text;
  told.number = static_cast<std::uint64_t>(what.level);
  std::string numbers;
  auto words = take_numbers_out(what.text, numbers);
  bool const is_short = words.size() <= wire::shared_words_max;
  if (is_short && words == words_ && !begins_block(told)) {
    told.content = numbers;
    told.same_words = true;
  }
  words_.reset();  // until it is written
  write(told);
  words_ = std::move(words);
}

void recorder::write_message(time_point now, connection_id from, std::string_view payload,
                             core::client_message& message) {
  if (!is_on()) return;
  wire::record what;
  what.at = now - start_;
  what.kind = wire::record_kind::message;
  what.connection = from;
  what.content = payload;
  std::string other;
  auto* const hello = std::get_if<core::hello_args>(&message.what);
  auto* const value = payload.size() > value_bytes_max_ ? value_in(message.what) : nullptr;
  auto* const secret = secret_in(message.what);
  if (secret || (hello && !hello->token.empty())) {
    std::string token;
    if (hello && !hello->token.empty()) {
      auto const known = core::credential_of(credentials_, hello->token);
      token = std::exchange(hello->token, known ? recorded_token(*known) : "wrong");
    }
    std::string granted;
    if (secret) granted = std::exchange(*secret, recorded_secret(*secret));
    other = payload_of(message);
    if (hello) hello->token = std::move(token);
    if (secret) *secret = std::move(granted);
    what.content = other;
  } else if (value && value->size() > value_bytes_max_) {
    auto left_out = std::exchange(*value, {});
    other = payload_of(message);
    *value = std::move(left_out);
    what.content = other;
    what.number = value->size();
  }
  write(what);
}

std::size_t recorder::block::add(wire::record const& what) noexcept {
  char* const begin = bytes_.get() + used_;
  auto const bytes = static_cast<std::size_t>(wire::write(what, begin) - begin);
  used_ += bytes;
  ++records_;
  return bytes;
}

void recorder::write(wire::record const& what) {
  if (pass_on_) {
    buffer_.clear();
    wire::append(buffer_, what);
    pass_on_(buffer_);
  }
  if (kept_bytes_max_ > 0) keep(what);
}

bool recorder::begins_block(wire::record const& what) const noexcept {
  return kept_bytes_max_ > 0 && (kept_.empty() || !kept_.back().has_room_for(what));
}

// What lies in one block can be read without those before it.
void recorder::keep(wire::record const& what) {
  if (begins_block(what)) {
    kept_.emplace_back(std::max(block_bytes, wire::bytes_max(what)));
    words_.reset();
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
  for (auto const& one : kept_) all += one.bytes();
  return all;
}

}  // namespace coxswain::server
