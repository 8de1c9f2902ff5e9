#include "tests/core/cluster.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace coxswain::test {
namespace {

template <class... Visitors>
struct overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
overloaded(Visitors...) -> overloaded<Visitors...>;  // clang 14 does not deduce the type

}  // namespace

void expect_words(std::string_view text, std::vector<std::string_view> const& parts) {
  std::size_t at = 0;
  for (std::string_view const part : parts) {
    std::size_t const found = text.find(part, at);
    BOOST_TEST_CONTEXT("in: " << text) {
      BOOST_TEST(found != text.npos, "expected here: " << part);
    }
    if (found == text.npos) return;
    at = found + part.size();
  }
}

cluster::cluster(std::uint32_t tasks, core::config options)
    : cluster{tasks, std::move(options), true} {}

cluster cluster::without_clients(std::uint32_t tasks, core::config options) {
  return {tasks, std::move(options), false};
}

cluster::cluster(std::uint32_t tasks, core::config options, bool joined) {
  options.num_tasks = tasks;
  logic_ = std::make_unique<core::coordinator>(options, coordinator_self, now_);
  beat_period_ = options.heartbeat_timeout / 3;
  next_beat_ = now_ + beat_period_;
  if (!joined) return;
  checks_ = tasks <= 100;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    int const c = observer("host" + std::to_string(i) + ":" + std::to_string(1000 + i));
    join({c, i}, 100 + i);
  }
  for (auto const& c : clients_) {
    BOOST_TEST_REQUIRE(c->open.empty(), "all must have joined");
    c->answers.clear();
    c->pushes.clear();
  }
  transcript_.clear();
  log_.clear();
}

// The stop answers every waiting request; afterwards no state of any client is left.
cluster::~cluster() {
  if (std::uncaught_exceptions() > 0) return;
  bool const expects_answers = !std::exchange(stopped_, true) && !logic_->is_stopping();
  std::vector<std::size_t> listening;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (clients_[i]->connection != connection_id{} && !clients_[i]->deaf) listening.push_back(i);
  }
  if (expects_answers && !listening.empty() && look().keys > 0) {
    clients_[listening.front()]->epoch = 0;
    remove_tree(static_cast<int>(listening.front()), "", true);
  }
  if (expects_answers) stop("end of the test");
  for (std::size_t const i : listening) {
    if (!expects_answers) break;
    for (auto const& [id, o] : clients_[i]->open) {
      BOOST_ERROR("client " << i << " got no answer to request " << id << ", kind "
                            << o.message.what.index());
    }
  }
  auto const end = look();
  BOOST_TEST(end.sessions == 0u);
  BOOST_TEST(end.barriers.empty());
  BOOST_TEST(end.waiting_gets == 0u);
  clients_.clear();
  BOOST_TEST(end.waiting_pops == 0u);
  BOOST_TEST(end.waiting_key_watches == 0u);
  BOOST_TEST(end.leased_items == 0u);
  BOOST_TEST(end.locks_held + end.waiting_locks == 0u);
  BOOST_TEST(end.spares_waiting == 0u);
  if (end.keys == 0 && end.queued_items == 0) BOOST_TEST(logic_->memory()->used() == 0u);
}

cluster& cluster::step(time_point to) {
  now_ = std::max(now_, to);
  logic_->advance(now_);
  return settle();
}

cluster& cluster::at(duration since_start) {
  time_point const to = t0 + since_start;
  BOOST_TEST_REQUIRE((to >= now_), "time does not go backwards");
  for (;;) {
    auto const next = logic_->next_deadline();
    time_point const stop_at = std::min(next.value_or(to), next_beat_);
    if (stop_at > to) break;
    now_ = std::max(now_, stop_at);
    beat_until(now_);
    if (next && *next <= now_)
      step(now_);
    else if (now_ == to)
      break;
  }
  return step(to);
}

void cluster::beat_until(time_point to) {
  while (next_beat_ <= to) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      client const& c = *clients_[i];
      if (c.beats && c.hello && c.connection != connection_id{}) heartbeat(static_cast<int>(i));
    }
    next_beat_ += beat_period_;
  }
}

