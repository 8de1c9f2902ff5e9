// The core's output as replies to waiting calls.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/xla/codec.hpp"
#include "coxswain/xla/door.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::xla {
namespace {

// How often a large listing starts again because its keys changed; after that its pages show
// different moments.
constexpr int restarts_max = 8;

// How many outcomes of barriers are kept for repeated calls of a task.
constexpr std::size_t done_max = 8;

template <class T>
T const* as(core::answer const& what) {
  return std::get_if<T>(&what.value);
}

std::string key_text(std::string const& key) { return core::shortened(key, 900); }

state state_of(core::snapshot::task const& one) {
  if (one.state == task_state::connected) return state::connected;
  return one.state == task_state::failed ? state::error : state::disconnected;
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
        made.begin(), made.end(), [](char c) { return c < 0; }, '?');
  return made;
}

}  // namespace

void door::sent(time_point now, core::outgoing const& what) {
  auto const at = carriers_.find(what.to.value);
  if (at == carriers_.end()) return;
  carrier& to = *at->second;
  if (what.in_reply_to == request_id{}) return took_push(now, to, what.what);
  ++to.received;
  took_reply(now, to, what.in_reply_to, what.what);
}

void door::took_push(time_point now, carrier& to, core::answer_ptr const& pushed) {
  core::answer const& what = *pushed;
  task_session* const s = to.of_task;
  if (auto const* const bye = as<core::goodbye>(what)) return said_goodbye(now, to, *bye);
  if (as<job_error>(what)) {
    failure_.took(pushed);
    if (s && s->poll != request_id{}) answer_poll(*s, failure_.as_outcome(s->of, s->task));
    return;
  }
  if (!s) return;
  if (auto const* const greeted = as<core::hello_answer>(what)) {
    s->id = greeted->session;
  } else if (auto const* const resumed = as<core::resume_answer>(what)) {
    s->resumes = false;
    for (request_id const id : resumed->unknown) {
      std::erase(s->open, id);
      if (calls_.contains(id)) {
        fail_call(id, {errc::unavailable, "its reply was lost together with a connection"});
      }
    }
    for (request_id const id : std::exchange(s->heartbeats, {})) {
      calls_.finish(id, {}, {encode_incarnation(self_)});
    }
  } else if (as<core::probe>(what)) {
    auto const on = clients_.find(s->bound);
    if (on == clients_.end()) return;
    effects_.push_back(ping{s->bound});
  } else if (auto const* const asked = as<core::freeze_request>(what)) {
    freeze(now, *s, asked->agreement);
  }
}

void door::said_goodbye(time_point now, carrier& to, core::goodbye const& what) {
  if (task_session* const s = to.of_task) {
    return end_session(now, *s, standing::ended, what.why);
  }
  auto& c = static_cast<client&>(to);
  if (std::exchange(c.is_over, true)) return;
  std::vector<request_id> open;
  for (auto const& [_, id] : c.calls) {
    if (!calls_.at(id).by->of_task) open.push_back(id);
  }
  for (request_id const id : open) {
    std::erase(c.open, id);
    fail_call(id, what.why);
  }
  effects_.push_back(farewell{c.core, what.why});
}

void door::fail_call(request_id id, status const& why) {
  answer_failed(calls_.at(id), why.ok() ? status{errc::unavailable, "the session has ended"} : why);
  calls_.forget(id);
}

void door::took_reply(time_point now, carrier& to, request_id id, core::answer_ptr const& what) {
  open_call* const found = calls_.find(id);
  if (!found) return;
  open_call& one = *found;
  std::erase(to.open, id);
  switch (one.of.what) {
    case method::register_task: {
      task_session& s = *to.of_task;
      if (what->outcome.ok()) {
        calls_.answer(one, {}, {encode_incarnation(self_)});
      } else {
        answer_failed(one, what->outcome);
      }
      calls_.forget(id);
      return joined(now, s, *what);
    }
    case method::shutdown_task: {
      open_call const whole{one.from, one.stream, one.of, one.by};
      calls_.forget(id);
      return left(now, *to.of_task, whole, *what);
    }
    case method::barrier: met(one, what); break;
    case method::watch_tasks:
      if (what->outcome.code() ==
          errc::invalid_argument) {  // it had a version of another coordinator
        open_call again{one.from, one.stream, one.of, one.by, one.name};
        calls_.forget(id);
        return submit(now, std::move(again), std::nullopt, core::watch_tasks_args{});
      }
      [[fallthrough]];
    default:
      if (one.pages && goes_on(now, id, *what)) return;
      if (what->outcome.ok()) {
        answer_made(one, *what);
      } else {
        answer_failed(one, what->outcome);
      }
  }
  calls_.forget(id);
}

