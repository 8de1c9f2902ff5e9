#include "coxswain/server/dispatch.hpp"

#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/line.hpp"
#include "coxswain/wire/codec.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <exception>
#include <new>
#include <utility>

namespace coxswain::server {

using wire::record_kind;

namespace {

// The core's output is moved to the outboxes when it has this many messages (few, so that answers
// reuse cached memory), when the large ones among them have this size, or when only twice that
// memory is left.
constexpr std::size_t unsent_max = 6;
constexpr std::size_t growth_max = 1024 * 1024;

// How many messages ahead the memory of a line is prefetched.
constexpr std::size_t lines_ahead = 4;

// The reserve that completes an operation when memory is exhausted: a fixed part, and one per task.
constexpr std::size_t reserve_bytes = 64 * 1024;
constexpr std::size_t reserve_bytes_per_task = 64;

// So many bytes of a message cost one more step.
constexpr std::size_t bytes_per_step = 4096;

// A waiting connection is not read, so its silence does not count: how often the core is informed
// that it lives.
constexpr duration heard_period = 50ms;

// The capacity kept between iterations, in messages of the core.
constexpr std::size_t outgoing_room = 1024;

}  // namespace

dispatch::dispatch(options const& o, incarnation self, time_point now)
    : recorder_{o, self, now},
      core_{o.core, self, now},
      door_{door_options_of(o, now), self, *this, core_.memory()},
      events_{std::make_unique<grpc_events>()},
      encoder_{core_.memory()},
      log_{o.log},
      for_requests_{reserve_bytes + reserve_bytes_per_task * o.core.num_tasks},
      for_ends_{reserve_bytes + reserve_bytes_per_task * o.core.num_tasks},
      queued_bytes_max_{o.queued_bytes_max},
      stalled_peer_timeout_{o.core.stalled_reader_timeout},
      now_{now} {}

dispatch::~dispatch() = default;

// Nothing new begins while memory is out: its connection ends.
memory_reserve::use dispatch::beginning() {
  if (!for_requests_.refill()) throw std::bad_alloc{};
  return memory_reserve::use{&for_requests_};
}

// Ends, deadlines and answers cannot be refused.
memory_reserve::use dispatch::completing() {
  for_ends_.refill();
  return memory_reserve::use{&for_ends_};
}

connection_id dispatch::open(time_point now, std::string peer, core::session_secret secret,
                             protocols allowed) {
  auto const guard = beginning();
  auto one = std::make_unique<line>(core_.memory(), queued_bytes_max_);
  one->allowed = allowed;
  if (allowed == protocols::jax) one->decoder.limit(0);
  now_ = now;
  auto const id = core_.connected(now, peer, secret);
  try {
    recorder_.write_connected(now, id, peer, secret);
    lines_.emplace(id, std::move(one));
  } catch (std::bad_alloc const&) {
    lost(now, id, core::loss::closed);
    throw;
  }
  return id;
}

void dispatch::begin() {
  ++iteration_;
  steps_max_ = std::max(steps_max_, iteration_steps - iteration_steps_left_);
  iteration_steps_left_ = iteration_steps;
  waits_since_.reset();
  door_.begin();
  auto const grant = [this](line& on) {
    on.steps_left = std::min(on.steps_left + quantum, quantum);
    on.iteration = iteration_;
    on.waits = on.steps_left <= 0;
  };
  for (auto const id : late_) {
    if (auto* const on = find(id); on != nullptr) grant(*on);
  }
  late_.clear();
  std::size_t granted = 0;
  for (auto n = beyond_share_.size(); n > 0 && granted < quanta_beyond_share; --n) {
    auto const id = beyond_share_.front();
    if (auto* const on = find(id); on != nullptr) {
      grant(*on);
      if (on->waits) {
        beyond_share_.push_back(id);  // without memory it stays where it is
      } else {
        ++granted;
      }
    }
    beyond_share_.pop_front();
  }
}

dispatch::taken dispatch::received(time_point now, connection_id from, std::string_view bytes) {
  auto* const on = find(from);
  if (on == nullptr || !on->is_heard()) return taken::all;
  now_ = now;
  auto const guard = beginning();
  if (on->grpc) return hear_grpc(now, from, *on, bytes);
  on->decoder.feed(bytes);
  refill(*on);
  if (!take_frames(now, from, *on)) heard(now, from, *on);
  return on->state();
}

dispatch::taken dispatch::go_on(time_point now, connection_id from) {
  auto* const on = find(from);
  if (on == nullptr || !on->is_heard()) return taken::all;
  now_ = now;
  auto const guard = beginning();
  if (on->waits) {
    if (now - on->heard >= heard_period) heard(now, from, *on);
  } else {
    if (on->grpc) return hear_grpc(now, from, *on, std::exchange(on->grpc->unread, {}));
    refill(*on);
    static_cast<void>(take_frames(now, from, *on));
  }
  return on->state();
}

void dispatch::heard(time_point now, connection_id from, line& on) {
  on.heard = now;
  recorder_.write(now, record_kind::heard, from);
  core_.heard(now, from);
}

// Its quanta since it was last served.
void dispatch::refill(line& on) const {
  if (on.iteration == iteration_) return;
  auto const earned = static_cast<std::int64_t>(iteration_ - on.iteration) * quantum;
  on.steps_left = std::min(on.steps_left + earned, quantum);
  on.iteration = iteration_;
}

void dispatch::charge(line& on, std::size_t bytes) {
  auto const steps = core_.counts().steps;
  auto const cost = static_cast<std::int64_t>(1 + bytes / bytes_per_step + (steps - steps_));
  on.steps_left -= cost;
  if (!on.acts_for_tasks) iteration_steps_left_ -= cost;
  steps_ = steps;
}

// Its quantum is used up, or that of the iteration, and there is more.
void dispatch::wait(time_point now, connection_id from, line& on) {
  on.waits = true;
  on.heard = now;
  if (on.waits_from == 0) {
    on.waits_from = iteration_;
    on.waits_since = now;
  }
  if (on.steps_left <= 0) {
    on.is_beyond_share = std::exchange(on.is_late, true) || on.steps_left <= -quantum;
  }
  if (on.is_beyond_share) return beyond_share_.push_back(from);
  if (iteration_steps_left_ <= 0) {
    waits_since_ = std::min(waits_since_.value_or(on.waits_since), on.waits_since);
  }
  late_.push_back(from);
}

void dispatch::waits_no_more(connection_id from, line& on) {
  on.is_late = false;
  bool const was_within_share = !std::exchange(on.is_beyond_share, false);
  auto const waited = iteration_ - std::exchange(on.waits_from, 0);
  waits_.record(waited);
  if (was_within_share && core_.share_of(from) == core::share_kind::task) {
    worker_wait_max_ = std::max(worker_wait_max_, waited);
  }
}

void dispatch::broke(connection_id to) {
  auto* const on = find(to);
  if (on == nullptr) return;
  on->broken = !on->out.ends();
  on->deaf |= on->decoder.asks_for() != 0;  // its frame never becomes whole
  on->out.abandon();
  on->held = false;  // without informing the core: resuming is no sign of life
}

dispatch::line* dispatch::find(connection_id id) const {
  auto const* const found = lines_.find(id);
  return found ? found->get() : nullptr;
}

void dispatch::prefetch(connection_id from) const noexcept {
  if (auto const* const on = find(from); on != nullptr) coxswain::prefetch(*on);
  core_.prefetch(from);
}

void dispatch::prefetch_session(connection_id from) const noexcept { core_.prefetch_session(from); }
void dispatch::prefetch_requests(connection_id from) const noexcept {
  core_.prefetch_requests(from);
}

// True if the core got input. Output is moved to the outboxes before it grows, so that no client
// can request more than it reads.
bool dispatch::take_frames(time_point now, connection_id from, line& on) {
  bool told = false;
  if (is_scarce_) yield_memory(now, from, on);
  while (!on.held && on.steps_left > 0 && (iteration_steps_left_ > 0 || may_go_on(from, on))) {
    auto const frame = on.decoder.next();
    if (!frame) return malformed(now, from, on, frame.error());
    if (!*frame) {
      if (on.decoder.asks_for() != 0) {
        if (admit(now, from, on)) continue;
        break;
      }
      if (on.waits_from != 0) waits_no_more(from, on);
      if (on.has_large) look_at_large(from, on);
      return told;
    }
    ++frames_received_;
    bool is_plain{};
    auto message = wire::decode_client(**frame, &is_plain);
    if (!message) return malformed(now, from, on, message.error());
    recorder_.write_message(now, from, {**frame, is_plain}, *message, core_);
    core_.received(now, from, std::move(*message));
    charge(on, (*frame)->size());
    if (has_much_to_send()) {
      collect(now);
      if (is_scarce_) yield_memory(now, from, on);
    }
    told = true;
    if (!on.greeted) {
      auto const limit = core_.frame_bytes_max(from);
      on.greeted = limit != core::hello_frame_bytes_max;
      on.decoder.limit(limit);
    }
  }
  on.decoder.keep();
  if (on.has_large) look_at_large(from, on);
  if (on.held) return true;
  if (on.decoder.has_input()) {
    wait(now, from, on);
  } else if (on.waits_from != 0) {
    waits_no_more(from, on);
  }
  return told;
}

// Without steps of the iteration, which are for all but tasks.
bool dispatch::may_go_on(connection_id from, line& on) const {
  on.acts_for_tasks = on.acts_for_tasks || core_.share_of(from) == core::share_kind::task;
  return on.acts_for_tasks;
}

bool dispatch::malformed(time_point now, connection_id from, line& on, status const& why) {
  if (on.decoder.meets_http2() && !on.greeted) {
    begin_grpc(now, from, on);
    return true;
  }
  if (on.allowed == protocols::jax && !on.decoder.meets_http()) return refuse_native(now, from, on);
  on.deaf = true;
  if (!on.greeted && on.decoder.meets_http()) on.out.end_with(no_http());
  recorder_.write(now, record_kind::malformed, from, why.message());
  core_.malformed(now, from, why.message());
  return true;
}

void dispatch::lost(time_point now, connection_id from, core::loss how) noexcept {
  auto const guard = completing();
  now_ = now;
  door_.lost(now, from, how);
  lines_.erase(from);
  large_frames_.forget(from);
  recorder_.write(now, how == core::loss::closed ? record_kind::closed : record_kind::unreachable,
                  from);
  core_.lost(now, from, how);
}

void dispatch::wrote(time_point now, connection_id to, std::size_t count) {
  auto* const on = find(to);
  if (on == nullptr || count == 0) return;
  now_ = now;
  on->out.written(count, encoder_);
  encoder_.forget();
  bool const waits_for_window = on->grpc && on->grpc->session.waits_for_window();
  if (!waits_for_window && std::exchange(on->blocked, false)) write_progressed(now, to);
  if (on->grpc) return pump(now, to, *on);
  if (on->held != on->out.pauses_reading()) tell_paused(now, to, *on);
}

void dispatch::tell_paused(time_point now, connection_id id, line& on) {
  on.held = !on.held;
  recorder_.write(now, on.held ? record_kind::reading_paused : record_kind::reading_resumed, id);
  if (on.held) return core_.reading_paused(now, id);
  core_.reading_resumed(now, id);
}

void dispatch::write_blocked(time_point now, connection_id to) {
  auto* const on = find(to);
  if (on == nullptr || on->blocked) return;
  now_ = now;
  on->blocked = true;
  recorder_.write(now, record_kind::write_blocked, to);
  core_.write_blocked(now, to);
}

void dispatch::still_reads(time_point now, connection_id to) {
  auto* const on = find(to);
  if (on == nullptr || !on->blocked) return;
  write_progressed(now, to);
  on->blocked = false;
  write_blocked(now, to);
}

void dispatch::write_progressed(time_point now, connection_id to) {
  recorder_.write(now, record_kind::write_progressed, to);
  core_.write_progressed(now, to);
}

status dispatch::put_in(time_point now, core::owner_input what) {
  auto const guard = completing();
  now_ = now;
  recorder_.write(now, what);
  if (auto const* const given = std::get_if<core::credentials_replaced>(&what)) {
    door_.use_token(worker_token(given->by));
  }
  return core_.put_in(now, std::move(what));
}

void dispatch::advance(time_point now) {
  if (waits_since_) now = std::min(now, *waits_since_);
  now_ = std::max(now_, now);
  if (!large_frames_.empty()) cut_off_late(now);
  if (auto const due = door_.next_deadline(); due && *due <= now) {
    auto const guard = completing();
    door_.advance(now);
  }
  auto const next = core_.next_deadline();
  if (!next || now < *next) return;
  auto const guard = completing();
  recorder_.write(now, record_kind::advanced);
  core_.advance(now);
  steps_ = core_.counts().steps;
}

std::optional<time_point> dispatch::next_deadline() const {
  auto next = core_.next_deadline();
  for (auto const other : {large_frames_.next_deadline(), door_.next_deadline()}) {
    if (other && (!next || *other < *next)) next = other;
  }
  return next;
}

bool dispatch::deliver(std::vector<connection_id>& dirty) {
  auto const guard = completing();
  tell_log();  // first: it may call us back, which can produce output
  while (core_.unsent() != 0) collect(now_);
  apply_effects(now_);
  resume_paused(now_);
  encoder_.forget();
  dirty.clear();
  dirty.swap(dirty_);
  std::erase_if(dirty, [this](connection_id id) {
    auto* const on = find(id);
    if (on == nullptr || !std::exchange(on->dirty, false)) return true;
    if (on->grpc) pump(now_, id, *on);
    return false;
  });
  return !dirty.empty();
}

bool dispatch::has_much_to_send() const {
  std::size_t const unsent = core_.unsent();
  if (unsent == 0) return false;
  auto const& memory = *core_.memory();
  return unsent >= unsent_max || core_.unsent_bytes() > growth_max ||
         !memory.fits_in_transit(2 * growth_max);
}

// Moves the core's output to the outboxes.
void dispatch::collect(time_point now) {
  core_.take_outgoing(outgoing_);
  recorder_.write_sent(now, outgoing_);
  std::array<line*, lines_ahead> ahead{};
  for (std::size_t i = 0; i < std::min(lines_ahead, outgoing_.size()); ++i) {
    ahead[i] = find(outgoing_[i].to);
  }
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    auto const& one = outgoing_[i];
    auto* const on = ahead[i % lines_ahead];
    if (i + lines_ahead < outgoing_.size()) {
      auto* const next = find(outgoing_[i + lines_ahead].to);
      if (next != nullptr) coxswain::prefetch(*next);
      ahead[i % lines_ahead] = next;
    }
    if (on == nullptr || on->grpc) {
      tell_door(now, on, one);
      continue;
    }
    ++frames_sent_;
    try {
      on->out.push(one.in_reply_to, one.what, encoder_);
    } catch (std::exception const&) {
      on->out.abandon();  // out of memory: its client retries on another connection
    }
    changed(now, one.to, *on);
  }
  look_at_memory(now);
  outgoing_.clear();  // so that no answer lives longer because of it
  if (outgoing_.capacity() > outgoing_room) outgoing_.shrink_to_fit();
}