cluster& cluster::stall(duration more) {
  now_ += more;
  next_beat_ = std::max(next_beat_, now_ + 1ns);
  return step(now_);
}

connection_id cluster::dial(std::string peer) {
  core::session_secret secret{};
  secret[0] = ++secrets_;
  secret[15] = static_cast<std::uint8_t>(secrets_ * 7);
  connection_id const id = logic_->connected(now_, std::move(peer), secret);
  bare_.emplace(id, std::nullopt);
  settle();
  return id;
}

cluster& cluster::say(connection_id from, core::client_message message) {
  logic_->received(now_, from, std::move(message));
  return settle();
}

int cluster::observer(std::string label) {
  core::hello_args args{.label = std::move(label)};
  std::string const peer = "10.0.0." + std::to_string(clients_.size()) + ":5000";
  int const c = hello(std::move(args), peer);
  BOOST_TEST_REQUIRE((*this)[c].hello.has_value());
  return c;
}

int cluster::hello(core::hello_args args, std::string peer) {
  auto const index = clients_.size();
  auto& c = *clients_.emplace_back(std::make_unique<client>());
  c.label = args.label;
  c.peer = peer;
  c.connection = dial(std::move(peer));
  if (bare_.at(c.connection)) {
    c.goodbye = bare_.at(c.connection);
    c.connection = {};
    return static_cast<int>(index);
  }
  bare_.erase(c.connection);
  by_connection_.emplace(c.connection, index);
  say(c.connection, core::client_message{.what = std::move(args)});
  return static_cast<int>(index);
}

cluster& cluster::lose(int who, core::loss how) {
  client& c = (*this)[who];
  connection_id const gone = std::exchange(c.connection, {});
  by_connection_.erase(gone);
  logic_->lost(now_, gone, how);
  return settle();
}

core::resume_args cluster::resume_of(int who) const {
  client const& c = *clients_[static_cast<std::size_t>(who)];
  core::resume_args args{
      .session = c.hello->session, .secret = c.hello->secret, .coordinator = c.hello->coordinator};
  for (auto const& [id, o] : c.open) {
    if (o.sent) args.open.push_back(id);
  }
  return args;
}

cluster& cluster::resume(int who) { return resume_on(who, dial((*this)[who].peer)); }

cluster& cluster::resume_on(int who, connection_id on) {
  client& c = (*this)[who];
  if (c.connection != connection_id{}) {
    // The client abandons the old connection silently: messages of the coordinator to it are lost.
    by_connection_.erase(c.connection);
    bare_.emplace(c.connection, std::nullopt);
  }
  bare_.erase(on);
  c.connection = on;
  c.resumed.reset();
  by_connection_.emplace(on, static_cast<std::size_t>(who));
  return say(on, core::client_message{.answered_through = c.answered, .what = resume_of(who)});
}

// Resends requests unknown to the coordinator with their remaining time, then the queued ones.
void cluster::resumed(std::size_t index) {
  client& c = *clients_[index];
  auto const unknown = c.resumed->unknown;
  for (request_id const id : unknown) {
    auto const at = c.open.find(id);
    BOOST_TEST((at != c.open.end()), "unknown is what is open");
    if (at != c.open.end()) transmit(c, at->second);
  }
  std::vector<request_id> waiting;
  for (auto const& [id, o] : c.open) {
    if (!o.sent) waiting.push_back(id);
  }
  for (request_id const id : waiting) {
    if (auto const at = c.open.find(id); at != c.open.end()) transmit(c, at->second);
  }
}

cluster& cluster::bye(int who, bool abandoned) {
  client& c = (*this)[who];
  core::client_message m{.answered_through = c.answered, .what = core::bye_args{abandoned}};
  return say(c.connection, std::move(m));
}

cluster& cluster::heartbeat(int who) {
  client& c = (*this)[who];
  return say(c.connection, core::client_message{.answered_through = c.answered});
}

