#include "coxswain/server/journal/restore.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/server/recording/recorded_input.hpp"
#include "coxswain/server/recording/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

// Options that may differ: tokens are replaced by an input, and the others are used as they were.
constexpr std::array<std::string_view, 3> may_differ{"credentials", "version", "memory_bytes_max"};

status check_options(core::config const& now, wire::recording_head const& then) {
  for (auto const& setting : settings_of(now)) {
    auto const& name = setting.first;
    auto const& value = setting.second;
    if (std::find(may_differ.begin(), may_differ.end(), name) != may_differ.end()) continue;
    auto const old = std::find_if(then.settings.begin(), then.settings.end(),
                                  [&](auto const& one) { return one.first == name; });
    if (old != then.settings.end() && old->second == value) continue;
    return {errc::invalid_argument,
            "the journal's job has " + name + " " +
                (old == then.settings.end() ? "unset" : "'" + old->second + "'") +
                ", and this coordinator '" + value +
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

void check_behaviour(std::uint32_t number) {
  if (number == core::behaviour) return;
  throw error{{errc::failed_precondition,
               "its inputs are of behaviour " + std::to_string(number) +
                   ", and this program has behaviour " + std::to_string(core::behaviour) +
                   ". Start the program that wrote them, with --keep, and end it with SIGTERM: its "
                   "snapshot can be read"}};
}

// The core of the last snapshot that is not damaged, or a new one.
core::coordinator from_snapshot(file_journal& in, time_point started) {
  for (;;) {
    auto const& found = in.found();
    if (found.snapshots.empty()) return new_core(*found.head, started);
    auto loaded = core::coordinator::load(config_of(*found.head),
                                          read_snapshot(found.snapshots.back()), started);
    if (loaded) return *std::move(loaded);
    bool const may_use_another =
        loaded.error().code() == errc::data_loss && found.snapshots.size() > 1;
    if (!may_use_another) throw error{loaded.error()};
    in.forget_last_snapshot();
  }
}

}  // namespace

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
  std::optional<restored_core> made;
  try {
    made = restore_core(std::move(core), *found.head, started, [&](take_records const& take) {
      each_batch(found, [&](batch const& one) {
        check_behaviour(one.behaviour);
        take(one.payload);
      });
    });
  } catch (error const& problem) {
    throw error{{errc::data_loss, "the journal in '" + from.directory() +
                                      "' cannot be replayed: " + problem.message()}};
  }
  made->downtime = downtime;
  if (auto const why = why_over(made->logic); !why.empty()) return leave(why);
  from.go_on();
  return made;
}

}  // namespace coxswain::server