void door::joined(time_point now, task_session& s, core::answer const& what) {
  s.join = {};
  if (!what.outcome.ok()) return drop(now, s);
  s.is = standing::joined;
  for (task_session* const other : std::vector{by_task_.at(s.task.value)}) {
    if (other == &s || other->is != standing::joined) continue;
    end_session(now, *other, standing::ended,
                {errc::aborted,
                 "task " + std::to_string(s.task.value) + " was replaced by a new incarnation"});
  }
}

// The poll ends before the call that ends it.
void door::left(time_point now, task_session& s, open_call const& one, core::answer const& what) {
  status const& outcome = what.outcome;
  bool const has_left = outcome.ok() || as<barrier_failure>(what) ||
                        outcome.code() == errc::internal || failure_.has_happened();
  if (outcome.ok()) answer_poll(s, by_service({errc::cancelled, "the task has left"}));
  if (outcome.ok()) {
    calls_.answer(one, {});
  } else {
    answer_failed(one, outcome);
  }
  if (!has_left) return;
  // Its session ends; that also acknowledges the reply.
  if (s.core != connection_id{}) send(now, s, {}, std::nullopt, core::bye_args{});
  end_session(now, s, standing::left, {errc::cancelled, "the task has left"});
}

void door::met(open_call& one, core::answer_ptr const& what) {
  status outcome = what->outcome;
  bool is_mismatch = false;
  if (strict_) {
    auto const* const r = strict_->find(one.name);
    bool const is_spoiled = r && !r->is_open && r->counter == one.counter &&
                            outcome.code() == errc::cancelled && !r->outcome.ok();
    if (is_spoiled) {
      outcome = r->outcome;
      is_mismatch = r->is_mismatch;
    }
    strict_->end(one.name, one.counter, outcome);
  }
  if (auto* const s = one.by->of_task) {
    if (s->done.size() >= done_max) s->done.pop_front();
    s->done.push_back({one.name, one.counter, what});
  }
  if (outcome.ok()) return calls_.answer(one, {}, {encode_counter(one.counter)});
  if (is_mismatch) return calls_.answer(one, by_service(outcome));
  answer_failed(one, outcome);
}

void door::answer_made(open_call const& one, core::answer const& what) {
  if (auto const* const value = as<core::value_answer>(what)) {
    return calls_.answer(one, {}, encode_key_value(one.name, value->value));
  }
  if (auto const* const counter = as<core::counter_answer>(what)) {
    return calls_.answer(one, {},
                         encode_key_value(one.name, bytes{std::to_string(counter->value)}));
  }
  if (as<core::tasks_answer>(what)) return calls_.answer(one, {}, listed_tasks(one, what));
  if (auto const* const alive = as<core::alive_answer>(what)) {
    std::vector<task_name> names;
    std::vector<incarnation> selves;
    for (auto const& there : alive->tasks) {
      auto const id = static_cast<std::int32_t>(there.id.value);
      auto const asked = std::find_if(one.asked.begin(), one.asked.end(),
                                      [&](task_name const& by) { return by.id == id; });
      task_name name{id};
      if (!one.asked.empty()) name.job = one.asked.front().job;
      names.push_back(asked == one.asked.end() ? std::move(name) : *asked);
      selves.push_back(there.self);
    }
    return calls_.answer(one, {}, {encode_alive(one.of.of, names, selves)});
  }
  if (one.pages && one.of.what == method::get_key_value_dir) {
    one.pages->counted.count(0);
    return calls_.answer(one, {}, {{}, bytes{std::move(one.pages->reply), memory_}});
  }
  calls_.answer(one, {});
}

encoded_reply door::listed_tasks(open_call const& for_call, core::answer const& what) {
  auto const& all = std::get<core::tasks_answer>(what.value);
  for (kept_listing const& kept : listings_) {
    bool const is_it =
        kept.version == all.version && kept.as == for_call.of.of && kept.job == for_call.name;
    if (is_it) return {{}, kept.what};
  }
  std::vector<task_info> tasks;
  tasks.reserve(all.tasks.size());
  for (auto const& one : all.tasks) {
    task_info info;
    info.task = {static_cast<std::int32_t>(one.id.value), for_call.name};
    info.is = state_of(one);
    info.error = {one.error.code(), proper(one.error.message())};
    info.self = one.self;
    tasks.push_back(std::move(info));
  }
  bytes made{encode_tasks(for_call.of.of, tasks, static_cast<std::int64_t>(all.version)), memory_};
  listings_.push_back({all.version, for_call.of.of, for_call.name, made});
  return {{}, made};
}

