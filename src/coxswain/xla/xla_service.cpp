// Connections of clients, and the calls that come on them.

#include "coxswain/xla/xla_service.hpp"

#include "coxswain/xla/codec.hpp"

#include <algorithm>

namespace coxswain::xla {

xla_service::xla_service(xla_service_options o, incarnation self, core_port& core, meter_ptr memory)
    : options_{std::move(o)},
      self_{self},
      memory_{memory},
      calls_{memory, effects_},
      replies_{failure_, options_.strict, options_.reply_bytes_max, std::move(memory)},
      core_{options_, self_, core, sessions_, calls_, replies_},
      life_{options_.heartbeat_timeout, core, sessions_, effects_} {
  if (options_.strict) strict_.emplace(options_.num_tasks);
}

void xla_service::opened(time_point now, connection_id on, std::string peer,
                         core::session_secret const& secret) {
  client& c = sessions_.add_client(now, on, std::move(peer), secret);
  core_.open(now, c);
  life_.watch(now, on);
}

void xla_service::called(time_point now, received_call const& what) {
  client* const from = sessions_.find_client(what.id.on);
  if (!from) return;
  client& by = *from;
  auto const path = find_method(what.path);
  if (!path) {
    effects_.push_back(
        reply{what.id, plain({errc::unimplemented, "The coordinator has no method " +
                                                       std::string{what.path.substr(0, 256)}})});
    return;
  }
  request none;
  arrived_call const a{now, what, *path, by, none, calls_};
  if (by.is_over) {
    return a.refuse(by_service({errc::unavailable, "the coordinator closes this connection"}));
  }
  auto asked = decode(*path, what.message);
  if (!asked) return a.refuse(by_service(asked.error()));
  arrived_call const whole{now, what, *path, by, *asked, calls_};
  bool const is_large = path->what == method::watch_tasks || is_about_keys(path->what);
  if (what.is_full && is_large) {
    return whole.refuse(by_service({errc::resource_exhausted,
                                    "this client does not read its replies: the limit "
                                    "queued_bytes_max is reached; wait for replies first"}));
  }
  if (asked->service && *asked->service != self_) {
    return whole.refuse(wrong_service(*asked->service, self_));
  }
  route(whole);
}

void xla_service::route(arrived_call const& a) {
  if (strict_ && failure_.has_happened() && refuses_after_failure(a)) return;
  switch (a.of.what) {
    case method::register_task: return register_task(a);
    case method::heartbeat: return heartbeat(a);
    case method::shutdown_task: return shutdown_task(a);
    case method::watch_tasks: return watch_tasks(a);
    case method::insert_key_value:
    case method::get_key_value:
    case method::try_get_key_value:
    case method::increment_key_value: return keys(a);
    case method::get_key_value_dir:
    case method::delete_key_value: return directory(a);
    case method::barrier: return barrier(a);
    case method::cancel_barrier: return cancel_barrier(a);
    case method::get_alive_tasks: return get_alive_tasks(a);
    case method::poll_for_error: return poll_for_error(a);
    case method::report_error: return report_error(a);
  }
}

void xla_service::cancelled(time_point now, call_id which, bool disowned) {
  client const* const from = sessions_.find_client(which.on);
  if (!from) return;
  auto const of_stream = from->calls.find(which.stream);
  if (of_stream == from->calls.end()) return;
  request_id const id = of_stream->second;
  open_call const& call = calls_.at(id);
  task_session* const s = call.by->of_task;
  if (call.of.what == method::poll_for_error) {
    s->poll = {};
    calls_.forget(id);
    // Clients cancel a poll only when they are torn down.
    if (!disowned && s->is == standing::joined) core_.detach(now, *s, core::loss::closed);
    return;
  }
  if (call.of.what == method::heartbeat) {
    std::erase(s->heartbeats, id);
    return calls_.forget(id);
  }
  bool const joins = call.of.what == method::register_task;
  carrier& by = *call.by;
  std::erase(by.open, id);
  calls_.forget(id);
  if (joins) return core_.drop(now, *s);
  if (by.core != connection_id{}) core_.send(now, by, {}, std::nullopt, core::cancel_args{id});
}

void xla_service::heard(time_point now, connection_id from) {
  client* const c = sessions_.find_client(from);
  if (!c) return;
  life_.heard(now, *c);
}

void xla_service::pong(time_point now, connection_id from) {
  client* const c = sessions_.find_client(from);
  if (!c) return;
  life_.answered_ping(now, *c);
}

void xla_service::lost(time_point now, connection_id on, core::loss how) {
  client* const gone = sessions_.find_client(on);
  if (!gone) return;
  client& c = *gone;
  for (task_session* const s : std::vector{c.tasks}) {
    sessions_.unbind(*s);
    if (s->is == standing::left || s->is == standing::ended) {
      core_.drop(now, *s);
      continue;
    }
    client* const polled_on = s->poll == request_id{} ? nullptr : calls_.at(s->poll).from;
    if (polled_on && polled_on != &c) {
      session_table::bind(*s, *polled_on);
      continue;
    }
    // A client without a poll reconnects only for its next heartbeat.
    bool const polls = polled_on == &c;
    bool const is_certain = polls || s->is == standing::joining || how == core::loss::exited;
    core_.detach(now, *s, is_certain ? how : core::loss::unreachable);
  }
  std::vector<request_id> open;
  for (auto const& [_, id] : c.calls) open.push_back(id);
  for (request_id const id : open) {
    open_call const& call = calls_.at(id);
    task_session* const s = call.by->of_task;
    if (call.of.what == method::register_task) {  // it comes again and goes on
      calls_.abandon(id);
      continue;
    }
    if (s && s->poll == id) {
      s->poll = {};
      // jaxlib never polls again, whatever other connections it has.
      if (s->is == standing::joined) core_.detach(now, *s, how);
    }
    if (s) std::erase(s->heartbeats, id);
    bool const is_known = std::erase(call.by->open, id) != 0;
    if (is_known && s && s->core != connection_id{}) {
      core_.send(now, *call.by, {}, std::nullopt, core::cancel_args{id});
    }
    calls_.forget(id);
  }
  for (request_id const id : c.open) {
    if (calls_.contains(id)) calls_.forget(id);
  }
  if (!c.is_over) core_.send(now, c, {}, std::nullopt, core::bye_args{});
  sessions_.remove_client(c);
}

connection_id xla_service::client_of(connection_id session) const {
  carrier const* const by = sessions_.find_carrier(session);
  if (!by) return {};
  return by->of_task ? by->of_task->bound : by->core;
}

bool xla_service::acts_for_tasks(connection_id of) const {
  client const* const client = sessions_.find_client(of);
  return client != nullptr && !client->tasks.empty();
}

std::optional<time_point> xla_service::next_deadline() const {
  if (!waiting_pages_.empty()) return time_point{};
  std::optional<time_point> next = life_.next_deadline();
  if (!waiting_listings_.empty()) next = std::min(next.value_or(listings_due_), listings_due_);
  if (auto const due = sessions_.next_due(options_.session_time)) {
    next = std::min(next.value_or(*due), *due);
  }
  return next;
}

void xla_service::advance(time_point now) {
  for (auto n = waiting_pages_.size(); n > 0 && pages_left_ > 0; --n) {
    request_id const id = waiting_pages_.front();
    waiting_pages_.pop_front();
    open_call const* const call = calls_.find(id);
    if (!call) continue;
    std::erase(call->by->open, id);
    next_page(now, id);
  }
  if (!waiting_listings_.empty()) begin_listings(now);
  core_.drop_detached(now);
  life_.advance(now);
}

void xla_service::take_effects(std::vector<effect>& into) {
  into.clear();
  into.swap(effects_);
  replies_.forget_listings();
}

void xla_service::check_invariants() const {
  calls_.check_invariants();
  sessions_.check_invariants(calls_);
}

}  // namespace coxswain::xla
