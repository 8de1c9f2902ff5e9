#include "tests/sim/relay_process.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/routed.hpp"
#include "tests/sim/world.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

// From the end of a process's connection to its own, as in the real relay.
constexpr duration exit_max = 100ms;

std::string frame_of(core::answer const& what) {
  auto const encoded = wire::encode(what);
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  return frame.append(encoded.head).append(encoded.tail.view());
}

core::session_secret any_secret(generator& random) {
  core::session_secret secret;
  for (auto& byte : secret) byte = static_cast<std::uint8_t>(between(random, 0, 255));
  return secret;
}

}  // namespace

void relay_process::start(std::uint64_t seed) {
  agent_options o;
  o.addresses = {"simulated:1"};
  o.hello.label = address;
  o.hello.relay = true;
  o.seed = seed;
  bodies_.push_back(std::make_unique<process>(std::move(o), std::nullopt));
  body().relay = this;
  body().number = ~std::size_t{};
  board_ = coxswain::relay::switchboard{frame_of({})};
  failure_.reset();
  exits_.clear();
  passed_.clear();
  body().logic.start(in_.now);
}

void relay_process::die() {
  in_.kill(body());
  trunk_lost();
  for (auto* const all : {&arrived_, &waiting_}) {
    for (client const& one : std::exchange(*all, {})) forget(one);
  }
}

void relay_process::take_output(std::string& into) {
  if (is_up_) into += std::exchange(board_.output(), {});
}

void relay_process::accept(std::shared_ptr<link> line, process& of) {
  line->relay_knows = true;
  arrived_.push_back({std::move(line), &of});
}

// In the order of the real one.
void relay_process::step() {
  board_.reply_to_heartbeats(in_.now - heard_at_ < period_ * 5 / 8);
  receive();
  if (auto const next = body().logic.next_deadline(); next && *next <= in_.now) {
    body().logic.advance(in_.now);
    note_trunk();
  }
  admit();
  for (auto at = clients_.begin(); at != clients_.end();) {
    auto& [route, one] = *at;
    read(one);
    pass(route, one);
    if (has_ended(one)) {
      close(route, one);
      at = clients_.erase(at);
    } else {
      ++at;
    }
  }
  if (wrong_ == relay_bug::repeated_exits) repeat_exits();
  report_living();
  std::vector<std::uint32_t> changed;
  board_.take_changed(changed);
  for (auto& [route, one] : clients_) write(route, one);
}

void relay_process::receive() {
  process& me = body();
  auto const line = me.line;
  if (!line || line->down.next() > in_.now) return;
  if (std::string const bytes = line->down.take(in_.now); !bytes.empty()) {
    heard_at_ = in_.now;
    me.logic.received(in_.now, {});
    frames_.feed(bytes);
    if (status const why = take_frames(line); !why.ok()) {
      in_.faults_of_relays.push_back(address + ": " + why.text());
      line->up.finish(in_.now, in_.random, line->delay_max);
      return lose(why);
    }
  }
  if (line->down.stopped()) {
    line->down.cut(in_.now, in_.random, 0ns);
    line->up.cut(in_.now, in_.random, 5ms);
  }
  if (line->down.ended()) lose({errc::unavailable, "connection reset"});
}

status relay_process::take_frames(std::shared_ptr<link> const& over) {
  while (body().line == over) {
    auto const frame = frames_.next();
    if (!frame) return frame.error();
    if (!*frame) break;
    if (is_up_ && wire::is_routed(**frame)) {
      if (status why = board_.received(**frame); !why.ok()) return why;
      continue;
    }
    std::string whole;
    wire::append_length(whole, (*frame)->size());
    body().logic.received(in_.now, whole.append(**frame));
    note_trunk();
  }
  return {};
}

void relay_process::lose(status const& why) {
  body().line.reset();
  body().logic.lost(in_.now, why);
  note_trunk();
}

void relay_process::note_trunk() {
  auto const& logic = body().logic;
  if (logic.up() == is_up_) return;
  if (!logic.up()) return trunk_lost();
  is_up_ = true;
  failure_.reset();
  period_ = logic.session()->heartbeat_period;
  if (period_ == 0ns) period_ = logic.session()->heartbeat_timeout / 3;
  reports_at_ = in_.now + period_;
}

// Its clients connect again.
void relay_process::trunk_lost() {
  is_up_ = false;
  reports_at_ = time_point::max();
  for (auto const& [route, one] : std::exchange(clients_, {})) forget(one);
  board_.reset();
}

void relay_process::forget(client const& one) {
  one.line->relay_knows = false;
  one.line->down.finish(in_.now, in_.random, local_delay_max);
}