// With the texts and payloads that clients look for (semantics D38).
void door::answer_failed(open_call const& one, status const& why) {
  std::string const& text = why.message();
  switch (one.of.what) {
    case method::register_task:
      if (failure_.has_happened()) {
        outcome how = failure_.as_outcome(one.of.of, std::nullopt);
        how.code = strict_ ? errc::aborted : errc::failed_precondition;
        return calls_.answer(one, std::move(how));
      }
      break;
    case method::shutdown_task:
      if (why.code() != errc::internal) break;
      return calls_.answer(one, by_service({errc::internal, shutdown_text(why)}));
    case method::barrier: {
      bool const differs = why.code() == errc::invalid_argument &&
                           text.find(core::differs_from_waiting) != text.npos;
      constexpr auto conflict =
          "Conflicting tasks specified by different processes for the same barrier: ";
      status const said = differs ? status{why.code(), conflict + text} : why;
      return calls_.answer(one, of_barrier(said, one.name, one.counter));
    }
    case method::cancel_barrier: return calls_.answer(one, of_barrier(why, one.name, one.counter));
    case method::insert_key_value:
      if (why.code() != errc::already_exists) break;
      return calls_.answer(one,
                           plain({why.code(), "key " + key_text(one.name) + " already exists."}));
    case method::try_get_key_value:
      if (why.code() != errc::not_found) break;
      return calls_.answer(
          one, by_service({why.code(), "Config key " + key_text(one.name) + " not found."}));
    case method::get_key_value:
      if (why.code() != errc::cancelled) break;
      return calls_.answer(one, plain(why));
    case method::get_alive_tasks:
      if (why.code() != errc::invalid_argument) break;
      return calls_.answer(one, plain(why));
    default: break;
  }
  calls_.answer(one, by_service(why));
}

// True if another page was requested, or the listing starts again.
bool door::goes_on(time_point now, request_id id, core::answer const& what) {
  open_call& one = calls_.at(id);
  paged& pages = *one.pages;
  auto const restart = [&] {
    ++pages.restarts;
    pages.reply.clear();
    pages.after.clear();
    pages.version = 0;
    next_page(now, id);
    return true;
  };
  if (auto const* const removed = as<core::removed_answer>(what)) {
    pages.after = removed->last;
    if (pages.after.empty()) return false;
    next_page(now, id);
    return true;
  }
  auto const* const page = as<core::listing_answer>(what);
  if (!page) return what.outcome.code() == errc::out_of_range && restart();
  bool const is_first = pages.version == 0;
  bool const may_restart = pages.restarts < restarts_max;
  if (!is_first && page->version != pages.version && may_restart) return restart();
  pages.version = page->version;
  for (auto const& entry : page->entries) {
    append_listed(pages.reply, entry.key, entry.value.view());
  }
  pages.counted.count(pages.reply.size());
  if (pages.reply.size() > options_.reply_bytes_max) {
    answer_failed(
        one, {errc::resource_exhausted,
              "directory " + core::quoted(pages.directory) + " holds more than " +
                  std::to_string(options_.reply_bytes_max) + " bytes, the limit of one reply"});
    calls_.forget(id);
    return true;
  }
  if (!page->more) return false;
  pages.after = page->entries.back().key;
  next_page(now, id);
  return true;
}

void door::next_page(time_point now, request_id id) {
  if (pages_left_-- <= 0) {
    calls_.at(id).by->open.push_back(id);  // it ends with its session
    return waiting_pages_.push_back(id);
  }
  // Each request has an id of its own, and ids rise.
  request_id const next = calls_.renumber(id);
  open_call& one = calls_.at(next);
  one.by->open.push_back(next);
  paged const& pages = *one.pages;
  if (one.of.what == method::delete_key_value) {
    return send(now, *one.by, next, std::nullopt,
                core::remove_tree_args{pages.directory, false, pages.after});
  }
  core::list_args list{pages.directory, pages.after};
  bool const is_bound = pages.version != 0 && pages.restarts < restarts_max;
  if (is_bound) list.version = pages.version;
  send(now, *one.by, next, std::nullopt, std::move(list));
}

// JAX agrees on a step by itself when this key appears; its value is the time of the preemption.
// For the core's own agreement the task answers at once, with step 0.
void door::freeze(time_point now, task_session& s, std::uint64_t agreement) {
  auto const silent = [&] {
    open_call none;
    none.of = {method::insert_key_value, s.of};
    none.by = &s;
    return none;
  };
  auto const when = options_.started.plus(now - options_.start);
  submit(now, silent(), std::nullopt,
         core::put_args{std::string{preemption_key}, rfc3339(when), false, false});
  submit(now, silent(), s.task, core::frozen_args{agreement, 0});
}

}  // namespace coxswain::xla
