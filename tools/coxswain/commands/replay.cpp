// coxswain replay: what happened in a job, from a recording or the journal of its coordinator.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/units.hpp"
#include "process/machine.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "text/job_trace.hpp"
#include "text/status_text.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/journal/journal_repair.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "coxswain/server/recording/seekable_replay.hpp"
#include "coxswain/status/page.hpp"
#include "coxswain/status/source/recorded_events.hpp"
#include "coxswain/status/source/recorded_job.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/asio/signal_set.hpp>

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// The bytes of a recording. A file is mapped, so that a long one needs no memory of its own.
class recording_bytes {
 public:
  explicit recording_bytes(std::string const& file) {
    std::error_code problem;
    auto const size = std::filesystem::is_regular_file(file, problem)
                          ? std::filesystem::file_size(file, problem)
                          : std::uintmax_t{0};
    net::descriptor const from{size > 0 ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC) : -1};
    if (from) {
      auto* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, from.value(), 0);
      if (at != MAP_FAILED) mapped_ = {static_cast<char const*>(at), size};
    }
    if (mapped_.empty()) read_ = read_file(file, "FILE");
  }
  ~recording_bytes() {
    if (!mapped_.empty()) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  }
  recording_bytes(recording_bytes const&) = delete;
  recording_bytes& operator=(recording_bytes const&) = delete;

  [[nodiscard]] std::string_view bytes() const { return mapped_.empty() ? read_ : mapped_; }

 private:
  std::string_view mapped_;
  std::string read_;
};

struct replay_command {
  std::vector<std::string> files;
  duration until{without_limit};
  bool compare{};
  std::string http;
  std::string trace;
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
      "the first {} records were lost (see --record-bytes-max): the events below are "
      "those recorded, not replayed\n",
      head.lost);
}

// What the coordinator of this version does differently from the recorded one; empty if nothing.
std::string difference(server::replay& again, duration until) {
  if (!again.is_whole()) return "the beginning of the recording is missing";
  while (auto const record = again.step(until)) {
    if (again.difference().empty()) continue;
    return fmt::format("at {:.3f} s {}", std::chrono::duration<double>(record->at).count(),
                       again.difference());
  }
  auto const same = again.compared();
  return same.messages + same.events == 0 ? "the recording has no digests to compare" : "";
}

// Whether both do the same; prints the result.
bool is_same(std::string const& file, duration until) {
  auto const recording = read_file(file, "FILE");
  std::string verdict;
  bool is_same = false;
  try {
    server::replay again{recording};
    verdict = difference(again, until);
    is_same = verdict.empty();
    auto const [messages, events, not_compared] = again.compared();
    if (is_same) verdict = fmt::format("{} messages and {} events are the same", messages, events);
    if (is_same && not_compared > 0) verdict += fmt::format(", {} have no digest", not_compared);
  } catch (error const& problem) {
    verdict = problem.what();
  }
  fmt::print("{}: {}\n", file, harmless_line(verdict));
  return is_same;
}

int compare(std::vector<std::string> const& files, duration until) {
  for (auto const& file : files) {
    if (!std::filesystem::is_directory(file)) continue;
    throw program_error{
        exit_code::usage,
        fmt::format("--compare: '{}' is a journal, which has no digests to compare; use --record",
                    file)};
  }
  auto const same = std::count_if(files.begin(), files.end(), [until](std::string const& file) {
    return is_same(file, until);
  });
  auto const all = std::ssize(files);
  if (same == all) return static_cast<int>(exit_code::ok);
  throw program_error{exit_code::failed,
                      fmt::format("--compare: {} of {} recordings differ", all - same, all)};
}

// A recording has the events of its coordinator; those of a journal are what the replay reports.
void print_replay(server::replay& again, duration until, bool is_journal) {
  print_head(again);
  while (auto const record = again.step(until)) {
    bool const is_event = record->kind == wire::record_kind::event;
    if (is_event) print_event(record->at, record->number, record->content);
    for (auto const& one : again.events()) {
      if (is_journal) print_event(record->at, static_cast<std::size_t>(one.level), one.text);
    }
  }
}

void print_job(server::replay const& again) { fmt::print("\n{}", status_text(again.look())); }

// Of one that lost its beginning, the events.
std::unique_ptr<status_page::job_source> source_of(server::replay again) {
  if (!again.is_whole()) return std::make_unique<status_page::recorded_events>(std::move(again));
  return std::make_unique<status_page::recorded_job>(server::seekable_replay{std::move(again)});
}

// Until a signal ends it.
int show_page(server::replay again, std::string const& file, std::string const& address) {
  auto job = source_of(std::move(again));
  asio::io_context io{1};
  asio::signal_set signals{io, SIGINT, SIGTERM};
  signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
  status_page::options given;
  given.listen = address;
  try {
    status_page::page const page{io, std::move(job), given};
    print_error("coxswain replay: '{}' is shown at {} until Ctrl-C\n", harmless_line(file),
                page.url());
    io.run();
  } catch (error const& problem) {
    if (problem.code() != errc::failed_precondition) throw;
    throw program_error{exit_code::usage,
                        "--http: a recording is shown to this host only; from another one, ssh -L "
                        "forwards the port"};
  }
  return static_cast<int>(exit_code::ok);
}

