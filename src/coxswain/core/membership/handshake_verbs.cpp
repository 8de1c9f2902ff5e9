#include "coxswain/core/membership/handshake_verbs.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace coxswain::core {
namespace {

// The period of wrong tokens that one log line per host covers.
constexpr duration wrong_tokens_period = 10s;

std::string_view bytes_of(session_secret const& secret) {
  return {reinterpret_cast<char const*>(secret.data()), secret.size()};
}

}  // namespace

void handshake_verbs::stopping(time_point now, status const&) {
  wrong_tokens_due(now);
  deadlines_.disarm(wrong_tokens_alarm_);
}

status handshake_verbs::refusal(hello_args const& args) const {
  if (args.version != protocol_version)
    return fail<&reasons::other_protocol>(args.version, protocol_version);
  if (args.acts_for) {
    if (auto const by = concerns_.guests.host_of(*args.acts_for); !by) return by.error();
  } else if (!role_of(args)) {
    return args.token.empty() ? fail<&reasons::token_is_missing>()
                              : fail<&reasons::token_is_invalid>();
  }
  if (role_of(args) == role::relay && !args.relay) return fail<&reasons::token_is_of_relay>();
  if (args.relay && !args.acts_for && *role_of(args) < role::worker)
    return fail<&reasons::relay_needs_other_token>();
  if (args.supervises) {
    status why = permission(*role_of(args), role::worker, "supervise a task's process");
    if (!why.ok()) return why;
  }
  if (args.supervises && !roster_.has(*args.supervises))
    return fail<&reasons::no_such_task>(*args.supervises, roster_.size() - 1);
  if (!args.job.empty() && args.job != options_.job)
    return fail<&reasons::other_job>(args.job, options_.job);
  if (args.attempt && options_.attempt && *args.attempt != *options_.attempt) {
    bool const is_older = *args.attempt < *options_.attempt;
    return is_older ? fail<&reasons::client_of_older_attempt>(*args.attempt, *options_.attempt)
                    : fail<&reasons::client_of_newer_attempt>(*args.attempt, *options_.attempt);
  }
  if (args.num_tasks && *args.num_tasks != options_.num_tasks)
    return fail<&reasons::other_number_of_tasks>(*args.num_tasks, options_.num_tasks);
  if (args.label.size() > options_.label_bytes_max) {
    return fail_as<&reasons::too_long>(errc::invalid_argument, "label", args.label.size(),
                                       "label_bytes_max", options_.label_bytes_max);
  }
  return {};
}

void handshake_verbs::refuse_hello(time_point now, connection_id from, status why) {
  connection& c = *sessions_.find(from);
  c.wrong_token = why.code() == errc::unauthenticated;
  if (c.wrong_token && !wrong_tokens_alarm_.armed()) {
    deadlines_.arm(wrong_tokens_alarm_, {now + wrong_tokens_period, due::wrong_tokens});
  }
  if (!c.wrong_token || wrong_tokens_.note(c.peer.substr(0, c.peer.rfind(':')))) {
    kernel_.log(severity::warning, event_kind::refused,
                "connection from " + c.peer + " refused: " + why.text());
  }
  kernel_.tally.count_request(operation_id<hello_args>, why.code());
  concerns_.connections.say_goodbye(from, std::move(why), false);
}

std::string const* handshake_verbs::wrong_token(connection_id of) const {
  auto const* const c = sessions_.find(of);
  return c && c->wrong_token ? &c->peer : nullptr;
}

std::optional<std::uint64_t> handshake_verbs::newer_term() const noexcept {
  return newer_term_ > kernel_.term ? std::optional{newer_term_} : std::nullopt;
}

void handshake_verbs::wrong_tokens_due(time_point now) {
  deadlines_.disarm(wrong_tokens_alarm_);
  for (auto const& [host, count] : wrong_tokens_.take()) {
    kernel_.log(severity::warning, event_kind::refused,
                std::to_string(count) + " more connections from " + host + " refused within " +
                    in_words(wrong_tokens_period) + " for missing or invalid tokens");
  }
  if (wrong_tokens_.empty()) return;
  deadlines_.arm(wrong_tokens_alarm_, {now + wrong_tokens_period, due::wrong_tokens});
}

