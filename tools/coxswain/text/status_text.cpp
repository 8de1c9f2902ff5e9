#include "text/status_text.hpp"

#include "options/units.hpp"
#include "terminal/harmless_text.hpp"
#include "terminal/table.hpp"
#include "text/job_words.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace coxswain::tools {
namespace {

std::string error_text(job_error const& error) {
  auto text = fmt::format("FAILED: {}: {}\n", who(error.cause.task), error.cause.why.text());
  for (auto const& f : error.later) {
    text += fmt::format("  later: {}: {}\n", who(f.task), f.why.text());
  }
  if (error.later_count > error.later.size()) {
    text += fmt::format("  later: {} more\n", error.later_count - error.later.size());
  }
  return text;
}

std::string barriers_text(std::vector<core::snapshot::barrier> const& barriers) {
  table shown{{"barrier"},
              {"round", align::right},
              {"arrived", align::right},
              {"waits", align::right},
              {"times out in", align::right},
              {"missing"}};
  for (auto const& b : barriers) {
    auto const number = b.round.value == 0 ? std::string{"-"} : std::to_string(b.round.value);
    shown.add({barrier_name(b), number, fmt::format("{}/{}", b.arrived, b.expected), text_of(b.age),
               b.remaining ? text_of(*b.remaining) : "never", missing_text(b)});
  }
  return shown.text();
}

}  // namespace

std::string leader_text(core::snapshot::leadership const& of) {
  auto text = fmt::format("{} leads, term {}", of.address, of.term);
  if (of.lag_entries == 0) return text + ", etcd has all inputs";
  return text + fmt::format(", etcd lags by {} entr{} of {} ({})", of.lag_entries,
                            of.lag_entries == 1 ? "y" : "ies", size_text(of.lag_bytes),
                            text_of(of.lag));
}

std::string tasks_text(std::vector<core::snapshot::task> const& tasks) {
  bool const has_steps = std::any_of(tasks.begin(), tasks.end(), [](core::snapshot::task const& t) {
    return t.progress.has_value();
  });
  table shown{{"task", align::right},  {"state"},   {"incarnation"},
              {"heard", align::right}, {"process"}, {"peer"}};
  if (has_steps) {
    shown.add_column({"step", align::right});
    shown.add_column({"since", align::right});
  }
  for (auto const& t : tasks) {
    auto const incarnation =
        t.self.value == 0 ? std::string{"-"} : fmt::format("{:016x}", t.self.value);
    auto const heard = t.last_heard ? text_of(*t.last_heard) + " ago" : std::string{"-"};
    auto const state =
        fmt::format("{}{}{}{}", name(t.state), t.returns_by ? " by " + rfc3339(*t.returns_by) : "",
                    t.suspect ? ", suspect" : "", t.recoverable ? ", recoverable" : "");
    std::vector<std::string> cells{
        std::to_string(t.id.value),   state, incarnation, heard, t.label.empty() ? "-" : t.label,
        t.peer.empty() ? "-" : t.peer};
    if (has_steps) {
      cells.push_back(t.progress ? std::to_string(t.progress->step) : "-");
      cells.push_back(t.progress ? text_of(t.progress->age) : "-");
    }
    shown.add(std::move(cells));
  }
  return shown.text();
}

// "2 spares: b17/0 (b17:3391) for 3 min, b18:77, suspect, for 5 s".
std::string spares_text(core::snapshot const& picture) {
  auto text = fmt::format(
      "{} {}:", picture.spares_waiting,
      picture.spares_waiting == 1 ? "process waits for a number" : "processes wait for a number");
  for (auto const& spare : picture.spares) {
    text += &spare == &picture.spares.front() ? " " : ", ";
    text += spare.member.empty() ? spare.label : fmt::format("{} ({})", spare.member, spare.label);
    text += fmt::format("{} for {}", spare.suspect ? ", suspect," : "", text_of(spare.age));
  }
  if (picture.spares.size() < picture.spares_waiting) text += " ...";
  return text + "\n";
}

