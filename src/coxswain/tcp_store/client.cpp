#include "coxswain/tcp_store/client.hpp"

#include "coxswain/tcp_store/keys.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace coxswain::tcp_store {
namespace {

// Values of this size are not copied.
constexpr std::size_t shared_bytes_min = 4 * 1024;

constexpr char is_ready = 0;
constexpr char is_not_ready = 1;
constexpr char stop_waiting = 0;
constexpr char wait_cancelled = 1;

void append_number(std::string& to, std::uint64_t number, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) to += static_cast<char>(number >> 8 * i & 0xff);
}

std::string& text_of(output& to) {
  auto& all = to.to_client;
  if (all.empty() || all.back().shared.size() != 0) all.emplace_back();
  return all.back().copied;
}

void say(output& to, char byte) { text_of(to) += byte; }

void say_number(output& to, std::int64_t number) {
  append_number(text_of(to), static_cast<std::uint64_t>(number), 8);
}

void append_text(std::string& to, std::string_view text) {
  append_number(to, text.size(), 8);
  to += text;
}

void say_value(output& to, bytes const& value) {
  auto& text = text_of(to);
  if (value.size() < shared_bytes_min) return append_text(text, value.view());
  append_number(text, value.size(), 8);
  to.to_client.back().shared = value;
}

std::vector<std::string> paths_of(std::vector<std::string> const& keys) {
  std::vector<std::string> paths;
  paths.reserve(keys.size());
  for (auto const& key : keys) paths.push_back(path_of(key));
  return paths;
}

// A key that is there twice gets its last value.
core::put_all_args puts_of(std::vector<std::string>&& texts) {
  core::put_all_args all;
  all.overwrite = true;
  std::set<std::string> seen;
  for (std::size_t i = texts.size(); i > 1; i -= 2) {
    auto path = path_of(texts[i - 2]);
    if (!seen.insert(path).second) continue;
    all.entries.push_back({std::move(path), std::move(texts[i - 1])});
  }
  return all;
}

}  // namespace

core::client_message client::hello(std::string job, std::string token) {
  core::hello_args hello;
  hello.job = std::move(job);
  hello.token = std::move(token);
  hello.label = "torch's TCPStore client";
  core::client_message message;
  message.what = std::move(hello);
  return message;
}

status client::received(request&& what, output& to) {
  auto& texts = what.texts;
  open_request why;
  why.what = what.what;
  if (!texts.empty()) why.key = texts.front();
  switch (what.what) {
    case query::validate:
      if (what.number == magic) break;
      return {errc::invalid_argument, "the number that begins a TCPStore connection is wrong"};
    case query::ping: append_number(text_of(to), static_cast<std::uint64_t>(what.number), 4); break;
    case query::set:
      send(core::put_args{path_of(texts[0]), std::move(texts[1]), true, false}, std::move(why), to);
      break;
    case query::compare_set:
      why.expected = std::move(texts[1]);
      why.desired = std::move(texts[2]);
      compare_set(std::move(why), to);
      break;
    case query::get: send(core::try_get_args{path_of(texts[0])}, std::move(why), to); break;
    case query::add:
      send(core::increment_args{path_of(texts[0]), what.number}, std::move(why), to);
      break;
    case query::check:
      // This is answered at once, the other when its time limit has expired.
      if (texts.size() == 1) {
        send(core::try_get_args{path_of(texts[0])}, std::move(why), to);
      } else {
        send(core::get_all_args{paths_of(texts), duration{}}, std::move(why), to);
      }
      break;
    case query::wait:
      if (texts.size() == 1) {
        send(core::get_args{path_of(texts[0]), without_limit}, std::move(why), to);
      } else {
        send(core::get_all_args{paths_of(texts), without_limit}, std::move(why), to);
      }
      break;
    case query::count_keys:
      send(core::count_keys_args{std::string{directory}}, std::move(why), to);
      break;
    case query::delete_key: send(core::remove_args{path_of(texts[0])}, std::move(why), to); break;
    case query::append:
      send(core::append_args{path_of(texts[0]), std::move(texts[1])}, std::move(why), to);
      break;
    case query::multi_get:
      if (texts.empty()) break;
      send(core::get_all_args{paths_of(texts), duration{}}, std::move(why), to);
      break;
    case query::multi_set:
      if (texts.empty()) break;
      send(puts_of(std::move(texts)), std::move(why), to);
      break;
    case query::cancel_wait: cancel_wait(to); break;
    case query::list_keys:
      names_.clear();
      names_count_ = 0;
      send(core::list_args{std::string{directory}}, std::move(why), to);
      break;
    case query::queue_push:
    case query::queue_pop:
    case query::queue_length:
    case query::barrier:
      return {errc::unimplemented, std::string{name(what.what)} +
                                       " of a TCPStore is not supported by the coordinator; use "
                                       "coxswain.Store"};
  }
  return {};
}