void relay_process::admit() {
  for (client& one : std::exchange(arrived_, {})) waiting_.push_back(std::move(one));
  if (!is_up_ && !failure_) return;
  for (client& one : std::exchange(waiting_, {})) {
    if (!is_up_) {
      dismiss(one, *failure_);
    } else if (one.line->up.end() <= in_.now) {
      forget(one);  // it has gone on elsewhere
    } else {
      clients_.emplace(board_.open(any_secret(in_.random), "simulated"), std::move(one));
    }
  }
}

void relay_process::dismiss(client const& one, status const& why) {
  core::answer last;
  status reason{errc::unavailable, "the relay cannot reach the coordinator: " + why.message()};
  last.value = core::goodbye{std::move(reason), true};
  one.line->down.send(in_.now, in_.random, local_delay_max, frame_of(last));
  forget(one);
}

void relay_process::read(client& one) {
  if (one.gives_up_at || one.line->up.next() > in_.now) return;
  std::string bytes = one.line->up.take(in_.now);
  if (in_.change_up) bytes = in_.change_up(*one.of, *one.line, bytes);
  if (one.line->up.stopped()) {
    one.line->up.cut(in_.now, in_.random, 0ns);
    one.line->down.cut(in_.now, in_.random, 5ms);
  }
  if (one.leaves) return;
  if (wrong_ == relay_bug::repeated_frames) return repeat(one, bytes);
  one.unread += bytes;
}

void relay_process::repeat(client& one, std::string_view bytes) {
  one.frames.feed(bytes);
  for (auto frame = one.frames.next(); frame && *frame; frame = one.frames.next()) {
    std::string whole;
    wire::append_length(whole, (*frame)->size());
    one.unread += whole.append(**frame);
    auto& last = passed_[one.of];
    if (!std::exchange(one.is_greeted, true)) one.unread += last;
    last = std::move(whole);
  }
}

void relay_process::pass(std::uint32_t route, client& one) {
  auto const some = std::min(board_.room(route), one.unread.size());
  if (some == 0) return;
  board_.content(route, std::string_view{one.unread}.substr(0, some));
  one.unread.erase(0, some);
}

// A process closes its sockets a little before its end is visible.
bool relay_process::has_ended(client& one) {
  if (!one.gives_up_at && one.line->up.ended() && one.unread.empty()) {
    one.gives_up_at = one.leaves ? in_.now : in_.now + exit_max;
  }
  return one.gives_up_at && (!one.of->alive || *one.gives_up_at <= in_.now);
}

void relay_process::close(std::uint32_t route, client const& one) {
  bool const is_wrong =
      one.of->alive ? wrong_ == relay_bug::mistaken_exit : wrong_ == relay_bug::forgotten_exit;
  board_.closed(route, one.of->alive == is_wrong);
  if (!one.of->alive) {
    one.of->is_reported = one.of->line == one.line;
    exits_.push_back(route);
  }
  one.line->relay_knows = false;
}

void relay_process::write(std::uint32_t route, client& one) {
  if (one.leaves || (one.line->unread_until > in_.now && !one.gives_up_at)) return;
  for (auto text = board_.to_write(route); !text.empty(); text = board_.to_write(route)) {
    std::string bytes{text};
    board_.wrote(route, bytes.size());
    if (one.gives_up_at) continue;
    if (in_.change_down) bytes = in_.change_down(*one.of, *one.line, bytes);
    one.line->down.send(in_.now, in_.random, local_delay_max, bytes);
  }
  if (!board_.ends(route)) return;
  one.leaves = true;
  one.unread.clear();
  if (one.gives_up_at) one.gives_up_at = in_.now;
  one.line->down.finish(in_.now, in_.random, local_delay_max);
}

// Those of the last trunk.
void relay_process::repeat_exits() {
  for (auto const& [route, one] : clients_) {
    if (std::erase(exits_, route) > 0) wire::append_closed(board_.output(), route, true);
  }
}

void relay_process::report_living() {
  if (in_.now < reports_at_) return;
  reports_at_ = in_.now + period_;
  if (wrong_ != relay_bug::forgetful_list) return board_.report_living();
  std::vector<std::uint32_t> silent;
  for (auto const& [route, one] : clients_) {
    if (route % 2 == 1) silent.push_back(route);
  }
  wire::append_living(board_.output(), silent);
}

time_point relay_process::next_event() const {
  if (!is_alive()) return time_point::max();
  time_point next = std::min(reports_at_, body().logic.next_deadline().value_or(time_point::max()));
  if (!arrived_.empty() || (!waiting_.empty() && failure_)) next = in_.now;
  for (auto const& [route, one] : clients_) {
    if (one.gives_up_at) {
      next = std::min(next, one.of->alive ? *one.gives_up_at : in_.now);
      continue;
    }
    next = std::min(next, one.line->up.next());
    if (!one.leaves && one.line->unread_until > in_.now && !board_.to_write(route).empty()) {
      next = std::min(next, one.line->unread_until);
    }
  }
  return std::max(next, body().paused_until);
}

}  // namespace coxswain::sim