cluster& cluster::heard(int who) {
  logic_->heard(now_, (*this)[who].connection);
  return settle();
}

cluster& cluster::malformed(int who, std::string why) {
  logic_->malformed(now_, (*this)[who].connection, std::move(why));
  return settle();
}

cluster& cluster::write_blocked(int who) {
  logic_->write_blocked(now_, (*this)[who].connection);
  return settle();
}

cluster& cluster::write_progressed(int who) {
  logic_->write_progressed(now_, (*this)[who].connection);
  return settle();
}

cluster& cluster::reading_paused(int who) {
  logic_->reading_paused(now_, (*this)[who].connection);
  return settle();
}

cluster& cluster::reading_resumed(int who) {
  logic_->reading_resumed(now_, (*this)[who].connection);
  return settle();
}

cluster& cluster::task_ended(std::uint32_t task, status why) {
  static_cast<void>(logic_->put_in(now_, core::process_ended{task_id{task}, std::move(why)}));
  return settle();
}

status cluster::operator_cancels(std::string name, std::optional<std::uint64_t> round,
                                 std::string by) {
  core::cancel_barrier_args what{std::move(name), {}};
  if (round) what.round = round_number{*round};
  auto outcome = logic_->put_in(now_, core::round_cancelled{std::move(what), std::move(by)});
  settle();
  return outcome;
}

cluster& cluster::stop(std::string reason) {
  stopped_ = true;
  static_cast<void>(logic_->put_in(now_, core::stopped{std::move(reason)}));
  return settle();
}

call cluster::send(caller who, core::request what, duration timeout) {
  client& c = *clients_[who.client];
  client::open_call o;
  o.message.id = request_id{++c.last_id.value};
  o.message.task = who.task;
  o.message.what = std::move(what);
  o.message.epoch = c.epoch;
  o.deadline = deadline_after(now_, timeout);
  request_id const id = o.message.id;
  auto const at = c.open.emplace(id, std::move(o)).first;
  if (c.connection != connection_id{}) transmit(c, at->second);
  return {who.client, id};
}

void cluster::transmit(client& c, client::open_call& what) {
  what.sent = true;
  core::client_message m = what.message;
  m.answered_through = c.answered;
  std::visit(overloaded{[&](auto& args) {
               if constexpr (requires { args.timeout; }) {
                 args.timeout =
                     what.deadline == time_point::max() ? without_limit : what.deadline - now_;
               }
             }},
             m.what);
  say(c.connection, std::move(m));
}

call cluster::join(caller who, std::uint64_t self, duration timeout, joining extra) {
  core::join_args args{incarnation{self}, timeout, extra.recoverable, extra.take_over};
  args.with_hello = extra.with_hello;
  args.is_jax = extra.is_jax;
  return send(who, std::move(args), timeout);
}
call cluster::reset(caller who, std::uint64_t self) {
  return send(who, core::reset_args{incarnation{self}});
}
call cluster::leave(caller who, duration timeout, bool returning) {
  return send(who, core::leave_args{timeout, returning}, timeout);
}
call cluster::report_error(caller who, errc code, std::string message) {
  return send(who, core::report_error_args{status{code, std::move(message)}});
}
call cluster::barrier(caller who, std::string name, duration timeout, asking extra) {
  core::barrier_args args{.name = std::move(name)};
  for (std::uint32_t const t : extra.among) args.participants.push_back(task_id{t});
  args.gather = extra.gather.has_value();
  args.data = extra.gather.value_or(std::move(extra.operand));
  args.progress_every = extra.progress_every;
  args.reduce = extra.reduce;
  args.fail_when_lost = extra.fail_when_lost;
  args.of_jax_tasks = extra.of_jax_tasks;
  return send(who, std::move(args), timeout);
}
call cluster::cancel(caller who, std::string name, std::optional<std::uint64_t> round) {
  core::cancel_barrier_args args{.name = std::move(name)};
  if (round) args.round = round_number{*round};
  return send(who, std::move(args));
}
call cluster::count_barrier(caller who, std::string name, std::uint32_t count, duration timeout) {
  return send(who, core::count_barrier_args{std::move(name), count, timeout}, timeout);
}
call cluster::put(caller who, std::string key, std::string value, bool overwrite) {
  return send(who, core::put_args{std::move(key), std::move(value), overwrite, false});
}
call cluster::get(caller who, std::string key, duration timeout) {
  return send(who, core::get_args{std::move(key), timeout}, timeout);
}
call cluster::try_get(caller who, std::string key) {
  return send(who, core::try_get_args{std::move(key)});
}
call cluster::list(caller who, std::string directory) {
  return send(who, core::list_args{std::move(directory)});
}
call cluster::remove(caller who, std::string key) {
  return send(who, core::remove_args{std::move(key)});
}

