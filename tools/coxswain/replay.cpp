// coxswain replay: what happened in a job, from the recording of its coordinator.

#include "commands.hpp"
#include "exit_code.hpp"
#include "harmless_text.hpp"
#include "machine.hpp"
#include "status_text.hpp"
#include "units.hpp"

#include "coxswain/server/replay.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::tools {
namespace {

struct replay_command {
  std::string file;
  duration until{without_limit};
  bool compare{};
};

constexpr char const* marks[] = {" ", "!", "E"};

void print_event(duration at, std::size_t level, std::string_view text) {
  auto const seconds = std::chrono::duration<double>(at).count();
  fmt::print("{:>12.3f} s {} {}\n", seconds, marks[std::min<std::size_t>(level, 2)],
             harmless_line(text));
}

void print_head(server::replay const& again) {
  auto const& head = again.head();
  fmt::print("coordinator {:x}, started {}\n", head.coordinator.value, rfc3339(head.started));
  if (again.is_whole()) return;
  fmt::print(
      "the first {} records were lost (see --record-bytes-max): what follows was logged "
      "then, and is not done again\n",
      head.lost);
}

// The recorded event must be what the core tells now, too.
void check(wire::record const& then, std::deque<std::string>& now) {
  auto const told = now.empty() ? std::string{"nothing"} : "'" + now.front() + "'";
  if (!now.empty()) now.pop_front();
  if (told == "'" + std::string{then.content} + "'") return;
  throw program_error{
      exit_code::failed,
      fmt::format("at {:.3f} s the coordinator said '{}', and now it says {}",
                  std::chrono::duration<double>(then.at).count(), then.content, told)};
}

int replay_file(replay_command const& given) {
  auto const recording = read_file(given.file, "FILE");
  server::replay again{recording};
  print_head(again);
  if (given.compare && !again.is_whole()) {
    throw program_error{exit_code::failed, "--compare: the recording has no beginning"};
  }
  std::deque<std::string> told_now;
  while (auto const record = again.step(given.until)) {
    bool const is_event = record->kind == wire::record_kind::event;
    if (is_event) print_event(record->at, record->number, record->content);
    if (!given.compare) continue;
    for (auto& e : again.take_events()) told_now.push_back(std::move(e.text));
    if (is_event) check(*record, told_now);
  }
  if (again.is_cut_off()) {
    fmt::print("the recording ends within a record: what came then is missing\n");
  }
  if (again.is_whole()) fmt::print("\n{}", status_text(again.look()));
  return static_cast<int>(exit_code::ok);
}

constexpr auto replay_footer =
    R"(The recording is what was put into the coordinator, message by message. It is done again in a
fresh coordinator, in the recorded time; then the job is shown as it was at the end, or with
--until at that moment. Marks: ! a warning, E an error.

A coordinator keeps its last inputs (--record-bytes-max) and writes them to a file when the job
fails, or on SIGUSR1: in $XDG_STATE_HOME/coxswain or ~/.local/state/coxswain, where the newest 20
are kept. With --record FILE it writes all of them as they come. A recording contains the
names of keys, queues and barriers, and error messages, but no values, tokens or secrets.

EXAMPLES
  coxswain replay ~/.local/state/coxswain/coxswain-20261123T091252-7.recording
  coxswain replay job.recording --until 12.5s
  coxswain replay job.recording --compare > /dev/null   # still the same?

)";

}  // namespace

void add_replay(CLI::App& program, action& chosen) {
  auto given = std::make_shared<replay_command>();
  auto& command =
      add_subcommand(program, "replay", "Tells what happened in a job, from its recording", chosen,
                     [given] { return replay_file(*given); });
  command.add_option("FILE", given->file, "The recording")->required();
  add_duration(command, "--until", given->until, "Show the job as it was so long after its start",
               {.may_be_forever = true});
  command.add_flag("--compare", given->compare,
                   "Fail if the coordinator of this version says anything else than then");
  command.footer(help_end(replay_footer));
}

}  // namespace coxswain::tools