std::optional<role> handshake_verbs::role_of(hello_args const& args) const {
  if (args.acts_for) return role::worker;
  if (options_.credentials.empty()) return args.relay ? role::relay : role::worker;
  auto const found = credential_of(options_.credentials, args.token);
  return found ? std::optional{options_.credentials[*found].as} : std::nullopt;
}

void handshake_verbs::replace_credentials(std::vector<credential> by) {
  options_.credentials = std::move(by);
  kernel_.log(severity::info, event_kind::credentials_replaced,
              "tokens were replaced: " + std::to_string(options_.credentials.size()) +
                  " are valid now; existing sessions continue");
}

void handshake_verbs::hello(time_point now, connection_id from, hello_args const& args) {
  if (status why = refusal(args); !why.ok()) return refuse_hello(now, from, std::move(why));
  connection& c = *sessions_.find(from);
  deadlines_.disarm(c.hello);
  session s;
  s.secret = c.secret;
  s.attached = from;
  s.carrier = c.number;
  s.from = {args.label, c.peer};
  role const given = args.relay && !args.acts_for ? role::relay : *role_of(args);
  s.given = given;
  s.takes_stacks = args.takes_stacks;
  s.names_job = !args.job.empty() || args.acts_for;
  s.heard = kernel_.alive_since(now);
  if (args.acts_for)
    s.guest_of = std::make_unique<guest>(guest{concerns_.guests.host_of(*args.acts_for).value()});
  session_id const id = sessions_.add(std::move(s));
  c.session = id;
  if (auto* const g = args.acts_for ? concerns_.guests.grant_of(*sessions_.find(id)) : nullptr) {
    g->guests.push_back(id);
  }
  concerns_.connections.arm_expiry(id, *sessions_.find(id));
  // The numbers of an elastic job change.
  if (args.supervises && !options_.elastic) concerns_.failures.supervise(id, *args.supervises);

  kernel_.tally.count_request(operation_id<hello_args>, errc::ok);
  hello_answer a;
  a.given = given;
  a.coordinator = kernel_.self;
  a.version = options_.version;
  a.session = id;
  a.secret = c.secret;
  a.num_tasks = options_.num_tasks;
  a.heartbeat_period = options_.heartbeat_timeout / 3;
  a.heartbeat_timeout = options_.heartbeat_timeout;
  a.reconnect_grace = options_.reconnect_grace;
  a.coordinator_return = options_.coordinator_return;
  a.restart_grace = options_.restart_grace;
  a.hosted_by_task = options_.hosted_by_task;
  a.term = kernel_.term;
  a.relayed = is_relayed(c);
  a.suspect_after = options_.suspect_after();
  a.frame_bytes_max = concerns_.connections.frame_bytes_max(from);
  a.value_bytes_max = options_.largest_value();
  a.key_bytes_max = options_.key_bytes_max;
  a.open_requests_max = options_.open_requests_max_of(a.given);
  a.open_requests_max_per_task = options_.open_requests_max_per_task;
  sessions_.push(from, calls_.share(std::move(a)));
  if (error_) sessions_.push(from, calls_.share(*error_));
}