call cluster::remove_tree(caller who, std::string directory, bool all) {
  return send(who, core::remove_tree_args{std::move(directory), all});
}
call cluster::increment(caller who, std::string key, std::int64_t by) {
  return send(who, core::increment_args{std::move(key), by});
}
call cluster::inspect(caller who) { return send(who, core::inspect_args{}); }
call cluster::put_owned(caller who, std::string key, std::string value, bool overwrite) {
  return send(who, core::put_args{std::move(key), std::move(value), overwrite, true});
}
call cluster::compare_and_set(caller who, std::string key, core::expected_value expected,
                              std::string value, bool ephemeral) {
  return send(who, core::compare_and_set_args{std::move(key), std::move(value), std::move(expected),
                                              ephemeral});
}
call cluster::append(caller who, std::string key, std::string value) {
  return send(who, core::append_args{std::move(key), std::move(value)});
}
call cluster::get_all(caller who, std::vector<std::string> keys, duration timeout) {
  return send(who, core::get_all_args{std::move(keys), timeout}, timeout);
}
call cluster::put_all(caller who, std::vector<core::put_all_args::entry> entries, bool overwrite) {
  return send(who, core::put_all_args{std::move(entries), overwrite});
}
call cluster::count_keys(caller who, std::string directory) {
  return send(who, core::count_keys_args{std::move(directory)});
}
call cluster::push(caller who, std::string queue, std::string value) {
  return send(who, core::push_args{std::move(queue), std::move(value)});
}
call cluster::lock(caller who, std::string name, duration timeout) {
  return send(who, core::lock_args{std::move(name), timeout}, timeout);
}
call cluster::try_lock(caller who, std::string name) {
  return send(who, core::try_lock_args{std::move(name)});
}
call cluster::unlock(caller who, std::string name, std::uint64_t token) {
  return send(who, core::unlock_args{std::move(name), token});
}
call cluster::take(caller who, std::string queue, duration lease, duration timeout) {
  return send(who, core::take_args{std::move(queue), timeout, lease}, timeout);
}
call cluster::update_lease(caller who, call taken, core::lease_change change, duration lease) {
  auto const& item = *body<core::value_answer>(taken);
  return send(who, core::update_lease_args{item.version, item.redeliveries.value(), change, lease});
}
call cluster::pop(caller who, std::string queue, duration timeout) {
  return send(who, core::pop_args{std::move(queue), timeout}, timeout);
}
call cluster::watch_keys(caller who, std::string directory, std::optional<std::uint64_t> after,
                         duration timeout) {
  return send(who, core::watch_keys_args{std::move(directory), after, timeout}, timeout);
}