int write_trace(server::replay again, std::string const& file, replay_command const& given) {
  if (!again.is_whole()) {
    throw program_error{
        exit_code::failed,
        fmt::format("'{}' lacks its first {} records, so the job cannot be replayed, and only its "
                    "events are left: coxswain replay {}. A larger --record-bytes-max keeps more, "
                    "and --record FILE all.",
                    file, again.head().lost, file)};
  }
  std::ofstream out{given.trace, std::ios::binary | std::ios::trunc};
  job_trace trace{[&out](std::string_view text) { out << text; }, again.head()};
  while (auto const record = again.step(given.until)) trace.add(*record, again);
  trace.finish(again.reached());
  out.close();
  if (out) return static_cast<int>(exit_code::ok);
  throw program_error{exit_code::failed, fmt::format("--trace: cannot write '{}'", given.trace)};
}

int replay_journal(std::string const& directory, replay_command const& given) {
  std::optional lock{server::lock_journal(directory)};
  auto const found = server::check_journal(directory).used;
  if (!found.head) {
    throw program_error{exit_code::usage, fmt::format("there is no job in '{}'", directory)};
  }
  auto const records = server::records_of(found);
  server::replay again{found, records};
  lock.reset();  // all is read: the coordinator may be started again
  if (!given.http.empty()) return show_page(std::move(again), directory, given.http);
  if (!given.trace.empty()) return write_trace(std::move(again), directory, given);
  if (again.begins() > duration::zero()) {
    fmt::print("a snapshot has what happened in the first {}: the events below are later\n",
               text_of(again.begins()));
  }
  print_replay(again, given.until, true);
  if (found.is_torn) fmt::print("the journal ends within a batch: nothing had followed from it\n");
  if (!found.damage.ok()) fmt::print("{}\n", harmless_line(found.damage.message()));
  print_job(again);
  return static_cast<int>(exit_code::ok);
}

int replay_recording(std::string const& file, replay_command const& given) {
  recording_bytes const recording{file};
  server::replay again{recording.bytes()};
  if (!given.http.empty()) return show_page(std::move(again), file, given.http);
  if (!given.trace.empty()) return write_trace(std::move(again), file, given);
  print_replay(again, given.until, false);
  if (again.is_cut_off()) {
    fmt::print("the recording ends within a record: what followed is missing\n");
  }
  if (again.is_whole()) print_job(again);
  return static_cast<int>(exit_code::ok);
}

int replay_file(replay_command const& given) {
  if (given.compare) return compare(given.files, given.until);
  if (given.files.size() > 1) {
    throw program_error{exit_code::usage, "only --compare takes several recordings"};
  }
  auto const& file = given.files.front();
  if (std::filesystem::is_directory(file)) return replay_journal(file, given);
  return replay_recording(file, given);
}

constexpr auto replay_footer =
    R"(A recording has all inputs of the coordinator, message by message. They are replayed into a
new coordinator, in the recorded time; then the job is shown as it was at the end, or at --until.
Marks: ! is a warning, E an error.

A coordinator keeps its last inputs (--record-bytes-max) and writes them to a file when the job
fails, or on SIGUSR1: in $XDG_STATE_HOME/coxswain or ~/.local/state/coxswain, where the newest 20
are kept. With --record FILE it writes all of them as they come. A recording contains the
names of keys, queues and barriers, and error messages, but no values, tokens or secrets.

FILE may also be the directory of a journal (serve --journal) whose coordinator has ended. It is
replayed from its last snapshot on; its values and secrets are not shown.

With --http the status page of the job is served from FILE, with a slider for the time. Programs ask
as those of a running job do, with the time: /api/v1/state?at=12.5s.

With --trace, FILE becomes trace events for https://ui.perfetto.dev and its trace_processor: a track
for each task, slices for the calls that waited and for epochs, and arrows from the last arrival at
a barrier to the calls that it released.

With --compare, the digests of what the coordinator sends and reports in each replay must be the
recorded ones. Otherwise the first difference is printed, with its time, connection and request. A
recording kept in memory has digests of events only, a journal has none.

EXAMPLES
  coxswain replay ~/.local/state/coxswain/coxswain-20261123T091252-7.recording
  coxswain replay job.recording --until 12.5s
  coxswain replay job.recording --http :8477
  coxswain replay job.recording --trace out.json
  coxswain replay --compare recordings/*  # does this version behave the same?

)";

}  // namespace

void add_replay(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "replay", "Replays a recording or a journal, and prints what happened in the job",
      chosen, replay_file);
  auto& given = command.given;
  command
      .add_option("FILE", given.files,
                  "The recording, or a journal's directory; with --compare one or more recordings")
      ->required();
  add_timeout(command, "--until", given.until, "Show the job as it was this long after its start");
  command.add_flag(
      "--compare", given.compare,
      "Fail if this version replies or reports anything different, except texts and values");
  auto* const http =
      command.add_option("--http", given.http, "Serve the job's status page there until Ctrl-C");
  http->type_name("ADDRESS")->excludes("--until")->excludes("--compare");
  command.add_option("--trace", given.trace, "Write the job as trace events, for Perfetto")
      ->type_name("FILE")
      ->excludes("--http")
      ->excludes("--compare");
  command.footer(help_end(replay_footer));
}

}  // namespace coxswain::tools
