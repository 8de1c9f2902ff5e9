#include "coxswain/server/standby/replica.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/server/journal/batch.hpp"
#include "coxswain/server/journal/restore.hpp"
#include "coxswain/server/recording/recorded_input.hpp"
#include "coxswain/server/recording/settings.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

// The machines' clocks may differ.
constexpr duration downtime_max = 1h;

// Clocks drift by less in a few hours.
constexpr duration shift_min = 1s;

}  // namespace

void replica::begins(etcd::job_state from) {
  head_.reset();
  core_.reset();
  end_ = {};
  partial_.clear();
  obstacle_.clear();
  arrived_.reset();
  was_alive_ = is_following_ = false;
  if (from.head.empty() || !failure_.ok()) return;
  try {
    take_head(from.head);
    take_snapshot(from);
  } catch (error const& problem) {
    failure_ = problem.outcome();
    changed_();
  }
}

void replica::take_head(std::string_view head) {
  auto const found = read_batch(head);
  if (!found) return damaged("the head of its log is damaged");
  head_ = wire::recording_reader{found->payload}.head();
  end_.checksum = found->checksum;
  written_at_ = found->written.since_1970;
  if (!why_over().empty()) return;  // another attempt may have other options
  if (status why = check_options(options_.core, *head_); !why.ok()) throw error{std::move(why)};
}

void replica::take_snapshot(etcd::job_state const& from) {
  if (!head_) return;
  auto const begin = clock_now();
  if (from.snapshot.empty()) {
    core_.emplace(restored_core{new_core(*head_, begin), *head_, begin});
    return;
  }
  auto const found = read_batch(from.snapshot);
  if (!found) return damaged("the head of its snapshot is damaged");
  end_ = {from.number, from.number, found->number, found->previous, found->written.coordinator};
  written_at_ = found->written.since_1970;
  auto const started = begin - end_.at;
  auto loaded = core::coordinator::load(
      config_of(*head_), std::string_view{from.snapshot}.substr(batch_head_bytes), started);
  if (!loaded) throw error{loaded.error()};
  core_.emplace(restored_core{*std::move(loaded), *head_, started});
}

void replica::entry(std::uint64_t number, std::string_view content) {
  end_.entry = number;
  if (!core_ || content.empty() || !failure_.ok()) return;
  char const flags = content.front();
  content.remove_prefix(1);
  // A leader may have died before the end of a batch.
  if ((flags & begins_batch) != 0) partial_.clear();
  partial_ += content;
  if ((flags & ends_batch) == 0) return;
  auto const found = read_batch(partial_);
  bool const continues =
      found && found->number == end_.batch + 1 && found->previous == end_.checksum;
  if (!continues) return damaged("entry " + std::to_string(number) + " of its log is damaged");
  try {
    take_batch(*found);
  } catch (error const& problem) {
    damaged("entry " + std::to_string(number) + " of its log: " + problem.message());
  }
  partial_.clear();
}

void replica::take_batch(batch const& batch) {
  end_.batch = batch.number;
  end_.checksum = batch.checksum;
  end_.at = batch.written.coordinator;
  written_at_ = batch.written.since_1970;
  if (is_following_) arrived_ = clock_now();
  if (batch.behaviour != core::behaviour && obstacle_.empty()) {
    obstacle_ = "its inputs are of behaviour " + std::to_string(batch.behaviour) +
                ", and this program has behaviour " + std::to_string(core::behaviour);
    report_(core::severity::warning,
            "this standby cannot follow the job: " + obstacle_ +
                ". It takes over only when the leader is ended with SIGTERM, from its snapshot");
  }
  if (!obstacle_.empty()) return;
  std::vector<core::outgoing> messages;
  std::vector<core::event> events;
  auto records = wire::recording_reader::of_records(batch.payload);
  while (auto const input = records.next()) {
    put_in(core_->logic, core_->started + input->at, *input);
    ++core_->inputs;
    core_->logic.take_outgoing(messages);
    core_->logic.take_events(events);
  }
}

void replica::damaged(std::string text) {
  core_.reset();
  failure_ = {errc::data_loss, "the job in etcd cannot be continued: " + std::move(text)};
  changed_();
}

void replica::is_at(std::int64_t revision, etcd::leader const& who, std::uint64_t term) {
  if (is_in_trouble_) report_(core::severity::info, "etcd answers again");
  is_in_trouble_ = false;
  is_following_ = true;
  position_ = revision;
  leader_ = who;
  term_ = term;
  if (core_ && who.revision != 0 && why_over().empty()) was_alive_ = true;
  changed_();
}

void replica::trouble(status const& why) {
  if (!is_in_trouble_) report_(core::severity::warning, "etcd: " + why.text());
  is_in_trouble_ = true;
}

std::string replica::why_over() const {
  if (!head_) return {};
  if (auto why = server::why_over(options_, config_of(*head_)); !why.empty()) return why;
  return core_ ? server::why_over(core_->logic) : std::string{};
}

bool replica::has_seen_the_end() const { return was_alive_ && !why_over().empty(); }

// The time of its core is shifted, if need be, so that the time without a coordinator counts as it
// was: from the arrival of the last batch, or by the wall clock if that was read from the log.
std::optional<restored_core> replica::take(time_point now) {
  if (!core_ || !why_over().empty()) return std::nullopt;
  auto made = *std::exchange(core_, std::nullopt);
  made.downtime = arrived_ ? now - *arrived_
                           : std::clamp<duration>(since_1970_now() - written_at_, duration::zero(),
                                                  downtime_max);
  auto const started = now - end_.at - made.downtime;
  bool const is_close = std::chrono::abs(started - made.started) < shift_min;
  if (is_close && made.started + end_.at <= now) return made;
  std::string state;
  made.logic.save([&state](std::string_view piece) { state += piece; });
  auto shifted = core::coordinator::load(config_of(*head_), state, started);
  if (!shifted) throw error{shifted.error()};
  made.logic = *std::move(shifted);
  made.started = started;
  return made;
}

}  // namespace coxswain::server
