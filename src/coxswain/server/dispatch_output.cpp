// Output: from the core to the outboxes, until it may be written.

#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/dispatch/grpc_line.hpp"
#include "coxswain/server/dispatch/tcp_store_line.hpp"
#include "coxswain/server/dispatch/trunk_line.hpp"

#include <algorithm>
#include <exception>
#include <vector>

namespace coxswain::server {
namespace {

// The core's output is moved to the outboxes when it has this many messages (few, so that answers
// reuse cached memory), when the large ones among them have this size, or when only twice that
// memory is left.
constexpr std::size_t unsent_max = 6;
constexpr std::size_t growth_max = 1024 * 1024;

// How many connections get output before it is written: so few that their memory is still in the
// cache then.
constexpr std::size_t connections_per_part = 64;

// The capacity kept between iterations, in messages of the core.
constexpr std::size_t outgoing_room = 1024;

// The reply to a heartbeat, unless it is that to a request.
bool is_heartbeat(core::outgoing const& what) {
  return what.in_reply_to == request_id{} && what.what->outcome.ok() &&
         std::holds_alternative<std::monostate>(what.what->value);
}

}  // namespace

bool dispatch::deliver(std::vector<connection_id>& dirty) {
  auto const guard = core_.completing();
  events_.deliver(now_);  // first: the log may call us back, which can produce output
  do {
    collect(now_);
    grpc_.apply_effects(now_);
    memory_.resume_paused(now_);
    take_changed(dirty);
  } while (dirty.empty() && has_output());  // nobody receives that part
  forget_encoded();
  return !dirty.empty();
}

bool dispatch::has_to_deliver() const {
  return events_.has_events() || has_output() || grpc_.has_effects() || memory_.has_paused() ||
         lines_.has_changed();
}

void dispatch::take_changed(std::vector<connection_id>& dirty) {
  lines_.take_changed(dirty, [this](connection_id id, line& on) {
    if (on.grpc) grpc_.pump(now_, id, on);
    if (on.trunk) pump_routes(now_, on);
    hold_back(id, on);
  });
}

void dispatch::hold_back(connection_id to, line& on) {
  if (on.out.holds() && on.out.has_grown()) held_.push_back({core_.last_batch(), to, on.out.end()});
}

bool dispatch::release(std::vector<connection_id>& dirty) {
  dirty.clear();
  bool are_routes = false;
  while (!held_.empty() && core_.is_durable(held_.front().batch)) {
    auto const& first = held_.front();
    if (auto* const on = lines_.find(first.to); on != nullptr && on->out.holds()) {
      on->out.release(first.through);
      if (on->route) {
        are_routes = true;
        lines_.changed(now_, first.to, *on);
      } else {
        dirty.push_back(first.to);
      }
    }
    held_.pop_front();
  }
  if (are_routes) {
    std::vector<connection_id> trunks;
    take_changed(trunks);
    dirty.insert(dirty.end(), trunks.begin(), trunks.end());
  }
  return !dirty.empty();
}

// It says only that the coordinator lives, so it need not wait for what is held back.
void dispatch::answer_heartbeat(time_point now, connection_id from, line& on) {
  if (on.out.has_writable() || on.out.ends()) return;
  on.out.overtake(heartbeat_);
  lines_.changed(now, from, on);
}

// As an answer to the heartbeat that it cannot read yet. What waits to be written shows it as well.
void dispatch::show_life(time_point now, connection_id to) {
  auto* const on = lines_.find(to);
  if (on == nullptr || !on->greeted || on->tcp_store || on->out.has_writable() || on->out.ends())
    return;
  if (on->out.holds()) return answer_heartbeat(now, to, *on);
  on->out.append([this](std::string& out) { out += heartbeat_; });
  lines_.changed(now, to, *on);
}

bool dispatch::has_much_to_send() const {
  std::size_t const unsent = core_.logic().unsent();
  if (unsent == 0) return false;
  auto const& memory = core_.memory();
  return unsent >= unsent_max || core_.logic().unsent_bytes() > growth_max ||
         !memory.fits_in_transit(2 * growth_max);
}

// Whether the core had much output: now it has none.
bool dispatch::relieve_core(time_point now) {
  if (!has_much_to_send()) return false;
  do {
    collect(now);
  } while (has_much_to_send());
  return true;
}

// Moves the next part of the core's output to the outboxes: all of it if there are trunks, which
// share it among their routes.
void dispatch::collect(time_point now) {
  if (collected_ == outgoing_.size()) {
    collected_ = 0;
    core_.take_outgoing(now, outgoing_);
  }
  auto const most = trunks_ == 0 ? connections_per_part : outgoing_.size();
  auto const enough = lines_.changed_count() + most;
  while (collected_ < outgoing_.size() && lines_.changed_count() < enough) {
    auto const& output = outgoing_[collected_++];
    if (output.to == connection_id{}) {
      auto const* const wanted = std::get_if<core::stacks_wanted>(&output.what->value);
      if (wanted && wants_stacks_) wants_stacks_(*wanted);
      continue;
    }
    auto* const on = lines_.find(output.to);
    if (on == nullptr || on->grpc) {
      grpc_.send(now, on, output);
      continue;
    }
    if (on->tcp_store) {
      tcp_store_.send(now, *on, output);
      continue;
    }
    if (on->out.holds() && is_heartbeat(output)) continue;
    ++frames_sent_;
    try {
      if (on->route && share(now, output, *on)) continue;
      // The output of its routes goes first: the relay stops reading at its Goodbye.
      if (on->trunk && std::holds_alternative<core::goodbye>(output.what->value)) {
        pump_routes(now, *on);
      }
      on->out.push(output.in_reply_to, output.what, encoder_);
    } catch (std::exception const&) {
      on->out.abandon();  // out of memory: its client retries on another connection
    }
    lines_.changed(now, output.to, *on);
  }
  memory_.check_memory(now);
  if (collected_ != outgoing_.size()) return;
  outgoing_.clear();  // so that no answer lives longer because of it
  collected_ = 0;
  if (outgoing_.capacity() > outgoing_room) outgoing_.shrink_to_fit();
}

}  // namespace coxswain::server
