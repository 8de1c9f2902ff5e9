#include "tests/fuzz/coordinator_world.hpp"

#include "coxswain/core/coordinator.hpp"
#include "tests/fuzz/any_request.hpp"
#include "tests/fuzz/random_source.hpp"
#include "tests/fuzz/violation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::core {
namespace {

using test::report_violation;

constexpr time_point start{std::chrono::hours{100}};

// A client: one session at a time, over one connection at a time.
struct client {
  struct call {
    client_message message;
    time_point deadline{time_point::max()};
    bool sent{};
    bool is_counted{};  // increments this client's own counter
  };

  connection_id connection{};
  bool deaf{};  // the connection is broken, though the coordinator does not know it yet
  std::optional<hello_answer> session;
  std::uint64_t epoch{};  // that it was given last
  bool greeted{};         // the handshake on this connection was answered
  bool has_asked_to_join{};
  request_id last_id{};
  std::uint64_t answered{};
  std::map<request_id, call> open;
  std::vector<request_id> unknown;  // to be sent again
  std::set<std::uint64_t> items;    // received from queues
  bool must_be_over{};              // another session received one of its items
  std::uint64_t version_seen{};     // of the task watch
};

// One run: the clients, what they know, and what follows from it.
class world {
 public:
  explicit world(test::random_source rng) : rng_{rng} {
    config o;
    o.num_tasks = static_cast<std::uint32_t>(1 + rng_.upto(4));
    o.reconnect_grace = rng_.one_of(std::vector<duration>{0s, 100ms, 2s});
    o.xla_reconnect_grace = rng_.one_of(std::vector<duration>{0s, 50ms, 200ms});
    o.heartbeat_timeout = rng_.one_of(std::vector<duration>{2s, 10s, 100s});
    o.join_barrier = !rng_.one_in(4);
    o.leave_barrier = !rng_.one_in(4);
    o.leave_together = rng_.one_in(4);
    o.reports_ends = rng_.one_in(4);
    o.return_timeout = rng_.one_of(std::vector<duration>{1ns, 5s, without_limit});
    o.recoverable = rng_.one_in(2);
    o.waiting_log_period = rng_.one_of(std::vector<duration>{0s, 1s, 10s});
    o.key_bytes_max = 40;
    o.value_bytes_max = 3000;
    o.gather_bytes_max = 60;
    o.memory_bytes_max = rng_.one_of(std::vector<std::size_t>{20'000, 1'000'000});
    o.open_requests_max = rng_.one_of(std::vector<std::uint32_t>{6, 1000});
    o.owed_outcomes_max = rng_.upto(8);
    o.idle_barriers_max = rng_.one_of(std::vector<std::size_t>{0, 2, 1000});
    o.error_bytes_max = 50;
    o.keys_per_call_max = 2 + rng_.upto(1);
    o.changes_max = rng_.one_of(std::vector<std::size_t>{0, 5, 1000});
    o.change_bytes_max = rng_.one_of(std::vector<std::size_t>{500, 1'000'000});
    o.changes_per_answer_max = 1 + rng_.upto(5);
    o.topology_platforms_max = 3;
    names_last_ = o.idle_barriers_max == 1000;
    is_calm_ = !rng_.one_in(3);
    if (is_calm_) {
      o.reconnect_grace = 30s;
      o.heartbeat_timeout = 100s;
    }
    o.progress_timeout = rng_.one_of(std::vector<duration>{0s, 1s, 60s});
    o.fail_without_progress = !is_calm_ && rng_.one_in(2);
    if (rng_.one_in(3)) {
      o.credentials = {
          {role::worker, "sesame"}, {role::operator_, "barley"}, {role::reader, "oat"}};
    }
    o.spares = static_cast<std::uint32_t>(rng_.upto(2));
    o.assign = static_cast<assignment>(rng_.upto(2));
    o.last_call = rng_.one_of(std::vector<duration>{0s, 5s});
    o.come_back = rng_.one_of(std::vector<duration>{0s, 5s});
    o.elastic = rng_.one_in(3);
    o.min_tasks = 1 + static_cast<std::uint32_t>(rng_.upto(o.num_tasks - 1));
    o.grow = static_cast<growth>(rng_.upto(2));
    o.ranks = static_cast<rank_order>(rng_.upto(1));
    o.epoch_timeout = rng_.one_of(std::vector<duration>{0s, 3s, 600s});
    o.min_wait = rng_.one_of(std::vector<duration>{0s, 60s});
    o.epochs_max = rng_.one_in(4) ? 2 : 0;
    logic_ = std::make_unique<coordinator>(o, incarnation{7}, now_);
    clients_.resize(2 + rng_.upto(6));
  }

  void run() {
    auto const steps = 100 + rng_.upto(400);
    for (std::uint64_t i = 0; i < steps && !rng_.is_spent(); ++i) {
      step();
      settle();
    }
    end();
  }

  // Everything that the coordinator ever sent or logged.
  [[nodiscard]] std::string const& transcript() const { return transcript_; }

 private:
  void step() {
    auto& c = clients_[rng_.upto(clients_.size() - 1)];
    switch (rng_.upto(23)) {
      case 0:
        if (is_calm_ && !rng_.one_in(20)) break;
        return rarely(c);
      case 1:
      case 2: return pass(rng_.one_of(short_times));
      case 3: return lose(c);
      case 4:
        if (is_calm_ && !rng_.one_in(4)) break;
        return pass_long();
      case 5: return hear_late();
      default: break;
    }
    if (c.connection == connection_id{}) return connect(c);
    if (!c.greeted) return;
    if (!c.unknown.empty()) return send_again(c);
    switch (rng_.upto(11)) {
      case 0: return say(c, {});
      case 1:
        if (rng_.one_in(4)) return logic_->vouched(now_, c.connection);
        return logic_->heard(now_, c.connection);
      case 2: return cancel(c);
      case 3: c.deaf = c.deaf || rng_.one_in(4); return;
      case 4:
        if (rng_.one_in(3)) return connect(c);  // while its old connection is open: a takeover
        return;
      default: return ask(c);
    }
  }

  void rarely(client& c) {
    switch (rng_.upto(9)) {
      case 0:
        static_cast<void>(logic_->put_in(
            now_, process_ended{any_task(rng_, logic_->options().num_tasks),
                                {rng_.one_in(3) ? errc::ok : errc::unavailable, "ended"}}));
        return;
      case 1:
        if (c.connection != connection_id{}) logic_->malformed(now_, c.connection, "noise");
        return;
      case 2:
        if (c.greeted) say(c, bye_args{rng_.one_in(2)});
        return;
      case 3: return misbehave(c);
      case 4:
        if (c.connection == connection_id{}) return;
        if (rng_.one_in(2)) return logic_->reading_paused(now_, c.connection);
        return logic_->write_blocked(now_, c.connection);
      case 5:
        if (c.connection == connection_id{}) return;
        if (rng_.one_in(2)) return logic_->reading_resumed(now_, c.connection);
        return logic_->write_progressed(now_, c.connection);
      case 6: bare_.insert(logic_->connected(now_, "bare", {})); return;
      case 7:
        if (!bare_.empty()) {
          connection_id const gone = *bare_.begin();
          bare_.erase(gone);
          logic_->lost(now_, gone, loss::closed);
        }
        return;
      case 8:  // the loop stalls
        now_ += rng_.one_of(std::vector<duration>{200ms, 1s, 7s});
        return advance();
      default: static_cast<void>(logic_->look(now_)); return;
    }
  }

  // Messages that no Coxswain client sends.
  void misbehave(client& c) {
    if (!c.greeted) return;
    client_message m{.answered_through = c.answered};
    switch (rng_.upto(3)) {
      case 0: m.answered_through = c.answered + 1'000'000; break;
      case 1: m.what = try_get_args{"without an id"}; break;
      case 2: m.what = hello_args{}; break;
      default: m.what = resume_of(c); break;
    }
    logic_->received(now_, c.connection, std::move(m));
  }

  void advance() {
    logic_->advance(now_);
    settle();
    for (auto const& c : clients_) {
      if (!c.greeted || c.deaf || !c.unknown.empty()) continue;
      for (auto const& [id, call] : c.open) {
        if (call.sent && call.deadline <= now_) {
          report_violation("request ", id, " of kind ", call.message.what.index(),
                           " was not answered at its deadline");
        }
      }
    }
  }

  void pass(duration d) {
    time_point const to = now_ + d;
    for (;;) {
      auto const next = logic_->next_deadline();
      if (!next || *next > to) break;
      if (*next < now_) report_violation("a deadline was left behind");
      now_ = std::max(now_, *next);
      advance();
    }
    now_ = to;
    advance();
  }

  void pass_long() {
    // Usually all clients send heartbeats meanwhile.
    for (int i = 0; i < 4; ++i) {
      if (!rng_.one_in(8)) {
        for (auto& c : clients_) {
          if (c.greeted) say(c, {});
        }
      }
      pass(rng_.one_of(long_times_));
    }
  }

  void lose(client& c) {
    if (c.connection == connection_id{}) return;
    by_connection_.erase(c.connection);
    logic_->lost(now_, std::exchange(c.connection, {}),
                 rng_.one_of(std::array{loss::closed, loss::closed, loss::closed, loss::unreachable,
                                        loss::exited, loss::trunk_closed}));
    c.greeted = false;
    c.deaf = false;
  }

  void connect(client& c) {
    if (c.session && rng_.one_in(4)) give_up_a_connection(c);
    session_secret secret{};
    secret[3] = static_cast<std::uint8_t>(++secrets_);
    secret[4] = static_cast<std::uint8_t>(secrets_ >> 8);
    connection_id const id = logic_->connected(now_, "peer", secret);
    auto const index = static_cast<std::size_t>(&c - clients_.data());
    if (c.connection != connection_id{}) {
      by_connection_.erase(c.connection);
      bare_.insert(c.connection);
    }
    by_connection_.emplace(id, index);
    c.connection = id;
    c.greeted = false;
    c.deaf = false;
    c.unknown.clear();
    client_message m;
    if (c.session) {
      m.answered_through = c.answered;
      auto args = resume_of(c);
      if (rng_.one_in(30)) args.secret[0] ^= 1;
      if (rng_.one_in(30)) args.coordinator.value += 1;
      if (rng_.one_in(60) && args.open.size() > 1) std::swap(args.open[0], args.open[1]);
      m.what = std::move(args);
    } else {
      hello_args args{.token = "sesame", .label = "label " + std::to_string(index)};
      if (rng_.one_in(10)) args.token = rng_.one_of(std::array{"open", "barley", "oat"});
      if (rng_.one_in(40)) args.version = 9;
      bool const may_visit = granted_.contains(home(c)) && !rng_.one_in(3);
      if (rng_.one_in(6)) args.supervises = home(c);
      if (may_visit || rng_.one_in(20)) args.acts_for = guest_args{home(c), secret_of_grants};
      m.what = std::move(args);
    }
    logic_->received(now_, id, std::move(m));
  }

  // The client asked to resume, then gave up: its messages arrive late or never.
  void give_up_a_connection(client const& c) {
    connection_id const id = logic_->connected(now_, "given up", {});
    bare_.insert(id);
    client_message m{.answered_through = c.answered, .what = resume_of(c)};
    late_.emplace_back(id, std::move(m));
  }

  void hear_late() {
    if (late_.empty()) return;
    auto late = std::move(late_.front());
    late_.erase(late_.begin());
    if (bare_.contains(late.first)) logic_->received(now_, late.first, std::move(late.second));
  }

  [[nodiscard]] resume_args resume_of(client const& c) const {
    resume_args args{.session = c.session->session,
                     .secret = c.session->secret,
                     .coordinator = c.session->coordinator};
    for (auto const& [id, call] : c.open) {
      if (call.sent) args.open.push_back(id);
    }
    return args;
  }

  // The session is over, and so are its open calls.
  void forget_session(client& c) {
    for (auto const& [_, call] : c.open) {
      if (call.is_counted && call.sent) ++uncertain_;
    }
    c.session.reset();
    c.greeted = false;
    c.has_asked_to_join = false;
    c.last_id = {};
    c.answered = 0;
    c.open.clear();
    c.unknown.clear();
    c.items.clear();
    c.must_be_over = false;
  }

  void say(client& c, request what) {
    client_message m{.answered_through = c.answered, .what = std::move(what)};
    logic_->received(now_, c.connection, std::move(m));
  }

  void transmit(client& c, client::call& one) {
    one.sent = true;
    client_message m = one.message;
    m.answered_through = c.answered;
    std::visit(
        [&](auto& args) {
          if constexpr (requires { args.timeout; }) {
            args.timeout = one.deadline == time_point::max() ? without_limit
                                                             : std::max(one.deadline - now_, 0ns);
          }
        },
        m.what);
    logic_->received(now_, c.connection, std::move(m));
  }

  // Requests that a Resume reported as unknown: most are sent again.
  void send_again(client& c) {
    for (request_id const id : std::exchange(c.unknown, {})) {
      auto const at = c.open.find(id);
      if (at == c.open.end() || c.connection == connection_id{} || !c.greeted) continue;
      if (rng_.one_in(10)) {
        if (at->second.is_counted) ++uncertain_;
        c.open.erase(at);
      } else {
        transmit(c, at->second);
        settle();
      }
    }
  }

  void cancel(client& c) {
    if (c.open.empty()) return;
    auto const at =
        std::next(c.open.begin(), static_cast<std::ptrdiff_t>(rng_.upto(c.open.size() - 1)));
    request_id const id = at->first;
    if (rng_.one_in(3)) return say(c, ask_waiting_args{id});
    if (at->second.is_counted) ++uncertain_;
    c.open.erase(at);
    cancelled_ = id;
    say(c, cancel_args{id});
  }

  void ask(client& c) {
    client::call one;
    one.message.id = request_id{c.last_id.value += 1 + rng_.upto(2)};
    auto wanted = is_calm_ && !c.has_asked_to_join
                      ? join_home(c)
                      : any_request(rng_, logic_->options().num_tasks, home(c), is_calm_);
    one.message.task = wanted.task;
    one.message.what = std::move(wanted.what);
    if (logic_->options().elastic && !rng_.one_in(6)) one.message.epoch = c.epoch;
    one.is_counted = wanted.is_counted;
    std::visit(
        [&](auto const& args) {
          if constexpr (requires { args.timeout; }) {
            one.deadline = deadline_after(now_, args.timeout);
          }
        },
        one.message.what);
    request_id const id = one.message.id;
    transmit(c, c.open.emplace(id, std::move(one)).first->second);
  }

  // Each client has its own task, so that jobs make progress.
  random_request join_home(client& c) {
    c.has_asked_to_join = true;
    join_args args{incarnation{home(c).value}, without_limit};
    args.any = logic_->options().elastic;
    return {home(c), std::move(args)};
  }

  [[nodiscard]] task_id home(client const& c) const {
    auto const index = static_cast<std::uint32_t>(&c - clients_.data());
    return task_id{index % logic_->options().num_tasks};
  }

  void settle() {
    logic_->check_invariants();
    std::vector<outgoing> out;
    std::vector<event> events;
    std::vector<connection_id> over;
    logic_->take_outgoing(out);
    logic_->take_events(events);
    for (auto const& e : events) transcript_ += e.text + '\n';
    for (auto const& one : out) {
      write_down(one);
      deliver(one);
      if (std::holds_alternative<goodbye>(one.what->value)) over.push_back(one.to);
    }
    for (connection_id const id : over) {
      bare_.erase(id);
      sent_goodbye_.erase(id);
      if (auto const at = by_connection_.find(id); at != by_connection_.end()) {
        clients_[at->second].connection = {};
        clients_[at->second].greeted = false;
        clients_[at->second].deaf = false;
        by_connection_.erase(at);
      }
      logic_->lost(now_, id, loss::closed);
      logic_->check_invariants();
    }
    if (!over.empty()) settle();
  }

  void write_down(outgoing const& one) {
    transcript_ += std::to_string(one.to.value) + ' ' + std::to_string(one.in_reply_to.value) +
                   ' ' + std::to_string(one.what->value.index()) + ' ' + one.what->outcome.text();
    if (auto const* const v = std::get_if<value_answer>(&one.what->value)) {
      transcript_ += ' ' + std::to_string(v->version);
    }
    if (auto const* const b = std::get_if<barrier_answer>(&one.what->value)) {
      transcript_ += ' ' + std::to_string(b->round.value);
      for (auto const& data : b->data) transcript_.append(1, '|').append(data.view());
    }
    if (auto const* const changes = std::get_if<key_changes_answer>(&one.what->value)) {
      for (auto const& c : changes->changes) transcript_ += ' ' + std::to_string(c.version);
    }
    if (auto const* const l = std::get_if<listing_answer>(&one.what->value)) {
      for (auto const& e : l->entries) transcript_ += ' ' + e.key;
    }
    if (auto const* const t = std::get_if<tasks_answer>(&one.what->value)) {
      transcript_ += ' ' + std::to_string(t->version);
    }
    transcript_ += '\n';
  }

  void deliver(outgoing const& one) {
    // For the coordinator's owner.
    if (one.to == connection_id{} && std::holds_alternative<stacks_wanted>(one.what->value)) return;
    if (sent_goodbye_.contains(one.to)) report_violation("something was sent after a goodbye");
    auto const* const bye = std::get_if<goodbye>(&one.what->value);
    if (bye) sent_goodbye_.insert(one.to);
    auto const at = by_connection_.find(one.to);
    if (at == by_connection_.end()) {
      if (!bare_.contains(one.to))
        report_violation("something was sent to a connection that is gone");
      return;
    }
    client& c = clients_[at->second];
    if (bye) {
      // The session has ended even if its client does not receive this.
      if (!bye->may_resume) forget_session(c);
      return;
    }
    if (c.deaf) return;
    if (c.must_be_over) report_violation("an item was taken from a session that goes on");
    if (auto const* const e = std::get_if<epoch_answer>(&one.what->value)) c.epoch = e->number;
    auto const* const joined = std::get_if<join_answer>(&one.what->value);
    if (joined && joined->epoch) c.epoch = joined->epoch->number;
    if (one.in_reply_to != request_id{}) return answered(c, one);
    if (auto const* const h = std::get_if<boxed<hello_answer>>(&one.what->value)) {
      if (c.session) report_violation("a second session");
      c.session = **h;
      c.greeted = true;
    } else if (auto const* const r = std::get_if<resume_answer>(&one.what->value)) {
      c.unknown = r->unknown;
      c.greeted = true;
      for (request_id const id : r->unknown) {
        if (!c.open.contains(id)) report_violation("what is not open is reported as unknown");
      }
    } else if (!c.greeted) {
      report_violation("a push before the handshake's answer");
    }
  }

  void answered(client& c, outgoing const& one) {
    ++c.answered;
    if (!c.greeted) report_violation("a reply before the handshake's answer");
    auto const code = one.what->outcome.code();
    auto const at = c.open.find(one.in_reply_to);
    if (at == c.open.end()) {
      // The session claimed its own task: cancelling that shows that the task is alive.
      bool const was_claim = one.in_reply_to == cancelled_ && code == errc::aborted;
      if (!was_claim) {
        report_violation("a reply to request ", one.in_reply_to,
                         ", which is not open: ", one.what->outcome);
      }
      return;
    }
    auto const& asked = at->second.message;
    auto const& what = asked.what;
    if (code == errc::ok && std::holds_alternative<grant_args>(what)) granted_.insert(home(c));
    bool const is_alone =
        std::holds_alternative<get_args>(what) || std::holds_alternative<get_all_args>(what) ||
        std::holds_alternative<pop_args>(what) || std::holds_alternative<alive_args>(what) ||
        std::holds_alternative<count_barrier_args>(what);
    if (is_alone && code == errc::deadline_exceeded && at->second.deadline > now_) {
      report_violation("a deadline was answered before it came");
    }
    if (at->second.is_counted && code == errc::ok) {
      auto const sum = std::get<counter_answer>(one.what->value).value;
      if (!sums_.insert(sum).second) report_violation("two increments made the same sum");
    }
    if (auto const* const w = std::get_if<watch_keys_args>(&what)) check_changes(*w, one);
    if (std::holds_alternative<pop_args>(what) && code == errc::ok) popped(c, one);
    if (auto const* const t = std::get_if<tasks_answer>(&one.what->value)) {
      if (t->version < c.version_seen) report_violation("an older snapshot came after a newer one");
      c.version_seen = t->version;
    }
    if (std::holds_alternative<barrier_args>(what)) check_round(asked, one);
    c.open.erase(at);
  }

  // Future versions were refused, and nothing comes twice or out of order.
  static void check_changes(watch_keys_args const& asked, outgoing const& one) {
    auto const* const update = std::get_if<key_changes_answer>(&one.what->value);
    if (!update || !asked.after || !one.what->outcome.ok()) return;
    std::uint64_t last = *asked.after;
    for (auto const& change : update->changes) {
      if (change.version <= last) report_violation("a change was reported twice or out of order");
      last = change.version;
    }
    if (update->version < last) report_violation("a watch goes back in time");
  }

  // An item received by one session goes to another only if the first has ended.
  void popped(client& by, outgoing const& one) {
    auto const number = std::get<value_answer>(one.what->value).version;
    for (auto& c : clients_) c.must_be_over = c.items.erase(number) > 0 || c.must_be_over;
    by.items.insert(number);
  }

  // All receivers of a round's outcome get the same. Rounds begin at 1 in each epoch, which guests'
  // requests do not state.
  void check_round(client_message const& asked, outgoing const& one) {
    std::optional<round_number> number;
    if (auto const* const b = std::get_if<barrier_answer>(&one.what->value)) number = b->round;
    if (auto const* const f = std::get_if<barrier_failure>(&one.what->value)) number = f->round;
    if (!number || !names_last_) return;
    if (logic_->options().elastic && asked.epoch == 0) return;
    auto const& name = std::get<barrier_args>(asked.what).name;
    auto const [at, is_first] =
        outcomes_.emplace(std::tuple{asked.epoch, name, *number}, one.what->outcome);
    if (!is_first && at->second != one.what->outcome) {
      report_violation("round ", *number, " of '", name, "' ended twice: ", at->second, "; ",
                       one.what->outcome);
    }
  }

  void end() {
    if (rng_.one_in(2)) {
      die_out();
    } else {
      static_cast<void>(logic_->put_in(now_, stopped{"the end"}));
      check_all_answered();
      settle();
    }
    static_cast<void>(logic_->put_in(now_, stopped{"the end"}));
    auto const seen = logic_->look(now_);
    if (seen.sessions != 0) report_violation("a session has survived its end");
    if (!seen.barriers.empty()) report_violation("a barrier has survived its callers");
    if (seen.waiting_gets != 0) report_violation("a get has survived its caller");
    if (seen.waiting_pops + seen.waiting_key_watches != 0) {
      report_violation("a pop or a watch has survived its caller");
    }
    if (seen.keys == 0 && seen.queued_items == 0 && seen.memory_bytes != 0) {
      report_violation(seen.memory_bytes, " bytes of memory are lost");
    }
  }

  // The stop answers all open requests before the goodbye.
  void check_all_answered() {
    std::vector<outgoing> out;
    logic_->take_outgoing(out);
    for (auto const& one : out) {
      auto const at = by_connection_.find(one.to);
      if (at == by_connection_.end()) continue;
      client& c = clients_[at->second];
      if (one.in_reply_to != request_id{} && !c.deaf) answered(c, one);
      if (!std::holds_alternative<goodbye>(one.what->value) || c.deaf || !c.greeted) continue;
      for (auto const& [id, call] : c.open) {
        bool const is_held = std::find(c.unknown.begin(), c.unknown.end(), id) == c.unknown.end();
        if (call.sent && is_held) {
          report_violation("request ", id, " of kind ", call.message.what.index(),
                           " was not answered at the stop");
        }
      }
    }
    for (auto const& one : out) {
      if (std::holds_alternative<goodbye>(one.what->value))
        logic_->lost(now_, one.to, loss::closed);
    }
    for (auto& c : clients_) c = client{};
    by_connection_.clear();
    bare_.clear();
  }

  // All connections are lost, all grace periods end, and then a client removes the keys.
  void die_out() {
    for (auto& c : clients_) {
      lose(c);
      settle();
    }
    pass(logic_->options().heartbeat_timeout * 3);
    for (auto& c : clients_) forget_session(c);
    auto& last = clients_[0];
    for (int i = 0; i < 50 && !last.greeted; ++i) {
      connect(last);
      settle();
      if (last.connection == connection_id{}) last.session.reset();
    }
    if (!last.greeted) return;
    check_count(last);
    if (!last.greeted) return;
    request_once(last, remove_tree_args{"", true});
    say(last, bye_args{});
    settle();
  }

  // The counter is between the increments known to have succeeded and those that may have.
  void check_count(client& c) {
    auto const found = request_once(c, try_get_args{"counted"});
    std::uint64_t count = 0;
    if (auto const* const v = std::get_if<value_answer>(&found->value)) {
      count = std::strtoull(std::string{v->value.view()}.c_str(), nullptr, 10);
    }
    if (count < sums_.size() || count > sums_.size() + uncertain_) {
      report_violation("counted ", count, ", but ", sums_.size(), " got that reply and ",
                       uncertain_, " are uncertain");
    }
  }

  answer_ptr request_once(client& c, request what) {
    client_message m{.id = request_id{++c.last_id.value},
                     .answered_through = c.answered,
                     .what = std::move(what)};
    logic_->received(now_, c.connection, std::move(m));
    std::vector<outgoing> out;
    logic_->take_outgoing(out);
    ++c.answered;
    return out.at(0).what;
  }

  std::vector<duration> const long_times_{100ms, 700ms, 2s, 12s};

  test::random_source rng_;
  time_point now_{start};
  std::unique_ptr<coordinator> logic_;
  std::vector<client> clients_;
  std::map<connection_id, std::size_t> by_connection_;
  std::set<connection_id> bare_;  // of no client, or abandoned by one
  std::set<task_id> granted_;     // some session granted guests access to them
  std::set<connection_id> sent_goodbye_;
  std::vector<std::pair<connection_id, client_message>> late_;
  std::uint32_t secrets_{};
  bool names_last_{};
  bool is_calm_{};  // few faults, so that long waits can complete
  std::set<std::int64_t> sums_;
  std::uint64_t uncertain_{};
  request_id cancelled_{};
  std::map<std::tuple<std::uint64_t, std::string, round_number>, status> outcomes_;
  std::string transcript_;
};

}  // namespace

std::string run_world(test::random_source rng) {
  world w{rng};
  w.run();
  return w.transcript();
}

}  // namespace coxswain::core
