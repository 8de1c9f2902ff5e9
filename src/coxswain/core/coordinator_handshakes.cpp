// How a session begins, and how it goes on with a new connection.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace coxswain::core {
namespace {

// Wrong tokens of so much time are one line for each host.
constexpr duration wrong_tokens_period = 10s;

std::string_view bytes_of(session_secret const& secret) {
  return {reinterpret_cast<char const*>(secret.data()), secret.size()};
}

}  // namespace

status coordinator::state::refusal(hello_args const& args) const {
  if (args.version != protocol_version) {
    return {errc::failed_precondition,
            "the client speaks protocol version " + std::to_string(args.version) +
                ", this coordinator version " + std::to_string(protocol_version)};
  }
  if (args.acts_for) {
    if (auto const by = host_of(*args.acts_for); !by) return by.error();
  } else if (!role_of(args)) {
    return {errc::unauthenticated, args.token.empty() ? "this coordinator asks for a token"
                                                      : "the token is not this coordinator's"};
  }
  if (!args.job.empty() && args.job != options.job) {
    return {errc::failed_precondition, another_job(args.job, options.job)};
  }
  if (args.attempt && options.attempt && *args.attempt != *options.attempt) {
    bool const is_older = *args.attempt < *options.attempt;
    return {is_older ? errc::failed_precondition : errc::unavailable,
            "the client belongs to attempt " + std::to_string(*args.attempt) +
                ", this coordinator to attempt " + std::to_string(*options.attempt) +
                (is_older ? "" : ": an old coordinator is still there")};
  }
  if (args.label.size() > options.label_bytes_max) {
    return {errc::invalid_argument, "the label is " + std::to_string(args.label.size()) +
                                        " bytes long; the limit label_bytes_max is " +
                                        std::to_string(options.label_bytes_max)};
  }
  return {};
}

void coordinator::state::refuse_hello(time_point now, connection_id from, status why) {
  connection& c = *sessions_.find(from);
  c.wrong_token = why.code() == errc::unauthenticated;
  if (c.wrong_token && !wrong_tokens_due_.armed()) {
    deadlines_.arm(wrong_tokens_due_, {now + wrong_tokens_period, due::wrong_tokens});
  }
  if (!c.wrong_token || wrong_tokens_.note(c.peer.substr(0, c.peer.rfind(':')))) {
    log(severity::warning, event_kind::refused,
        "connection from " + c.peer + " refused: " + why.text());
  }
  tally.count_request(operation_of<hello_args>, why.code());
  say_goodbye(from, std::move(why), false);
}

std::string const* coordinator::state::wrong_token(connection_id of) const {
  auto const* const c = sessions_.find(of);
  return c && c->wrong_token ? &c->peer : nullptr;
}

void coordinator::state::tell_wrong_tokens(time_point now) {
  deadlines_.disarm(wrong_tokens_due_);
  for (auto const& [host, count] : wrong_tokens_.take()) {
    log(severity::warning, event_kind::refused,
        std::to_string(count) + " more connections from " + host + " refused within " +
            in_words(wrong_tokens_period) + " for their tokens");
  }
  if (wrong_tokens_.empty()) return;
  deadlines_.arm(wrong_tokens_due_, {now + wrong_tokens_period, due::wrong_tokens});
}

std::optional<role> coordinator::state::role_of(hello_args const& args) const {
  if (options.credentials.empty() || args.acts_for) return role::worker;
  auto const found = credential_of(options.credentials, args.token);
  return found ? std::optional{options.credentials[*found].as} : std::nullopt;
}

void coordinator::state::replace_credentials(std::vector<credential> by) {
  options.credentials = std::move(by);
  log(severity::info, event_kind::credentials_replaced,
      "tokens were replaced: " + std::to_string(options.credentials.size()) +
          " are known now; sessions that there are go on");
}

