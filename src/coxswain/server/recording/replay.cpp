#include "coxswain/server/recording/replay.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/server/recording/recorded_input.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace coxswain::server {
namespace {

// How much output may precede its digest.
constexpr std::size_t left_max = 1'000'000;

std::string text_of(core::outgoing const& message) {
  auto const connection = "connection " + std::to_string(message.to.value);
  if (message.in_reply_to == request_id{}) return "the push to " + connection;
  return "the reply " + std::string{name(message.what->outcome.code())} + " to request " +
         std::to_string(message.in_reply_to.value) + " of " + connection;
}

std::uint64_t version_of(core::coordinator const& of, std::string const& key) {
  auto const has = of.value(key);
  return has ? has->version : 0;
}

}  // namespace

std::string records_of(journal_files const& journal) {
  std::string all;
  each_batch(journal, [&all](batch const& batch) {
    if (batch.behaviour != core::behaviour) {
      throw error{{errc::failed_precondition, "The journal has inputs of behaviour " +
                                                  std::to_string(batch.behaviour) +
                                                  ", and this program replays those of behaviour " +
                                                  std::to_string(core::behaviour) + "."}};
    }
    all += batch.payload;
  });
  return all;
}

replay::replay(wire::recording_reader reader, origin from)
    : reader_{std::move(reader)},
      head_{std::move(from.head)},
      has_values_{from.has_values},
      begins_{from.begins},
      now_{beginning + begins_},
      latest_{now_},
      core_{std::move(from.core)} {}

replay::replay(std::string_view recording)
    : replay{wire::recording_reader{recording},
             beginning_of(wire::recording_reader{recording}.head())} {}

replay::replay(journal_files const& journal, std::string_view records)
    : replay{wire::recording_reader::of_records(records), snapshot_of(journal)} {}

replay::origin replay::beginning_of(wire::recording_head const& head) {
  return {.head = head, .core = core::coordinator{config_of(head), head.coordinator, beginning}};
}

replay::origin replay::snapshot_of(journal_files const& journal) {
  auto made = beginning_of(*journal.head);
  made.has_values = true;
  if (journal.snapshots.empty()) return made;
  auto const bytes = content_of(journal.snapshots.back().path);
  auto loaded = core::coordinator::load(
      config_of(made.head), std::string_view{bytes}.substr(batch_head_bytes), beginning);
  if (!loaded) throw error{loaded.error()};
  made.core = *std::move(loaded);
  made.begins = read_batch(bytes).value().written.coordinator;
  return made;
}

std::optional<wire::record> replay::step(duration until) {
  if (!next_) next_ = reader_.next();
  if (!next_ || next_->at > until) return std::nullopt;
  auto const current = std::exchange(next_, std::nullopt);
  events_.clear();
  sent_.clear();
  now_ = beginning + current->at;
  latest_ = std::max(latest_, now_);
  if (is_whole()) give(*current);
  return current;
}

void replay::give(wire::record const& input) {
  using kind = wire::record_kind;
  switch (input.kind) {
    case kind::event:
      if (is_compared_ && difference_.empty()) difference_ = compare_event(input);
      return;
    case kind::sent:
      if (is_compared_ && difference_.empty()) difference_ = compare_output(input);
      return;
    case kind::message:
      if (!has_values_) {
        give_message(input);
        break;
      }
      [[fallthrough]];
    default: put_in(core_, now_, input); break;
  }
  take_outputs();
}

void replay::give_message(wire::record const& input) {
  auto message = wire::decode_client(input.content);
  if (!message) throw error{message.error()};
  values_.restore(*message, core_);
  auto const* const counted = std::get_if<core::increment_args>(&message->what);
  if (!input.held || !counted) return core_.received(now_, input.connection, *std::move(message));

  // The core computes with the number, which only the record has.
  auto const key = counted->key;
  auto const version = version_of(core_, key);
  auto const placeholder = core_.exchange_value(key, bytes{std::to_string(*input.held)});
  core_.received(now_, input.connection, *std::move(message));
  bool const was_refused = version_of(core_, key) == version;
  if (was_refused) core_.exchange_value(key, placeholder);
}

void replay::take_outputs() {
  core_.take_events(events_);
  core_.take_outgoing(sent_);
  if (!is_compared_ || !difference_.empty()) return;
  events_left_.insert(events_left_.end(), events_.begin(), events_.end());
  if (head().has_sent) {
    messages_left_.insert(messages_left_.end(), sent_.begin(), sent_.end());
  }
  if (messages_left_.size() + events_left_.size() <= left_max) return;
  difference_ = "more than " + std::to_string(left_max) + " messages and events have no digest";
}

void replay::reload() {
  std::string snapshot;
  core_.save([&snapshot](std::string_view bytes) { snapshot += bytes; });
  auto loaded = core::coordinator::load(core_.options(), snapshot, beginning);
  if (!loaded) throw error{loaded.error()};
  core_ = *std::move(loaded);
}

replay::bookmark::bookmark(replay const& of)
    : options{of.core_.options()},
      reader{of.reader_},
      next{of.next_},
      now{of.now_},
      latest{of.latest_},
      values{of.values_} {
  of.core_.save([this](std::string_view bytes) { snapshot += bytes; });
}

void replay::go_to(bookmark const& to) {
  auto loaded = core::coordinator::load(to.options, to.snapshot, beginning);
  if (!loaded) throw error{loaded.error()};
  core_ = *std::move(loaded);
  reader_ = to.reader;
  next_ = to.next;
  now_ = to.now;
  latest_ = to.latest;
  values_ = to.values;
  is_compared_ = false;
  events_.clear();
  sent_.clear();
  messages_left_.clear();
  events_left_.clear();
}

std::string replay::compare_output(wire::record const& then) {
  auto const found = messages_left_.size();
  if (found < then.number) {
    return std::to_string(then.number - found) + " recorded messages are not sent";
  }
  if (found > then.number) return text_of(messages_left_[then.number]) + " is not in the recording";
  bool const is_alone = found == 1 && output_.empty();
  auto const first = found > 0 ? text_of(messages_left_.front()) : "no message";
  for (auto const& message : messages_left_) output_.add(message);
  messages_left_.clear();
  compared_.messages += found;
  auto const digest = output_.take();
  auto const* const begin = reinterpret_cast<char const*>(digest.data());
  if (then.content == std::string_view{begin, digest.size()}) return {};
  if (is_alone) return first + " is not the recorded message";
  if (found <= 1) return first + ", or an event before it, is not the recorded one";
  return "one of " + std::to_string(found) + " messages, from " + first +
         " on, or an event before them is not the recorded one";
}

std::string replay::compare_event(wire::record const& then) {
  auto const recorded = "the recorded event '" + std::string{then.content} + "'";
  if (events_left_.empty()) return recorded + " is not reported";
  auto const now = std::move(events_left_.front());
  events_left_.pop_front();
  if (static_cast<std::uint64_t>(now.level) != then.number) {
    return "the event '" + now.text + "' has another severity than " + recorded;
  }
  output_.add(now);
  ++compared_.events;
  return {};
}

replay::counts replay::compared() const noexcept {
  auto made = compared_;
  made.not_compared = messages_left_.size() + events_left_.size();
  return made;
}

}  // namespace coxswain::server