void handshake_verbs::resume(time_point now, connection_id from, std::uint64_t answered_through,
                             resume_args const& args) {
  if (args.coordinator == kernel_.self && args.term_seen > kernel_.term) {
    return was_replaced(from, args.term_seen);
  }
  session* const s = args.coordinator == kernel_.self ? sessions_.find(args.session) : nullptr;
  if (!s || !equal_in_constant_time(bytes_of(s->secret), bytes_of(args.secret))) {
    kernel_.tally.count_request(operation_id<resume_args>, errc::aborted);
    bool const restarted = args.coordinator != kernel_.self;
    return concerns_.connections.say_goodbye(
        from,
        restarted ? fail<&reasons::coordinator_was_restarted>() : fail<&reasons::no_such_session>(),
        false, restarted);
  }
  if (sessions_.find(from)->number < s->carrier || answered_through < s->answered_through ||
      (args.resume_count != 0 && args.resume_count < s->resume_count)) {
    // The client had abandoned this connection before it used a newer one: its Resume here is
    // stale, and following it would undo later changes. Those behind a relay are numbered late, by
    // their routes.
    kernel_.tally.count_request(operation_id<resume_args>, errc::aborted);
    return concerns_.connections.say_goodbye(from, fail<&reasons::resumed_on_newer_connection>(),
                                             true);
  }
  bool const rises = std::adjacent_find(args.open.begin(), args.open.end(), std::greater_equal{}) ==
                         args.open.end() &&
                     (args.open.empty() || args.open.front() != request_id{});
  if (!rises || answered_through > s->replies_sent) {
    // The client would repeat it, so the session ends (§2.6).
    std::string const why =
        "a Resume must list open requests in rising order, and acknowledge only replies that were "
        "sent";
    if (s->attached != connection_id{})
      concerns_.connections.say_goodbye(s->attached, fail<&reasons::protocol_error>(why), false);
    concerns_.connections.malformed(now, from, why);
    return concerns_.connections.end_session(now, args.session,
                                             fail<&reasons::protocol_error>(why));
  }
  carry_on(now, from, answered_through, args);
}

// The client has been served by another coordinator since.
void handshake_verbs::was_replaced(connection_id from, std::uint64_t term) {
  newer_term_ = std::max(newer_term_, term);
  kernel_.tally.count_request(operation_id<resume_args>, errc::unavailable);
  status const why = fail<&reasons::other_term>(kernel_.term, term);
  kernel_.log(severity::warning, event_kind::refused,
              "connection from " + sessions_.find(from)->peer + " refused: " + why.message());
  concerns_.connections.say_goodbye(from, why, true);
}

// The session continues on this connection.
void handshake_verbs::carry_on(time_point now, connection_id from, std::uint64_t answered_through,
                               resume_args const& args) {
  session& s = *sessions_.find(args.session);
  if (s.attached != connection_id{}) {
    concerns_.connections.say_goodbye(s.attached, fail<&reasons::resumed_by_another_connection>(),
                                      true);
  }
  kernel_.tally.count_request(operation_id<resume_args>, errc::ok);
  concerns_.why.plan_review();
  connection& c = *sessions_.find(from);
  deadlines_.disarm(c.hello);
  c.session = args.session;
  s.attached = from;
  s.carrier = c.number;
  s.resume_count = std::max(s.resume_count, args.resume_count);
  s.from = {s.from.label(), c.peer};
  concerns_.restarts.resumed(now, s);
  s.grace.reset();
  for (task_id const task : s.tasks) {
    concerns_.progress.come_back(now, s.heard.since, task);
    kernel_.log_task(severity::info, event_kind::back, task, {" is back"});
    roster_.changed();
  }

  std::vector<request_id> unwanted;
  s.open.each([&](request_id open_id, parked const&) {
    bool const is_wanted = std::binary_search(args.open.begin(), args.open.end(), open_id);
    if (!is_wanted) unwanted.push_back(open_id);
  });
  for (request_id const unwanted_id : unwanted) calls_.release({args.session, unwanted_id});
  std::vector<undelivered> unreceived = sessions_.take_unwanted(s, answered_through, args.open);
  resume_answer a;
  a.unknown = sessions_.resume(s, answered_through, args.open);
  a.term = kernel_.term;
  a.suspect_after = options_.suspect_after();
  sessions_.push(s, calls_.share(std::move(a)));
  sessions_.send_kept(s);
  if (error_) sessions_.push(s, calls_.share(*error_));
  if (!s.tasks.empty()) concerns_.preemptions.send_agreement(now, s);
  // Not before, since these can answer requests of this session.
  calls_.put_back(std::move(unreceived));
  concerns_.epochs.send_ending(s);
  concerns_.enrolment.look_again();
  concerns_.connections.note_life(now, s);
  concerns_.connections.arm_expiry(args.session, s);
}

}  // namespace coxswain::core
