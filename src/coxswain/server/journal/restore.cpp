#include "coxswain/server/journal/restore.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/server/recording/recorded_input.hpp"
#include "coxswain/server/recording/settings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

// Options that may differ: tokens are replaced by an input, and the others are used as they were.
constexpr std::array<std::string_view, 4> may_differ{"credentials", "version", "term",
                                                     "memory_bytes_max"};

void check_behaviour(std::uint32_t number) {
  if (number == core::behaviour) return;
  throw error{{errc::failed_precondition,
               "its inputs are of behaviour " + std::to_string(number) +
                   ", and this program has behaviour " + std::to_string(core::behaviour) +
                   ". Start the program that wrote them with --keep, and end it with SIGTERM: then "
                   "this one continues from its snapshot"}};
}

// Another program can replay it: that is no loss of data.
error cannot_replay(file_journal const& in, status const& why) {
  auto const code =
      why.code() == errc::failed_precondition ? errc::invalid_argument : errc::data_loss;
  return error{
      {code, "the journal in '" + in.directory() + "' cannot be replayed: " + why.message()}};
}

// Calls options::journal.progress at the beginning of a replay, and then each second.
class progress_report {
 public:
  progress_report(options const& o, journal_files const& of) : to_{o.journal.progress} {
    for (auto const& segment : of.segments) so_far_.bytes_in_all += segment.valid_bytes;
    if (to_) to_(so_far_);
  }

  void replayed(batch const& batch) {
    so_far_.bytes += batch.bytes();
    auto const now = std::chrono::steady_clock::now();
    if (!to_ || now - last_ < 1s) return;
    last_ = now;
    to_(so_far_);
  }

 private:
  std::function<void(journal_progress const&)> to_;
  journal_progress so_far_;
  time_point last_{std::chrono::steady_clock::now()};
};

// The core of the last snapshot that is not damaged, or a new one.
core::coordinator from_snapshot(file_journal& in, time_point started) {
  for (;;) {
    auto const& found = in.found();
    if (found.snapshots.empty()) return new_core(*found.head, started);
    auto loaded = core::coordinator::load(config_of(*found.head),
                                          read_snapshot(found.snapshots.back()), started);
    if (loaded) return *std::move(loaded);
    if (loaded.error().code() != errc::data_loss) throw cannot_replay(in, loaded.error());
    in.forget_last_snapshot();
  }
}

}  // namespace

status check_options(core::config const& now, wire::recording_head const& then) {
  // The program that began the job may not have known them: it had the defaults.
  auto const defaults = settings_of(core::config{});
  auto const value_in = [](auto const& settings, std::string const& name) {
    auto const at = std::find_if(settings.begin(), settings.end(),
                                 [&](auto const& setting) { return setting.first == name; });
    return at == settings.end() ? std::optional<std::string>{} : at->second;
  };
  for (auto const& setting : settings_of(now)) {
    auto const& name = setting.first;
    auto const& value = setting.second;
    if (std::find(may_differ.begin(), may_differ.end(), name) != may_differ.end()) continue;
    auto old = value_in(then.settings, name);
    if (!old) old = value_in(defaults, name);
    if (old == value) continue;
    return {errc::invalid_argument,
            "the journal's job has " + name + " '" + old.value_or("") +
                "', and this coordinator '" + value +
                "': start it with the same options, or with another journal"};
  }
  return {};
}

std::string why_over(core::coordinator const& logic) {
  if (logic.error()) return "has failed";
  if (logic.done()) return "is done";
  return logic.is_stopping() ? "was stopped" : "";
}

std::string why_over(options const& o, core::config const& then) {
  if (o.core.job != then.job) return "is '" + then.job + "', not '" + o.core.job + "'";
  bool const is_older = o.core.attempt && then.attempt && *then.attempt < *o.core.attempt;
  return is_older ? "belongs to attempt " + std::to_string(*then.attempt) : "";
}

core::coordinator new_core(wire::recording_head const& head, time_point started) {
  return core::coordinator{config_of(head), head.coordinator, started};
}

restored_core restore_core(core::coordinator from, wire::recording_head head, time_point started,
                           std::function<void(take_records const&)> const& each) {
  restored_core made{std::move(from), std::move(head), started};
  std::vector<core::outgoing> messages;
  std::vector<core::event> events;
  each([&](std::string_view some) {
    auto records = wire::recording_reader::of_records(some);
    while (auto const input = records.next()) {
      put_in(made.logic, started + input->at, *input);
      ++made.inputs;
      made.logic.take_outgoing(messages);
      made.logic.take_events(events);
    }
  });
  return made;
}

std::optional<restored_core> restore(file_journal& from, options const& o, time_point now,
                                     std::string& set_aside) {
  auto const& found = from.found();
  if (!found.head) return std::nullopt;
  auto const leave = [&](std::string const& why) {
    set_aside = "the job in the journal " + why + ": its files are now in '" + from.set_aside() +
                "', and a new job begins";
    return std::nullopt;
  };
  if (auto const why = why_over(o, config_of(*found.head)); !why.empty()) return leave(why);
  if (status why = check_options(o.core, *found.head); !why.ok()) throw error{std::move(why)};

  duration const downtime = from.age();
  time_point const started = now - (found.last_written.coordinator + downtime);
  auto core = from_snapshot(from, started);
  progress_report progress{o, found};
  std::optional<restored_core> made;
  try {
    made = restore_core(std::move(core), *found.head, started, [&](take_records const& take) {
      each_batch(found, [&](batch const& batch) {
        check_behaviour(batch.behaviour);
        take(batch.payload);
        progress.replayed(batch);
      });
    });
  } catch (error const& problem) {
    throw cannot_replay(from, problem.outcome());
  }
  made->downtime = downtime;
  if (auto const why = why_over(made->logic); !why.empty()) return leave(why);
  from.go_on();
  return made;
}

}  // namespace coxswain::server