void coordinator::state::hello(time_point now, connection_id from, hello_args const& args) {
  if (status why = refusal(args); !why.ok()) return refuse_hello(now, from, std::move(why));
  connection& c = *sessions_.find(from);
  deadlines_.disarm(c.hello);
  session s;
  s.secret = c.secret;
  s.attached = from;
  s.carrier = c.number;
  s.from = {args.label, c.peer};
  s.given = *role_of(args);
  s.names_job = !args.job.empty() || args.acts_for;
  s.heard = alive_since(now);
  if (args.acts_for) s.guest_of = std::make_unique<guest>(guest{host_of(*args.acts_for).value()});
  session_id const id = sessions_.add(std::move(s));
  c.session = id;
  if (auto* const g = args.acts_for ? grant_of(*sessions_.find(id)) : nullptr) {
    g->guests.push_back(id);
  }
  arm_expiry(id, *sessions_.find(id));

  tally.count_request(operation_of<hello_args>, errc::ok);
  hello_answer a;
  a.given = *role_of(args);
  a.coordinator = self_;
  a.version = options.version;
  a.session = id;
  a.secret = c.secret;
  a.num_tasks = options.num_tasks;
  a.heartbeat_period = options.heartbeat_timeout / 3;
  a.heartbeat_timeout = options.heartbeat_timeout;
  a.reconnect_grace = options.reconnect_grace;
  a.coordinator_return = options.coordinator_return;
  a.hosted_by_task = options.hosted_by_task;
  a.frame_bytes_max = frame_bytes_max(from);
  a.value_bytes_max = options.largest_value();
  a.key_bytes_max = options.key_bytes_max;
  a.open_requests_max = options.open_requests_max_of(a.given);
  a.open_requests_max_per_task = options.open_requests_max_per_task;
  sessions_.push(from, share(std::move(a)));
  if (error) sessions_.push(from, share(*error));
}

void coordinator::state::resume(time_point now, connection_id from, std::uint64_t answered_through,
                                resume_args const& args) {
  session* const s = args.coordinator == self_ ? sessions_.find(args.session) : nullptr;
  if (!s || !equal_in_constant_time(bytes_of(s->secret), bytes_of(args.secret))) {
    tally.count_request(operation_of<resume_args>, errc::aborted);
    bool const restarted = args.coordinator != self_;
    return say_goodbye(
        from,
        {errc::aborted,
         restarted ? "session ended: the coordinator was restarted; its keys and barriers are gone"
                   : "session ended: this coordinator has no such session"},
        false, restarted);
  }
  if (sessions_.find(from)->number < s->carrier || answered_through < s->answered_through) {
    // The client had given this connection up before it used a newer one: what it said here is
    // stale, and to believe it would undo what happened since.
    tally.count_request(operation_of<resume_args>, errc::aborted);
    return say_goodbye(from, {errc::aborted, "the session went on with a newer connection"}, true);
  }
  bool const rises = std::adjacent_find(args.open.begin(), args.open.end(), std::greater_equal{}) ==
                         args.open.end() &&
                     (args.open.empty() || args.open.front() != request_id{});
  if (!rises || answered_through > s->replies_sent) {
    // It would say the same again, so the session ends (semantics D23).
    std::string const why = "a Resume must name what is open, rising, and replies that were sent";
    if (s->attached != connection_id{}) {
      say_goodbye(s->attached, {errc::invalid_argument, "protocol error: " + why}, false);
    }
    malformed(now, from, why);
    return end_session(now, args.session, {errc::invalid_argument, "protocol error: " + why});
  }
  carry_on(now, from, answered_through, args);
}

// The session goes on, on this connection.
void coordinator::state::carry_on(time_point now, connection_id from,
                                  std::uint64_t answered_through, resume_args const& args) {
  session& s = *sessions_.find(args.session);
  if (s.attached != connection_id{}) {
    say_goodbye(s.attached, {errc::aborted, "the session was resumed by another connection"}, true);
  }
  tally.count_request(operation_of<resume_args>, errc::ok);
  plan_review();
  connection& c = *sessions_.find(from);
  deadlines_.disarm(c.hello);
  c.session = args.session;
  s.attached = from;
  s.carrier = c.number;
  s.from = {s.from.label(), c.peer};
  s.grace.reset();
  for (task_id const task : s.tasks) {
    come_back(now, s.heard.since, task);
    log(severity::info, event_kind::back, who(task) + " is back", task);
    roster_.changed();
  }

  std::vector<request_id> unwanted;
  s.open.each([&](request_id open_id, parked const&) {
    bool const is_wanted = std::binary_search(args.open.begin(), args.open.end(), open_id);
    if (!is_wanted) unwanted.push_back(open_id);
  });
  for (request_id const unwanted_id : unwanted) release({args.session, unwanted_id});
  std::vector<undelivered> items = sessions_.take_unwanted(s, answered_through, args.open);
  resume_answer a;
  a.unknown = sessions_.resume(s, answered_through, args.open);
  sessions_.push(s, share(std::move(a)));
  sessions_.send_kept(s);
  if (error) sessions_.push(s, share(*error));
  if (!s.tasks.empty()) tell_agreement(s);
  // Not before, since these may answer requests of this very session.
  put_back(std::move(items));
  note_life(now, s);
  arm_expiry(args.session, s);
}

}  // namespace coxswain::core
