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

// How long an item that ended a wait is kept for the pop that may follow.
constexpr duration reservation = 5s;

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
  bool const claims = taken_ && taken_->now == taken_item::state::reserved &&
                      what.what == query::queue_pop && taken_->key == why.key;
  if (!claims) end_lease(to);
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
    case query::check: check(texts, std::move(why), to); break;
    case query::wait:
      if (texts.size() == 1) {
        check(texts, std::move(why), to);
      } else {
        send(core::get_all_args{paths_of(texts), without_limit, true}, std::move(why), to);
      }
      break;
    case query::count_keys:
      send(core::count_keys_args{std::string{directory}}, std::move(why), to);
      break;
    case query::delete_key: {
      open_request mark;
      mark.what = query::barrier;
      mark.now = step::mark;
      send(core::remove_args{path_of(texts[0])}, std::move(why), to);
      send(core::remove_args{barrier_path_of(texts[0])}, std::move(mark), to);
      break;
    }
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
      send(core::push_args{path_of(texts[0]), std::move(texts[1])}, std::move(why), to);
      break;
    case query::queue_pop: pop(std::move(why), to); break;
    case query::queue_length:
      send(core::count_keys_args{path_of(texts[0]), true}, std::move(why), to);
      break;
    case query::barrier:
      why.count = what.number;
      send(core::increment_args{path_of(texts[0]), 1}, std::move(why), to);
      break;
  }
  return {};
}

request_id client::send(core::request what, open_request why, output& to) {
  core::client_message message;
  message.id = request_id{++sent_};
  message.answered_through = answered_;
  message.what = std::move(what);
  open_.emplace(message.id, std::move(why));
  to.to_core.push_back(std::move(message));
  return request_id{sent_};
}

void client::cancel(request_id which, output& to) {
  if (open_.erase(which) == 0) return;
  core::client_message message;
  message.answered_through = answered_;
  message.what = core::cancel_args{which};
  to.to_core.push_back(std::move(message));
}

// Most keys have values by the time of a wait: only others make two requests wait.
void client::check(std::vector<std::string> const& keys, open_request why, output& to) {
  if (keys.size() == 1) why.now = step::look;
  send(core::get_all_args{paths_of(keys), duration{}, true}, std::move(why), to);
}

// For a value, and for an item of the queue of this name.
void client::wait(open_request why, output& to) {
  auto const path = path_of(why.key);
  why.now = step::wait;
  auto const value = send(core::get_all_args{{path}, without_limit, true}, why, to);
  why.now = step::take;
  why.other = value;
  core::take_args take{path, without_limit, reservation};
  open_.at(value).other = send(std::move(take), std::move(why), to);
}

void client::pop(open_request why, output& to) {
  if (taken_) {
    core::update_lease_args const claim{taken_->number, taken_->redeliveries,
                                        core::lease_change::extend, without_limit};
    why.now = step::claim_taken;
    why.item = std::exchange(taken_->value, {});
    taken_->now = taken_item::state::claimed;
    send(claim, std::move(why), to);
  } else {
    why.now = step::take;
    core::take_args take{path_of(why.key), duration{}, without_limit};
    send(std::move(take), std::move(why), to);
  }
}

// The client goes on: it has received the item, or does not want it.
void client::end_lease(output& to) {
  if (!taken_) return;
  bool const is_wanted = taken_->now != taken_item::state::reserved;
  core::update_lease_args const end{
      taken_->number, taken_->redeliveries,
      is_wanted ? core::lease_change::finish : core::lease_change::release};
  taken_.reset();
  open_request why;
  why.what = query::queue_pop;
  why.now = step::end_lease;
  send(end, std::move(why), to);
}

void client::closed_in_order(output& to) {
  if (taken_ && taken_->now == taken_item::state::given) end_lease(to);
}

