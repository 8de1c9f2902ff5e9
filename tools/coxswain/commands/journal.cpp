// coxswain journal: what is in the journal of a coordinator, whether it is whole, and its repair.
// Neither values nor secrets are shown.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/units.hpp"
#include "terminal/table.hpp"
#include "text/job_words.hpp"
#include "text/json.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/server/journal/journal_repair.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "coxswain/wire/codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

namespace fs = std::filesystem;

struct journal_command {
  std::string action;
  std::string directory;
  bool as_json{};
  bool each_batch{};
};

// In the order of wire::record_kind.
constexpr std::array<char const*, 26> kinds{
    "event",           "connected",       "message",        "heard",           "malformed",
    "closed",          "unreachable",     "write blocked",  "write resumed",   "task ended",
    "stopped",         "time passed",     "reading paused", "reading resumed", "preempted",
    "tokens replaced", "round cancelled", "sent",           "suspended",       "restarted",
    "storing refused", "process ended",   "relay lost",     "vouched for",     "job ended",
    "owner asked",
};
static_assert(kinds.size() == static_cast<std::size_t>(wire::record_kind::owner_request) + 1);

std::string file_name(std::string const& path) { return fs::path{path}.filename().string(); }

double seconds(duration d) { return std::chrono::duration<double>(d).count(); }

std::string wall_text(server::batch_time const& at, wire::recording_head const& head) {
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(at.since_1970).count();
  return rfc3339({ms, head.started.utc_offset_s});
}

std::string state_of(server::journal_files const& found) {
  if (!found.damage.ok()) return "damaged";
  return found.is_torn ? "torn" : "whole";
}