// "epoch 7 for 3 min, 2 to 4 tasks; 1 ready: task 2 has called next_epoch".
std::string elastic_text(core::snapshot::elastic_state const& of) {
  auto text = of.epoch == 0 ? std::string{"no epoch has begun"}
                            : fmt::format("epoch {} for {}", of.epoch, text_of(of.age));
  text += fmt::format(", {} to {}", of.tasks_min, counted(of.tasks_max, "task"));
  if (of.tasks_wanted != of.tasks_max) text += fmt::format(", {} wanted", of.tasks_wanted);
  if (of.ending.empty()) return text + "\n";
  return text +
         fmt::format("; {}: {}; {} ready\n", of.over ? "over" : "to end", of.ending, of.ready);
}

std::string leases_text(core::snapshot const& picture) {
  table shown{{"taken item", align::right},
              {"queue"},
              {"by"},
              {"for", align::right},
              {"expires in", align::right},
              {"redelivered", align::right}};
  for (auto const& one : picture.leases) {
    shown.add({std::to_string(one.item), one.queue, one.holder, text_of(picture.uptime - one.at),
               one.expires ? text_of(*one.expires - picture.uptime) : "never",
               std::to_string(one.redeliveries)});
  }
  return shown.text();
}

std::string relays_text(core::snapshot const& picture) {
  table shown{{"relay"},
              {"peer"},
              {"clients", align::right},
              {"paused", align::right},
              {"connected for", align::right}};
  for (auto const& relay : picture.relays) {
    shown.add({relay.label.empty() ? "-" : relay.label, relay.peer, std::to_string(relay.clients),
               std::to_string(relay.clients_paused), text_of(picture.uptime - relay.at)});
  }
  return shown.text();
}

std::string status_text(core::snapshot const& picture) {
  auto text = headline_line(picture.state);
  text += fmt::format("job '{}', {}: {}\n", picture.job, counted(picture.tasks.size(), "task"),
                      tally(picture.tasks));
  if (picture.error) text += error_text(*picture.error);
  text += fmt::format("coordinator {}, up {}, {}, {} of {} memory\n", picture.version,
                      text_of(picture.uptime), counted(picture.sessions, "session"),
                      size_text(picture.memory_bytes), size_text(picture.memory_bytes_max));
  if (picture.leader) text += leader_text(*picture.leader) + "\n";
  text += fmt::format("{} of {}", counted(picture.keys, "key"), size_text(picture.key_bytes));
  if (picture.waiting_gets > 0) text += ", " + counted(picture.waiting_gets, "waiting get");
  text += "\n";
  if (picture.queued_items + picture.waiting_pops + picture.waiting_key_watches > 0) {
    auto const watches = picture.waiting_key_watches;
    text += fmt::format("{} in queues, {}, {} {} of keys\n", counted(picture.queued_items, "item"),
                        counted(picture.waiting_pops, "waiting pop"), watches,
                        watches == 1 ? "watch" : "watches");
  }
  if (picture.leased_items > 0) {
    text += fmt::format("{} taken and not finished\n", counted(picture.leased_items, "item"));
  }
  if (picture.locks_held > 0) {
    text += fmt::format("{} held, {} for locks\n", counted(picture.locks_held, "lock"),
                        counted(picture.waiting_locks, "waiting call"));
  }
  if (picture.elastic) text += elastic_text(*picture.elastic);
  if (picture.spares_waiting > 0) text += spares_text(picture);
  if (!picture.barriers.empty()) text += "\n" + barriers_text(picture.barriers);
  if (picture.more_barriers > 0) {
    text += fmt::format("and {}\n", counted(picture.more_barriers, "more open barrier"));
  }
  if (!picture.missing.empty()) text += "\nmissing\n";
  for (auto const& m : picture.missing) text += missing_task_text(m) + "\n";
  text = harmless_lines(text);
  if (!picture.leases.empty()) text += "\n" + leases_text(picture);
  if (picture.leases.size() < picture.leased_items) {
    auto const more = picture.leased_items - picture.leases.size();
    text += fmt::format("and {}\n", counted(more, "more taken item"));
  }
  if (!picture.relays.empty()) text += "\n" + relays_text(picture);
  if (picture.more_relays > 0) {
    text += fmt::format("and {}\n", counted(picture.more_relays, "more relay"));
  }
  return text + "\n" + tasks_text(picture.tasks);
}

}  // namespace coxswain::tools