cluster& cluster::cancel(call what) {
  client& c = *clients_[what.client];
  bool const sent = c.open.at(what.id).sent;
  c.open.erase(what.id);
  if (!sent || c.connection == connection_id{}) return *this;
  core::client_message m{.answered_through = c.answered, .what = core::cancel_args{what.id}};
  return say(c.connection, std::move(m));
}
call cluster::exchange(caller who, std::string platform, core::local_topology mine,
                       duration timeout) {
  return send(who, core::exchange_topology_args{std::move(platform), std::move(mine)}, timeout);
}
call cluster::enrol(int who, std::string member, std::vector<std::string> placement,
                    duration timeout) {
  core::join_args args{incarnation{500 + static_cast<std::uint64_t>(who)}, timeout};
  args.any = true;
  args.member = std::move(member);
  args.placement = std::move(placement);
  return send(who, std::move(args), timeout);
}
call cluster::next_epoch(caller who, bool shrink_only, duration timeout) {
  return send(who, core::next_epoch_args{timeout, clients_[who.client]->epoch, shrink_only},
              timeout);
}
call cluster::preempt(caller who, std::uint32_t task, duration in) {
  return send(who, core::preempt_args{task_id{task}, in});
}
call cluster::frozen(caller who, std::uint64_t agreement, std::uint64_t step) {
  return send(who, core::frozen_args{agreement, step});
}

call cluster::abstain(caller who, std::uint64_t agreement) {
  return send(who, core::frozen_args{agreement, 0, true});
}

void cluster::checked() {
  if (!checks_) return;
  logic_->check_invariants();
  if (reloads_) reload();
}

void cluster::reload() {
  std::string const saved = snapshot();
  auto loaded = core::coordinator::load(logic_->options(), saved, t0);
  BOOST_TEST_REQUIRE(loaded.has_value(), loaded.error().message());
  BOOST_TEST(loaded->digest() == logic_->digest());
  *logic_ = *std::move(loaded);
  logic_->check_invariants();
}

std::string cluster::snapshot() const {
  std::string whole;
  logic_->save([&whole](std::string_view bytes) { whole += bytes; });
  return whole;
}

cluster& cluster::settle() {
  checked();
  std::vector<core::outgoing> out;
  std::vector<core::event> events;
  for (;;) {
    logic_->take_outgoing(out);
    logic_->take_events(events);
    for (auto const& e : events) log_ += e.text + '\n';
    for (auto const& one : out) deliver(one);
    out.clear();
    if (!to_close_.empty()) {
      for (connection_id const id : std::exchange(to_close_, {})) {
        logic_->lost(now_, id, core::loss::closed);
        checked();
      }
    } else if (!resumed_.empty()) {
      for (std::size_t const index : std::exchange(resumed_, {})) resumed(index);
    } else if (!probed_.empty()) {
      for (std::size_t const index : std::exchange(probed_, {})) {
        if (clients_[index]->beats) heartbeat(static_cast<int>(index));
      }
    } else {
      return *this;
    }
  }
  return *this;
}

status cluster::put_in(core::owner_input what) {
  status outcome = logic_->put_in(now_, std::move(what));
  settle();
  return outcome;
}

void cluster::deliver(core::outgoing const& one) {
  if (one.to == connection_id{}) {
    wanted_.push_back(std::get<core::stacks_wanted>(one.what->value));
    return;
  }
  auto const* const goodbye = std::get_if<core::goodbye>(&one.what->value);
  if (goodbye) to_close_.push_back(one.to);
  auto const at = by_connection_.find(one.to);
  if (at == by_connection_.end()) {
    auto const bare = bare_.find(one.to);
    BOOST_TEST((bare != bare_.end()), "something was sent to a connection that is gone");
    if (bare == bare_.end()) return;
    BOOST_TEST(!bare->second.has_value(), "something was sent after a goodbye");
    if (goodbye) bare->second = *goodbye;
    return;
  }
  std::size_t const index = at->second;
  client& c = *clients_[index];
  if (goodbye) {
    by_connection_.erase(at);
    c.connection = {};
    bare_.emplace(one.to, *goodbye);
    if (!c.deaf) c.goodbye = *goodbye;
    return;
  }
  if (c.deaf) return;
  if (one.in_reply_to != request_id{}) return reply_to(c, index, one);
  push_to(c, one.what);
  if (auto const* const r = std::get_if<core::resume_answer>(&one.what->value)) {
    c.resumed = *r;
    resumed_.push_back(index);
  }
  if (std::holds_alternative<core::probe>(one.what->value)) probed_.push_back(index);
}