// Of a directory without a job: those that are over.
std::vector<std::string> ended_jobs(std::string const& directory) {
  std::vector<std::string> names;
  for (auto const& one : fs::directory_iterator{directory}) {
    auto name = one.path().filename().string();
    if (one.is_directory() && name.starts_with("ended-")) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

int print_no_job(journal_command const& given) {
  auto const ended = ended_jobs(given.directory);
  if (given.as_json) {
    fmt::print("{}\n",
               serialized(json::object{{"state", "empty"},
                                       {"ended", json::array(ended.begin(), ended.end())}}));
  } else {
    fmt::print("there is no job in '{}'{}{}\n", given.directory,
               ended.empty() ? "" : "; ended jobs are in ", fmt::join(ended, ", "));
  }
  return static_cast<int>(exit_code::ok);
}

json::object identity_json(server::journal_files const& found) {
  auto const core = server::config_of(*found.head);
  json::object made{{"job", core.job},
                    {"num_tasks", core.num_tasks},
                    {"coordinator", fmt::format("{:x}", found.head->coordinator.value)},
                    {"started", rfc3339(found.head->started)},
                    {"behaviour", found.behaviour}};
  if (core.attempt) made["attempt"] = *core.attempt;
  return made;
}

std::string identity_text(server::journal_files const& found) {
  auto const core = server::config_of(*found.head);
  auto const attempt = core.attempt ? fmt::format(", attempt {}", *core.attempt) : "";
  auto const other = found.behaviour == core::behaviour
                         ? ""
                         : fmt::format(" (this program has {})", core::behaviour);
  return fmt::format("job '{}' of {}{}\ncoordinator {:x}, started {}, format {}{}\n", core.job,
                     counted(core.num_tasks, "task"), attempt, found.head->coordinator.value,
                     rfc3339(found.head->started), found.behaviour, other);
}

// A file as `verify` reports it.
struct file_report {
  std::string name;
  std::string batches;
  std::string state;
};

std::string batches_text(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return "none";
  return count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1);
}

void report_segments(std::vector<file_report>& into, std::vector<server::segment_file> const& all,
                     std::string const& last_state) {
  for (auto const& one : all) {
    bool const is_last = &one == &all.back();
    into.push_back({file_name(one.path), batches_text(one.first, one.batches),
                    is_last ? last_state : "whole"});
  }
}

std::vector<file_report> files_of(server::journal_check const& found) {
  std::vector<file_report> all{{"head", "", "whole"}};
  for (auto const& snapshot : found.snapshots) {
    auto const state = snapshot.outcome.code() == errc::data_loss ? "damaged" : "whole";
    all.push_back(
        {file_name(snapshot.file.path), fmt::format("after {}", snapshot.file.number), state});
  }
  report_segments(all, found.earlier, found.earlier_damage.ok() ? "whole" : "damaged");
  auto used = found.used.segments;
  if (!found.used.damage.ok()) used.resize(found.used.damaged_segment + 1);
  report_segments(all, used, state_of(found.used));
  for (std::size_t i = used.size(); i < found.used.segments.size(); ++i) {
    all.push_back({file_name(found.used.segments[i].path), "", "after the damage"});
  }
  return all;
}

int verify(journal_command const& given) {
  auto const found = server::check_journal(given.directory);
  if (!found.used.head) return print_no_job(given);
  auto const damage = found.damage();
  auto const state = damage.ok() ? state_of(found.used) : std::string{"damaged"};
  auto const files = files_of(found);
  if (given.as_json) {
    auto all = identity_json(found.used);
    all["state"] = state;
    all["damage"] = damage.message();
    json::array list;
    for (auto const& file : files) {
      list.push_back(
          json::object{{"file", file.name}, {"batches", file.batches}, {"state", file.state}});
    }
    all["files"] = std::move(list);
    fmt::print("{}\n", serialized(all));
  } else {
    table shown{{"file"}, {"batches"}, {"state"}};
    for (auto const& file : files) shown.add({file.name, file.batches, file.state});
    fmt::print("{}{}", identity_text(found.used), shown.text());
    if (state == "torn") {
      fmt::print(
          "torn at its end, after batch {}: nothing had followed from the last write, and "
          "the next start removes it\n",
          found.used.last_number);
    } else {
      fmt::print("{}\n", state);
    }
  }
  if (damage.ok()) return static_cast<int>(exit_code::ok);
  throw program_error{exit_code::failed, damage.message()};
}

json::object cut_json(server::journal_cut const& of) {
  json::array names;
  for (auto const& one : of.kept_in) names.push_back(json::string{file_name(one)});
  return {{"batches", of.batches},
          {"inputs", of.inputs},
          {"has_unreadable", of.has_unreadable},
          {"seconds", seconds(of.time)},
          {"kept_in", std::move(names)}};
}

void print_cut(server::journal_cut const& of, server::journal_files const& now) {
  if (of.batches > 0) {
    fmt::print(
        "gave up {}{} in {} {}, over {:.3f} s\n"
        "Clients that know what followed from them may disagree with the coordinator: restart "
        "them unless they can check it\n",
        of.has_unreadable ? "at least " : "", counted(of.inputs, "input"), of.batches,
        of.batches == 1 ? "batch" : "batches", seconds(of.time));
  } else {
    fmt::print("no input was given up\n");
  }
  for (auto const& one : of.kept_in) fmt::print("kept in '{}'\n", one);
  fmt::print("the journal now ends with batch {}, {:.3f} s after the start of the job\n",
             now.last_number, seconds(now.last_written.coordinator));
}

int repair(journal_command const& given) {
  auto const before = server::check_journal(given.directory);
  if (!before.used.head) return print_no_job(given);
  auto const cut = server::repair_journal(given.directory);
  auto const now = server::read_journal(given.directory);
  if (given.as_json) {
    auto all = cut_json(cut);
    all["last_batch"] = now.last_number;
    fmt::print("{}\n", serialized(all));
  } else if (cut.kept_in.empty() && cut.batches == 0) {
    fmt::print("whole: there is nothing to repair\n");
  } else {
    print_cut(cut, now);
  }
  return static_cast<int>(exit_code::ok);
}

// Batches that follow each other.
struct span {
  std::uint64_t first{};
  std::uint64_t last{};
  server::batch_time begins;
  server::batch_time ends;
  std::uint64_t bytes{};
  std::uint64_t inputs{};
};

struct contents {
  std::vector<span> spans;
  std::map<std::string, std::uint64_t> inputs;    // by kind
  std::map<std::string, std::uint64_t> requests;  // by operation
};

void count(contents& into, wire::record const& input) {
  if (input.kind != wire::record_kind::message) {
    ++into.inputs[kinds.at(static_cast<std::size_t>(input.kind))];
    return;
  }
  auto const message = wire::decode_client(input.content);
  auto const what = message ? core::row_of(message->what).name : "unknown";
  ++into.requests[std::string{what}];
}

contents contents_of(server::journal_files const& found, bool each_batch) {
  contents made;
  std::size_t segment = 0;
  server::each_batch(found, [&](server::batch const& one) {
    bool begins = each_batch || made.spans.empty();
    while (segment + 1 < found.segments.size() && found.segments[segment + 1].first <= one.number) {
      ++segment;
      begins = true;
    }
    if (begins) made.spans.emplace_back();
    auto& last = made.spans.back();
    if (begins) {
      last.first = one.number;
      last.begins = one.written;
    }
    last.last = one.number;
    last.ends = one.written;
    last.bytes += one.bytes();
    auto records = wire::recording_reader::of_records(one.payload);
    for (; auto const input = records.next(); ++last.inputs) count(made, *input);
  });
  return made;
}

// Those that differ from the defaults. The credentials are placeholders, and say nothing.
std::vector<std::pair<std::string, std::string>> changed_options(wire::recording_head const& head) {
  auto const defaults = server::settings_of(core::config{});
  std::vector<std::pair<std::string, std::string>> made;
  for (auto const& setting : head.settings) {
    auto [name, value] = setting;
    bool const is_default = std::find(defaults.begin(), defaults.end(), setting) != defaults.end();
    if (is_default || name == "credentials" || name == "job" || name == "num_tasks") continue;
    if (name.ends_with("_ns")) {
      name.resize(name.size() - 3);
      value = text_of(duration{std::stoll(value)});
    }
    made.emplace_back(std::move(name), std::move(value));
  }
  return made;
}

json::object counts_json(std::map<std::string, std::uint64_t> const& of) {
  json::object made;
  for (auto const& [kind, number] : of) made[kind] = number;
  return made;
}

void print_json(server::journal_files const& found, contents const& in) {
  auto all = identity_json(found);
  json::object options;
  for (auto const& [name, value] : changed_options(*found.head)) options[name] = value;
  json::array snapshots;
  for (auto const& snapshot : found.snapshots) {
    snapshots.push_back(
        json::object{{"file", file_name(snapshot.path)}, {"after", snapshot.number}});
  }
  json::array spans;
  for (auto const& span : in.spans) {
    spans.push_back(json::object{{"first", span.first},
                                 {"last", span.last},
                                 {"begins_s", seconds(span.begins.coordinator)},
                                 {"ends_s", seconds(span.ends.coordinator)},
                                 {"written", wall_text(span.ends, *found.head)},
                                 {"bytes", span.bytes},
                                 {"inputs", span.inputs}});
  }
  all["state"] = state_of(found);
  all["damage"] = found.damage.message();
  all["last_batch"] = found.last_number;
  all["last_written"] = wall_text(found.last_written, *found.head);
  all["uptime_s"] = seconds(found.last_written.coordinator);
  all["options"] = std::move(options);
  all["snapshots"] = std::move(snapshots);
  all["batches"] = std::move(spans);
  all["inputs"] = counts_json(in.inputs);
  all["requests"] = counts_json(in.requests);
  fmt::print("{}\n", serialized(all));
}

void print_text(server::journal_files const& found, contents const& in) {
  auto const& head = *found.head;
  fmt::print("{}last written {}, {:.3f} s after its start\n", identity_text(found),
             wall_text(found.last_written, head), seconds(found.last_written.coordinator));
  for (auto const& [name, value] : changed_options(head))
    fmt::print("option {}: {}\n", name, value);
  for (auto const& snapshot : found.snapshots) {
    fmt::print("snapshot after batch {}: {}\n", snapshot.number,
               size_text(fs::file_size(snapshot.path)));
  }
  table spans{{"batches"}, {"from s", align::right}, {"to s", align::right},
              {"written"}, {"size", align::right},   {"inputs", align::right}};
  for (auto const& span : in.spans) {
    spans.add({batches_text(span.first, span.last - span.first + 1),
               fmt::format("{:.3f}", seconds(span.begins.coordinator)),
               fmt::format("{:.3f}", seconds(span.ends.coordinator)), wall_text(span.ends, head),
               size_text(span.bytes), std::to_string(span.inputs)});
  }
  table counts{{"input"}, {"number", align::right}};
  for (auto const& [kind, number] : in.inputs) counts.add({kind, std::to_string(number)});
  for (auto const& [kind, number] : in.requests) {
    counts.add({"request " + kind, std::to_string(number)});
  }
  fmt::print("\n{}\n{}", spans.text(), counts.text());
  if (!found.damage.ok()) fmt::print("\n{}\n", found.damage.message());
  if (found.is_torn) fmt::print("\ntorn after batch {}\n", found.last_number);
}

int show(journal_command const& given) {
  auto const found = server::read_journal(given.directory);
  if (!found.head) return print_no_job(given);
  auto const in = contents_of(found, given.each_batch);
  if (given.as_json) {
    print_json(found, in);
  } else {
    print_text(found, in);
  }
  return static_cast<int>(exit_code::ok);
}

int run_action(journal_command const& given) try {
  if (!fs::is_directory(given.directory)) {
    throw program_error{exit_code::usage, fmt::format("'{}' is not a directory", given.directory)};
  }
  auto const lock = server::lock_journal(given.directory);
  if (given.action == "verify") return verify(given);
  return given.action == "repair" ? repair(given) : show(given);
} catch (error const& problem) {
  if (problem.code() != errc::data_loss) throw;
  throw program_error{exit_code::failed, problem.message()};
}

constexpr auto journal_footer =
    R"(DIR is the --journal of a coordinator, which must not be running.

verify reads all of it: exit code 0 if it is whole, or torn at its end; 1 if it is damaged, with the
place. A torn end is what the end of the process left of its last write. Nothing had followed from
it, and the next start removes it. Damage anywhere else is refused by the next start.

repair ends the journal before the damage, and removes damaged files that are not needed. It reports
how many inputs are given up, and over which time. What it removes is kept in files named cut-... in
DIR.

show prints the job, the options that differ from their defaults, snapshots, and since the last one
the batches with their times, and the number of inputs of each kind. It shows no values, secrets or
tokens.

EXAMPLES
  coxswain journal verify job.journal
  coxswain journal repair job.journal  # if the coordinator's start says so
  coxswain journal show job.journal --batches

)";

}  // namespace

void add_journal(CLI::App& program, action& chosen) {
  auto& command =
      add_subcommand(program, "journal", "Verifies, repairs or shows the journal of a coordinator",
                     chosen, run_action);
  auto& given = command.given;
  command.add_option("ACTION", given.action, "What to do")
      ->required()
      ->check(one_of({"verify", "repair", "show"}));
  command.add_option("DIR", given.directory, "Its directory")->required()->type_name("DIR");
  command.add_flag("--json", given.as_json, "One JSON object on one line, for programs");
  command.add_flag("--batches", given.each_batch, "With show: each batch, instead of each file");
  command.footer(help_end(journal_footer));
}

}  // namespace coxswain::tools
