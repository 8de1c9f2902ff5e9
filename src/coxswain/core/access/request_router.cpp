#include "coxswain/core/access/request_router.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/model/operations.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::core {
namespace {

template <class Concern, class Args>
constexpr bool handles = requires(Concern to, call const& c, Args& args) {
  to.handle(c, args);
};

template <class Args, class Concern>
void offer(call const& c, Args& args, Concern& to) {
  if constexpr (handles<Concern&, Args>) to.handle(c, args);
}

// A request that no concern handles, or more than one, does not compile.
template <class Args, class... Concerns>
void hand_over(call const& c, Args& args, Concerns&... all) {
  static_assert((0 + ... + (handles<Concerns&, Args> ? 1 : 0)) == (is_numbered<Args> ? 1 : 0));
  (offer(c, args, all), ...);
}

// The calls by which a task shows what it did last: not those that its client makes by itself.
template <class Args>
constexpr bool shows_progress =
    is_numbered<Args> && !operation_of<Args>.is(trait::watches) &&
    !operation_of<Args>.is(trait::takes_task) && !std::is_same_v<Args, grant_args> &&
    !std::is_same_v<Args, report_stack_args>;

template <class Args>
void note_last_call(roster& tasks, call const& c, Args const& args) {
  if constexpr (shows_progress<Args>) {
    if (!c.task) return;
    last_call& last = tasks.at(*c.task).last_call;
    last.at = c.now;
    last.what = c.what;
    if constexpr (requires { args.key; }) {
      last.name = args.key;
    } else if constexpr (requires { args.name; }) {
      last.name = args.name;
    } else if constexpr (requires { args.directory; }) {
      last.name = args.directory;
    } else if constexpr (requires { args.queue; }) {
      last.name = args.queue;
    } else if constexpr (requires { args.platform; }) {
      last.name = args.platform;
    } else {
      last.name = std::string_view{};
    }
  }
}

template <class Args>
bool is(client_message const& message) {
  return std::holds_alternative<Args>(message.what);
}

operation operation_at(client_message const& message) {
  return operation{static_cast<std::uint8_t>(message.what.index())};
}

}  // namespace

request_router::request_router(concerns& all)
    : concerns_{all},
      calls_{all.calls},
      kernel_{all.kernel},
      options_{kernel_.options},
      memory_{*kernel_.memory},
      sessions_{kernel_.sessions},
      roster_{kernel_.roster} {}

void request_router::received(time_point now, connection_id from, client_message&& message) {
  kernel_.observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing) return;
  if (c->session == session_id{}) {
    if (auto const* const args = std::get_if<hello_args>(&message.what)) {
      concerns_.handshakes.hello(now, from, *args);
    } else if (auto const* const again = std::get_if<resume_args>(&message.what)) {
      concerns_.handshakes.resume(now, from, message.answered_through, *again);
    } else {
      concerns_.connections.malformed(now, from, "the first message must be Hello or Resume");
    }
  } else {
    session_id const by = c->session;
    session& s = *sessions_.find(by);
    concerns_.connections.note_life(now, s);
    if (!sessions_.acknowledge(s, message.answered_through)) {
      concerns_.connections.malformed(now, from,
                                      "answered_through is " +
                                          std::to_string(message.answered_through) + ", but only " +
                                          std::to_string(s.replies_sent) + " replies were sent");
    } else {
      dispatch(now, by, std::move(message));
    }
  }
}

// Heartbeats, and messages about the session or about another request. False: it is a request.
bool request_router::dispatch_unnumbered(time_point now, session_id by,
                                         client_message const& message) {
  session& s = *sessions_.find(by);
  auto const count = [&] { kernel_.tally.count_request(operation_at(message), errc::ok); };
  if (is<std::monostate>(message) && message.id == request_id{}) {
    count();
    if (!std::exchange(s.wrote_since_heartbeat, false)) {
      sessions_.push(s.attached, calls_.share(status{}));
    }
    return true;
  }
  if (auto const* const bye = std::get_if<bye_args>(&message.what)) {
    count();
    concerns_.connections.bye(now, by, *bye);
    return true;
  }
  if (auto const* const cancelled = std::get_if<cancel_args>(&message.what)) {
    count();
    calls_.release({by, cancelled->request});
    calls_.put_back(sessions_.take_cancelled(s, cancelled->request));
    return true;
  }
  if (auto const* const asked = std::get_if<ask_waiting_args>(&message.what)) {
    count();
    concerns_.missing.handle(now, s, {by, asked->request});
    return true;
  }
  if (!is<hello_args>(message) && !is<resume_args>(message)) return false;
  concerns_.connections.malformed(now, s.attached, "second handshake on one connection");
  return true;
}