void cluster::reply_to(client& c, std::size_t index, core::outgoing const& one) {
  BOOST_TEST(c.open.contains(one.in_reply_to),
             "client " << index << " got a reply to " << one.in_reply_to << ", which is not open");
  BOOST_TEST((!c.answers.contains(one.in_reply_to)), "a second reply to " << one.in_reply_to);
  c.open.erase(one.in_reply_to);
  c.answers.emplace(one.in_reply_to, one.what);
  note_epoch(c, *one.what);
  ++c.answered;
  if (!transcript_.empty()) transcript_ += ' ';
  transcript_ += std::to_string(index) + ':' + std::string{name(one.what->outcome.code())};
}

void cluster::note_epoch(client& c, core::answer const& what) {
  if (auto const* const e = std::get_if<core::epoch_answer>(&what.value)) c.epoch = e->number;
  auto const* const joined = std::get_if<core::join_answer>(&what.value);
  if (joined && joined->epoch) c.epoch = joined->epoch->number;
}

void cluster::push_to(client& c, core::answer_ptr const& what) {
  note_epoch(c, *what);
  if (auto const* const h = std::get_if<boxed<core::hello_answer>>(&what->value)) {
    BOOST_TEST(!c.hello.has_value());
    c.hello = **h;
    return;
  }
  BOOST_TEST(c.hello.has_value(), "a push before the answer to the Hello");
  c.pushes.push_back(what);
}

core::answer const* cluster::answer_to(call of) const {
  auto const& answers = clients_[of.client]->answers;
  auto const at = answers.find(of.id);
  return at == answers.end() ? nullptr : at->second.get();
}

std::string cluster::text(call of) const {
  auto const* const a = answer_to(of);
  return a ? a->outcome.message() : "";
}

status cluster::outcome(call of) const {
  auto const* const a = answer_to(of);
  return a ? a->outcome : status{};
}

std::string cluster::value(call of) const {
  auto const* const v = body<core::value_answer>(of);
  return v ? std::string{v->value.view()} : code(of);
}

std::string cluster::version(call of) const {
  if (auto const* const s = body<core::stored_answer>(of)) return std::to_string(s->version);
  auto const* const sum = body<core::counter_answer>(of);
  return sum ? std::to_string(sum->version) : code(of);
}

std::string cluster::listing(call of) const {
  auto const* const l = body<core::listing_answer>(of);
  if (!l) return code(of);
  std::string all;
  for (auto const& e : l->entries) {
    all += (all.empty() ? "" : " ") + e.key + "=" + std::string{e.value.view()};
  }
  return all;
}

std::string cluster::changes(call of) const {
  auto const* const update = body<core::key_changes_answer>(of);
  if (!update) return code(of);
  std::string all = answer_to(of)->outcome.ok() ? "" : code(of) + " ";
  for (auto const& change : update->changes) {
    all += change.key + "=" + (change.value ? std::string{change.value->view()} : "-") + " ";
  }
  return all + "to " + std::to_string(update->version);
}

std::string cluster::count(call of) const {
  auto const* const n = body<core::count_answer>(of);
  return n ? std::to_string(n->count) : code(of);
}

std::string cluster::round(call of) const {
  if (auto const* const b = body<core::barrier_answer>(of)) {
    std::string text = "round " + std::to_string(b->round.value);
    for (std::size_t i = 0; i < b->data.size(); ++i) {
      text.append(i == 0 ? ": " : "|").append(b->data[i].view());
    }
    return text;
  }
  if (auto const* const f = body<barrier_failure>(of)) {
    return "round " + std::to_string(f->round.value) + ' ' + code(of) + ' ' +
           std::to_string(f->arrived) + '/' + std::to_string(f->expected) + " missing " +
           f->missing;
  }
  return code(of);
}

std::string cluster::epoch(call of) const {
  auto const* e = body<core::epoch_answer>(of);
  if (auto const* const j = body<core::join_answer>(of); j && j->epoch) e = &*j->epoch;
  if (!e) return code(of);
  std::string text = std::to_string(e->number) + ": " + std::to_string(e->rank.value) + " of " +
                     std::to_string(e->size);
  if (e->lost > 0) text += " -" + std::to_string(e->lost);
  if (e->joined > 0) text += " +" + std::to_string(e->joined);
  return text;
}