// The arrivals are counted in the key of this name, as upstream's are. Who makes them complete sets
// another key, at which the others wait.
void client::arrived(open_request&& to, core::answer const& what, output& into) {
  auto const* const counted = std::get_if<core::counter_answer>(&what.value);
  if (to.now == step::mark) return;
  if (counted == nullptr) return say(into, stop_waiting);  // the others have arrived
  auto path = barrier_path_of(to.key);
  if (counted->value < to.count) {
    core::get_all_args const wait{{std::move(path)}, without_limit, true};
    send(wait, std::move(to), into);
    return;
  }
  to.now = step::mark;
  core::put_args mark{std::move(path), {}, true};
  send(std::move(mark), std::move(to), into);
  say(into, stop_waiting);
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
  for (auto at = open_.begin(); at != open_.end();) {
    auto const& [id, why] = *at++;
    if (why.what == query::wait || why.what == query::barrier) cancel(id, to);
  }
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
  switch (to.what) {
    case query::check: return checked(std::move(to), what, into);
    case query::wait: return waited(std::move(to), what, into);
    case query::queue_pop: return popped(std::move(to), what, into);
    case query::compare_set: return compared(std::move(to), what, into);
    default: break;
  }
  if (!what.outcome.ok()) return failed(to, what.outcome);
  switch (to.what) {
    case query::get: say_value(into, std::get<core::value_answer>(what.value).value); break;
    case query::add: say_number(into, std::get<core::counter_answer>(what.value).value); break;
    case query::barrier: arrived(std::move(to), what, into); break;
    case query::count_keys:
    case query::queue_length:
      say_number(into, static_cast<std::int64_t>(std::get<core::count_answer>(what.value).count));
      break;
    case query::delete_key:
      say_number(into, static_cast<std::int64_t>(std::get<core::removed_answer>(what.value).count));
      break;
    case query::multi_get:
      for (auto const& entry : std::get<core::listing_answer>(what.value).entries) {
        say_value(into, entry.value);
      }
      break;
    case query::list_keys:
      return listed(std::move(to), std::get<core::listing_answer>(what.value), into);
    default: break;  // they have no reply
  }
  return {};
}

client::verdict client::checked(open_request&& to, core::answer const& what, output& into) {
  if (what.outcome.ok() && to.now == step::take) {
    say(into, std::get<core::count_answer>(what.value).count == 0 ? is_not_ready : is_ready);
  } else if (what.outcome.ok()) {
    say(into, is_ready);
  } else if (what.outcome.code() != errc::deadline_exceeded) {
    return failed(to, what.outcome);
  } else if (to.now == step::look) {
    core::count_keys_args items{path_of(to.key), true};
    to.now = step::take;
    send(std::move(items), std::move(to), into);
  } else {
    say(into, is_not_ready);
  }
  return {};
}

client::verdict client::waited(open_request&& to, core::answer const& what, output& into) {
  if (to.now == step::look && what.outcome.code() == errc::deadline_exceeded) {
    wait(std::move(to), into);
    return {};
  }
  if (!what.outcome.ok()) return failed(to, what.outcome);
  cancel(to.other, into);
  if (to.now == step::take) {
    auto const& item = std::get<core::value_answer>(what.value);
    end_lease(into);  // of another wait
    taken_ = taken_item{std::move(to.key), item.version, item.redeliveries.value_or(0), item.value,
                        taken_item::state::reserved};
  }
  say(into, stop_waiting);
  return {};
}

client::verdict client::popped(open_request&& to, core::answer const& what, output& into) {
  bool const is_claim = to.now == step::claim_taken;
  if (to.now == step::end_lease) return {};
  if (is_claim && what.outcome.code() == errc::failed_precondition) {  // the reservation is over
    taken_.reset();
    pop(std::move(to), into);
    return {};
  }
  if (to.now == step::take && what.outcome.code() == errc::deadline_exceeded) {
    say_number(into, 0);
    return {};
  }
  if (!what.outcome.ok()) return failed(to, what.outcome);
  say_number(into, 1);
  if (is_claim) {
    say_value(into, to.item);
    if (taken_) taken_->now = taken_item::state::given;
    return {};
  }
  auto const& item = std::get<core::value_answer>(what.value);
  say_value(into, item.value);
  taken_ = taken_item{
      std::move(to.key), item.version, item.redeliveries.value_or(0), {}, taken_item::state::given};
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
  for (auto const& entry : page.entries) append_text(names_, key_of(entry.key));
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