// The log is user code: its exceptions are ignored.
void dispatch::tell_log() {
  if (core_.untold() == 0 && reported_.empty()) return;
  std::vector<core::event> events;
  core_.take_events(events);
  for (auto const& one : events) recorder_.write_event(now_, one);
  for (auto& one : reported_) events.push_back(std::move(one));
  reported_.clear();
  if (!log_) return;
  for (auto const& one : events) {
    try {
      log_(one);
    } catch (std::exception const&) {
    }
  }
}

bool dispatch::is_greeted(connection_id from) const {
  auto const* const on = find(from);
  return on != nullptr && on->greeted;
}

outbox& dispatch::out(connection_id to) {
  auto* const on = find(to);
  assert(on != nullptr);
  return on->out;
}

outbox const& dispatch::out(connection_id to) const {
  auto const* const on = find(to);
  assert(on != nullptr);
  return on->out;
}

dispatch::backlog dispatch::queued() const {
  backlog all;
  lines_.each([&](connection_id, std::unique_ptr<line> const& one) {
    all.bytes += one->out.queued_bytes();
    all.messages += one->out.waiting();
  });
  return all;
}

void dispatch::report(core::event what) { reported_.push_back(std::move(what)); }

void dispatch::check_invariants() const {
  core_.check_invariants();
  lines_.each([](connection_id, std::unique_ptr<line> const& one) {
    one->out.check_invariants();
    assert(one->held == one->out.pauses_reading());
  });
}

}  // namespace coxswain::server