std::string cluster::number(call of) const {
  auto const* const a = body<core::join_answer>(of);
  if (!a || !a->task) return code(of);
  return "task " + std::to_string(a->task->value) + (a->already_started ? ", later" : "");
}

std::string cluster::tasks(call of) const {
  auto const* const a = body<core::tasks_answer>(of);
  if (!a) return code(of);
  std::string all;
  for (auto const& t : a->tasks) {
    all += (all.empty() ? "" : ", ") + std::to_string(t.self.value) + ' ' +
           std::string{t.suspect ? "suspect" : name(t.state)};
  }
  return all;
}

std::string cluster::last_round() const {
  auto const rounds = look().rounds;
  if (rounds.empty()) return "none";
  auto const& r = rounds.back();
  auto const seconds = [](duration d) { return std::to_string(d / 1s) + "s"; };
  return std::to_string(r.number) + ' ' + r.name + " round " + std::to_string(r.round.value) + ' ' +
         std::string{name(r.outcome)} + ' ' + std::to_string(r.tasks) + " tasks at " +
         seconds(r.at) + " spread " + seconds(r.spread) + " lag " + seconds(r.lag) + " last " +
         (r.last_task ? std::to_string(r.last_task->value) : "none");
}

std::string cluster::pushed_error(int who) {
  auto const errors = pushed<job_error>(who);
  if (errors.empty()) return "none";
  failure const& cause = errors.back().cause;
  return "task " + std::to_string(cause.task->value) + ' ' + std::string{name(cause.why.code())};
}

std::string cluster::endings(int who) {
  std::string text;
  for (auto const& e : pushed<core::epoch_ends>(who)) {
    if (!text.empty()) text += "; ";
    text += std::to_string(e.epoch) + (e.why == core::epoch_ends::cause::lost      ? " lost"
                                       : e.why == core::epoch_ends::cause::joiners ? " joiners"
                                                                                   : " asked");
  }
  return text;
}

std::uint64_t cluster::freeze(int who) {
  auto const requests = pushed<core::freeze_request>(who);
  return requests.empty() ? 0 : requests.back().agreement;
}

std::string cluster::progress_of(std::size_t task) const {
  auto const p = look().tasks.at(task).progress;
  if (!p) return "none";
  return "step " + std::to_string(p->step) + ", " + std::to_string(p->age / 1s) + " s old" +
         (p->overdue ? ", overdue" : "");
}

std::string cluster::replies() { return std::exchange(transcript_, {}); }

std::string cluster::goodbye(int who) const {
  auto const& g = clients_[static_cast<std::size_t>(who)]->goodbye;
  if (!g) return "none";
  return std::string{name(g->why.code())} + (g->may_resume ? " may resume: " : ": ") +
         g->why.message();
}

std::string cluster::goodbye_to(connection_id id) const {
  auto const at = bare_.find(id);
  if (at == bare_.end() || !at->second) return "none";
  return std::string{name(at->second->why.code())} +
         (at->second->may_resume ? " may resume: " : ": ") + at->second->why.message();
}

std::string cluster::log() { return std::exchange(log_, {}); }

std::string cluster::state_of(std::uint32_t task) const {
  auto const s = look();
  return s.tasks[task].suspect ? "suspect" : std::string{name(s.tasks[task].state)};
}

std::string cluster::since() const {
  auto const at = look().state.since;
  return at ? core::in_words(std::chrono::milliseconds{at->unix_ms}) : "unknown";
}

std::string cluster::error() const {
  auto const& e = logic_->error();
  if (!e) return "none";
  auto const text = [](failure const& f) {
    return (f.task ? "task " + std::to_string(f.task->value) : std::string{"job"}) + ": " +
           f.why.text();
  };
  std::string all = text(e->cause);
  for (auto const& f : e->later) all += "; " + text(f);
  return all;
}

}  // namespace coxswain::test
