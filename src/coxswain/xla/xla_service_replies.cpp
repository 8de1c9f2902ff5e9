// The core's output as replies to waiting calls.

#include "coxswain/xla/codec.hpp"
#include "coxswain/xla/topology_key.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <utility>

namespace coxswain::xla {
namespace {

// How many outcomes of barriers are kept for repeated calls of a task.
constexpr std::size_t done_max = 8;

}  // namespace

void xla_service::sent(time_point now, core::outgoing const& what) {
  carrier* const to = sessions_.find_carrier(what.to);
  if (!to) return;
  if (what.in_reply_to == request_id{}) return took_push(now, *to, what.what);
  ++to->received;
  took_reply(now, *to, what.in_reply_to, what.what);
}

void xla_service::took_push(time_point now, carrier& to, core::answer_ptr const& pushed) {
  core::answer const& what = *pushed;
  task_session* const s = to.of_task;
  if (auto const* const bye = as<core::goodbye>(what)) return sent_goodbye(now, to, *bye);
  if (as<job_error>(what)) {
    failure_.took(pushed);
    if (!s || s->poll == request_id{}) return;
    // Upstream, the poll of the task at fault is like any other's; only a later one differs.
    auto const task = strict_ ? std::nullopt : std::optional{s->task};
    core_.answer_poll(*s, failure_.as_outcome(s->of, task));
    return;
  }
  if (!s) return;
  if (auto const* const greeted = as<boxed<core::hello_answer>>(what)) {
    s->id = (*greeted)->session;
  } else if (auto const* const resumed = as<core::resume_answer>(what)) {
    s->resumes = false;
    for (request_id const id : resumed->unknown) {
      std::erase(s->open, id);
      if (calls_.contains(id)) {
        core_.fail_call(id, {errc::unavailable, "its reply was lost together with a connection"});
      }
    }
    for (request_id const id : std::exchange(s->heartbeats, {})) {
      calls_.finish(id, {}, {encode_incarnation(self_)});
    }
  } else if (as<core::probe>(what)) {
    if (sessions_.find_client(s->bound)) effects_.emplace_back(ping{s->bound});
  } else if (auto const* const asked = as<core::freeze_request>(what)) {
    freeze(now, *s, *asked);
  }
}

void xla_service::sent_goodbye(time_point now, carrier& to, core::goodbye const& what) {
  if (task_session* const s = to.of_task) {
    return core_.end(now, *s, standing::ended, what.why);
  }
  auto& c = static_cast<client&>(to);
  if (std::exchange(c.is_over, true)) return;
  std::vector<request_id> open;
  for (auto const& [_, id] : c.calls) {
    if (!calls_.at(id).by->of_task) open.push_back(id);
  }
  for (request_id const id : open) {
    std::erase(c.open, id);
    core_.fail_call(id, what.why);
  }
  effects_.emplace_back(goodbye{c.core, what.why});
}

void xla_service::took_reply(time_point now, carrier& to, request_id id,
                             core::answer_ptr const& what) {
  open_call* const found = calls_.find(id);
  if (!found) return;
  open_call& call = *found;
  std::erase(to.open, id);
  switch (call.of.what) {
    case method::register_task: {
      task_session& s = *to.of_task;
      if (what->outcome.ok()) {
        calls_.answer(call, {}, {encode_incarnation(self_)});
      } else {
        calls_.answer(call, replies_.failed(call, what->outcome));
      }
      calls_.forget(id);
      return joined(now, s, *what);
    }
    case method::shutdown_task: {
      open_call const whole{call.from, call.stream, call.of, call.by};
      calls_.forget(id);
      return left(now, *to.of_task, whole, *what);
    }
    case method::barrier: met(call, what); break;
    case method::watch_tasks:
      if (what->outcome.code() ==
          errc::invalid_argument) {  // it had a version of another coordinator
        open_call again{call.from, call.stream, call.of, call.by, call.name};
        calls_.forget(id);
        return core_.submit(now, std::move(again), std::nullopt, core::watch_tasks_args{});
      }
      [[fallthrough]];
    default:
      if (call.pages) return took_page(now, id, *what);
      if (call.topology) return insert_topology(now, id, *what);
      finish(id, *what);
      return;
  }
  calls_.forget(id);
}

// The core has answered the request of a call.
void xla_service::finish(request_id id, core::answer const& what) {
  open_call const& call = calls_.at(id);
  if (!what.outcome.ok()) {
    calls_.answer(call, replies_.failed(call, what.outcome));
  } else if (auto reply = replies_.succeeded(call, what)) {
    bool const is_listing = call.pages && call.pages->why() == directory_pages::purpose::list;
    if (is_listing && reply->tail.size() != 0) {
      shared_ = {call.pages->directory(), call.pages->version(), reply->tail};
    }
    calls_.answer(call, {}, std::move(*reply));
  } else {
    calls_.answer(call, by_service(reply.error()));
  }
  calls_.forget(id);
}

// The key has been read. What an earlier process of the task has put there stays, so that all that
// ever join number the devices alike; the core decides whether there was such a process.
void xla_service::insert_topology(time_point now, request_id id, core::answer const& there) {
  open_call const& call = calls_.at(id);
  core::put_args put{call.name, *call.topology};
  if (auto const* const held = as<core::value_answer>(there)) {
    std::string_view const before = held->value.view();
    if (!have_same_devices(put.key, before, put.value)) {
      return calls_.finish(
          id, plain({errc::already_exists, other_devices(put.key, before, put.value)}));
    }
    put.value = before;
    put.replaces_predecessor = true;
  }
  open_call again{call.from, call.stream, call.of, call.by, call.name};
  calls_.forget(id);
  core_.submit(now, std::move(again), std::nullopt, std::move(put));
}

void xla_service::took_page(time_point now, request_id id, core::answer const& what) {
  open_call& call = calls_.at(id);
  directory_pages& pages = *call.pages;
  auto const* const listed = as<core::listing_answer>(what);
  bool const is_first = pages.version() == 0;
  if (listed && is_first && shared_ && shared_->version == listed->version &&
      shared_->directory == pages.directory()) {
    calls_.answer(call, {}, {{}, shared_->what});
    calls_.forget(id);
  } else {
    auto const more = pages.take(what, options_.reply_bytes_max);
    if (more && *more) return next_page(now, id);
    if (more) {
      finish(id, what);
    } else {
      core_.fail_call(id, more.error());
    }
  }
  if (listing_ == id) listing_ = {};
  begin_listings(now);
}

bool xla_service::has_room_for_page() const {
  constexpr std::size_t page_bytes = 1024 * 1024;
  return !memory_ || memory_->fits_in_transit(std::min(page_bytes, memory_->limit() / 32));
}

// Makes the next listing that may be made, if none is.
void xla_service::begin_listings(time_point now) {
  constexpr std::size_t looked_at_max = 64;
  constexpr duration again = 10ms;
  for (auto left = std::min(waiting_listings_.size(), looked_at_max); left > 0; --left) {
    if (calls_.contains(listing_) || !has_room_for_page()) break;
    request_id const id = waiting_listings_.front();
    waiting_listings_.pop_front();
    open_call const* const call = calls_.find(id);
    if (!call) continue;
    if (call->from && options_.is_full && options_.is_full(call->from->core)) {
      waiting_listings_.push_back(id);
      continue;
    }
    std::erase(call->by->open, id);
    listing_ = id;
    next_page(now, id);
  }
  listings_due_ = now + again;
}

void xla_service::joined(time_point now, task_session& s, core::answer const& what) {
  s.join = {};
  if (!what.outcome.ok()) return core_.drop(now, s);
  s.is = standing::joined;
}

// The poll ends before the call that ends it.
void xla_service::left(time_point now, task_session& s, open_call const& call,
                       core::answer const& what) {
  status const& outcome = what.outcome;
  bool const has_left = outcome.ok() || as<barrier_failure>(what) ||
                        outcome.code() == errc::internal || failure_.has_happened();
  if (outcome.ok()) core_.answer_poll(s, by_service({errc::cancelled, "the task has left"}));
  if (outcome.ok()) {
    calls_.answer(call, {});
  } else {
    calls_.answer(call, replies_.failed(call, outcome));
  }
  if (!has_left) return;
  // Its session ends; that also acknowledges the reply.
  if (s.core != connection_id{}) core_.send(now, s, {}, std::nullopt, core::bye_args{});
  core_.end(now, s, standing::left, {errc::cancelled, "the task has left"});
}

void xla_service::met(open_call& call, core::answer_ptr const& what) {
  if (strict_) return met_strictly(call, what->outcome);
  status const& outcome = what->outcome;
  if (auto* const s = call.by->of_task) {
    if (s->done.size() >= done_max) s->done.pop_front();
    s->done.push_back({call.name, call.counter, what});
  }
  if (outcome.ok()) return calls_.answer(call, {}, {encode_counter(call.counter)});
  calls_.answer(call, replies_.failed(call, outcome));
}

void xla_service::met_strictly(open_call const& call, status outcome) {
  bool const has_failed = failure_.has_happened();
  if (has_failed && outcome.code() == errc::failed_precondition) {
    outcome = {errc::internal, outcome.message()};
  }
  bool const is_replaced = outcome.code() == errc::aborted;  // its task; the others wait on
  if (!is_replaced) strict_->end(call.name, call.counter, outcome);
  auto const* const r = strict_->find(call.name);
  bool const is_refused = r && r->counter == call.counter && outcome.code() == errc::cancelled;
  if (is_refused) outcome = r->outcome;  // by whom the core does not know
  if (outcome.ok()) return calls_.answer(call, {}, {encode_counter(call.counter)});
  calls_.answer(call, is_refused ? of_barrier(outcome, call.name, call.counter)
                                 : replies_.failed(call, outcome));
}

void xla_service::next_page(time_point now, request_id id) {
  bool const is_listing = listing_ == id;
  if (is_listing && !has_room_for_page()) {
    listing_ = {};
    calls_.at(id).by->open.push_back(id);
    return waiting_listings_.push_front(id);
  }
  if (pages_left_-- <= 0) {
    calls_.at(id).by->open.push_back(id);  // it ends with its session
    return waiting_pages_.push_back(id);
  }
  // Each request has an id of its own, and ids rise.
  request_id const next = calls_.renumber(id);
  if (is_listing) listing_ = next;
  open_call const& call = calls_.at(next);
  call.by->open.push_back(next);
  core_.send(now, *call.by, next, std::nullopt, call.pages->next());
}

}  // namespace coxswain::xla