void request_router::dispatch(time_point now, session_id by, client_message&& message) {
  operation_row const& row = row_of(message.what);
  if (row.is(trait::of_session) && dispatch_unnumbered(now, by, message)) return;
  session& s = *sessions_.find(by);
  if (!sessions_.admit(s, message.id)) {
    return concerns_.connections.malformed(now, s.attached,
                                           "request id " + std::to_string(message.id.value) +
                                               " is not above the last one, " +
                                               std::to_string(s.highest.value));
  }
  call c{now, {by, message.id}, s, std::nullopt, operation_at(message)};
  if (is<std::monostate>(message)) {
    c.what = unknown_operation;
    return calls_.refuse<&reasons::unknown_kind>(c, options_.version, "kind of request");
  }
  sessions_.classify(s);
  if (status why = admissible(s, row); !why.ok()) return calls_.refuse(c, std::move(why));
  if (status why = concerns_.epochs.checked(message); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  auto task = acting_task(by, s, message);
  if (task && options_.elastic) task = concerns_.epochs.acting(message, s, *task);
  if (!task) return calls_.refuse(c, task.error());
  if (*task) c.task.emplace(**task);  // copying it whole would stall on the stores of its parts
  if (row.is(trait::produces) && s.tasks.empty() && !s.guest_of) {
    s.produces = true;
  }
  std::visit(
      [&](auto& args) {
        note_last_call(roster_, c, args);
        concerns_.with_all([&](auto&... all) { hand_over(c, args, all...); });
      },
      message.what);
}

// Acting for a task needs the session that joined it, so a zombie can do nothing (§3.1).
result<std::optional<task_id>> request_router::acting_task(session_id by, session const& s,
                                                           client_message const& message) const {
  bool const joins = row_of(message.what).is(trait::takes_task);
  auto const* const join = std::get_if<join_args>(&message.what);
  if (join && join->any && !s.guest_of) return std::optional<task_id>{};
  auto const replaced = [&](task_id id) {
    return fail<&reasons::held_by_another_session>(kernel_.who(id));
  };
  if (s.tasks.empty() && std::holds_alternative<report_error_args>(message.what)) {
    if (auto const task = concerns_.failures.supervised_by(by)) return task;
  }
  // A guest may name its task by the number of an earlier epoch.
  bool const names_none = !message.task || (s.guest_of && options_.elastic);
  if (names_none) {
    // A session that has nothing but tasks which others hold now is no observer.
    if (s.tasks.empty() && !s.replaced.empty() && !joins) return replaced(s.replaced.back());
    bool const is_plain = s.tasks.size() == 1 && roster_.at(s.tasks.front()).is_connected();
    if (is_plain) return s.tasks.front();
    if (s.guest_of) return concerns_.guests.acting_guest(s, message);
    return std::nullopt;
  }
  task_id const id = *message.task;
  if (!roster_.has(id)) return fail<&reasons::no_such_task>(id, roster_.size() - 1);
  if (joins && !s.guest_of) return id;
  task const& t = roster_.at(id);
  if (t.is_connected() && t.held_by == by) return id;
  if (s.guest_of) {
    auto const as_guest = concerns_.guests.acting_guest(s, message);
    if (!as_guest || *as_guest) return as_guest;
  }
  if (std::find(s.replaced.begin(), s.replaced.end(), id) != s.replaced.end()) return replaced(id);
  if (kernel_.error) return kernel_.job_failed(errc::failed_precondition);
  if (t.state == task_state::failed) {
    return options_.elastic ? fail<&reasons::failed_join_again>(kernel_.has_failed(id))
                            : status{errc::failed_precondition, kernel_.has_failed(id)};
  }
  if (t.state == task_state::left || t.state == task_state::returning)
    return fail<&reasons::may_join_again>(id);
  bool const joins_here = t.state == task_state::joining && t.held_by == by;
  return joins_here ? fail<&reasons::still_joining>(id) : fail<&reasons::joined_elsewhere>(id);
}

status request_router::admissible(session const& s, operation_row const& row) const {
  if (status why = permission(s.given, row.needed, row.verb); !why.ok()) return why;
  std::size_t const limit =
      options_.open_requests_max_of(s.given) +
      options_.open_requests_max_per_task * (s.tasks.size() + (s.guest_of ? 1 : 0));
  if (s.open.size() + s.kept.size() >= limit) {
    return fail<&reasons::too_many_requests>(
        limit, s.given == role::reader
                   ? "open_requests_max_per_reader"
                   : "open_requests_max, and open_requests_max_per_task for each of its tasks");
  }
  if (row.is_stored() && !kernel_.refuses_storing.empty()) return kernel_.room_to_store();
  bool const needs_memory = row.is(trait::needs_memory);
  if (!needs_memory && !row.is(trait::stores)) return {};
  bool const is_urgent = row.is(trait::together) && s.memory.kind == share_kind::task;
  if (!is_urgent) {
    if (status why = sessions_.room_for(s, 0, needs_memory); !why.ok()) return why;
  }
  std::size_t const left_free = is_urgent ? 0 : memory_.owned_max() / kernel::part_for_tasks;
  bool const fits = !needs_memory || memory_.fits(kernel::memory_per_request + left_free);
  return fits ? status{} : kernel_.out_of_memory();
}

}  // namespace coxswain::core