void client::send(core::request what, open_request why, output& to) {
  core::client_message message;
  message.id = request_id{++sent_};
  message.answered_through = answered_;
  message.what = std::move(what);
  open_.emplace(message.id, std::move(why));
  to.to_core.push_back(std::move(message));
}

// An empty text is expected of a key that is missing or has an empty value. If both are possible,
// the first is tried first.
void client::compare_set(open_request why, output& to) {
  core::compare_and_set_args args;
  args.key = path_of(why.key);
  args.value = why.desired;
  if (why.expected.empty()) {
    args.expected = core::absent_value{};
  } else {
    args.expected = why.expected;
  }
  send(std::move(args), std::move(why), to);
}

// The client reads one reply to its wait, or to this, whichever comes first.
void client::cancel_wait(output& to) {
  std::erase_if(open_, [&](auto const& one) {
    if (one.second.what != query::wait) return false;
    core::client_message message;
    message.answered_through = answered_;
    message.what = core::cancel_args{one.first};
    to.to_core.push_back(std::move(message));
    return true;
  });
  say(to, wait_cancelled);
}

client::verdict client::answered(core::outgoing const& what, output& to) {
  if (std::holds_alternative<core::goodbye>(what.what->value)) return {fate::ends, {}};
  if (what.in_reply_to == request_id{}) return {};
  ++answered_;
  auto const found = open_.extract(what.in_reply_to);
  if (found.empty()) return {};  // a wait that was cancelled
  return reply(std::move(found.mapped()), *what.what, to);
}

client::verdict client::reply(open_request&& to, core::answer const& what, output& into) {
  bool const is_missing =
      what.outcome.code() == errc::not_found || what.outcome.code() == errc::deadline_exceeded;
  if (to.what == query::check && (what.outcome.ok() || is_missing)) {
    say(into, is_missing ? is_not_ready : is_ready);
    return {};
  }
  if (to.what == query::compare_set) return compared(std::move(to), what, into);
  if (!what.outcome.ok()) return failed(to, what.outcome);
  switch (to.what) {
    case query::get: say_value(into, std::get<core::value_answer>(what.value).value); break;
    case query::add: say_number(into, std::get<core::counter_answer>(what.value).value); break;
    case query::wait: say(into, stop_waiting); break;
    case query::count_keys:
      say_number(into, static_cast<std::int64_t>(std::get<core::count_answer>(what.value).count));
      break;
    case query::delete_key:
      say_number(into, static_cast<std::int64_t>(std::get<core::removed_answer>(what.value).count));
      break;
    case query::multi_get:
      for (auto const& one : std::get<core::listing_answer>(what.value).entries) {
        say_value(into, one.value);
      }
      break;
    case query::list_keys:
      return listed(std::move(to), std::get<core::listing_answer>(what.value), into);
    default: break;  // they have no reply
  }
  return {};
}

client::verdict client::failed(open_request const& what, status const& why) const {
  if (why.code() == errc::cancelled) return {fate::ends, {}};  // the job has failed or ends
  std::string text = std::string{name(what.what)} + " of a TCPStore client failed: ";
  return {fate::ends, {why.code(), text + why.message()}};
}

client::verdict client::compared(open_request&& to, core::answer const& what, output& into) {
  auto const* const held = std::get_if<core::value_answer>(&what.value);
  if (what.outcome.ok()) {
    say_value(into, bytes{std::move(to.desired)});
  } else if (held != nullptr && held->value.size() == 0 && to.expected.empty() &&
             what.outcome.code() == errc::already_exists) {
    core::compare_and_set_args again{path_of(to.key), to.desired, std::string{}, false};
    send(std::move(again), std::move(to), into);
  } else if (held != nullptr) {
    say_value(into, held->value);
  } else if (what.outcome.code() == errc::not_found && to.expected.empty()) {
    compare_set(std::move(to), into);  // it was removed meanwhile
  } else if (what.outcome.code() == errc::not_found) {
    say_value(into, bytes{std::move(to.expected)});
  } else {
    return failed(to, what.outcome);
  }
  return {};
}

client::verdict client::listed(open_request&& to, core::listing_answer const& page, output& into) {
  for (auto const& one : page.entries) append_text(names_, key_of(one.key));
  names_count_ += static_cast<std::int64_t>(page.entries.size());
  counted_.count(names_.capacity());
  if (names_.size() > reply_bytes_max_) {
    return failed(to, {errc::resource_exhausted, "the names of all keys have more than " +
                                                     std::to_string(reply_bytes_max_) + " bytes"});
  }
  if (page.more) {
    core::list_args next{std::string{directory}, page.entries.back().key};
    send(std::move(next), std::move(to), into);
    return {};
  }
  say_number(into, names_count_);
  text_of(into) += std::exchange(names_, {});
  counted_.count(0);
  return {};
}

}  // namespace coxswain::tcp_store
