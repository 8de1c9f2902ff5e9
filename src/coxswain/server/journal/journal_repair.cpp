#include "coxswain/server/journal/journal_repair.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/recording/settings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

namespace fs = std::filesystem;

// Any will do: only whether a snapshot can be loaded matters.
constexpr time_point some_start{1h};

error cannot_write(std::string const& path) {
  return error{{errc::unavailable,
                "cannot write '" + path + "': " + std::generic_category().message(errno)}};
}

bool is_damaged(status const& outcome) { return outcome.code() == errc::data_loss; }

status outcome_of_loading(snapshot_file const& from, core::config const& options) {
  auto const bytes = content_of(from.path);
  auto const found = read_batch(bytes);
  if (!found || found->number != from.number) {
    return {errc::data_loss, "the head of the snapshot '" + from.path + "' is damaged"};
  }
  auto const state = std::string_view{bytes}.substr(batch_head_bytes);
  auto const loaded = core::coordinator::load(options, state, some_start);
  if (loaded) return {};
  return {loaded.error().code(), "'" + from.path + "': " + loaded.error().message()};
}

// The number of the last snapshot that is not damaged; zero: none.
std::uint64_t usable_snapshot(std::vector<checked_snapshot> const& all) {
  auto const last = std::find_if(all.rbegin(), all.rend(), [](checked_snapshot const& snapshot) {
    return !is_damaged(snapshot.outcome);
  });
  return last == all.rend() ? 0 : last->file.number;
}

// Of the segments before the last snapshot, which need the snapshot before it, or none.
void check_earlier(journal_check& into, std::string const& directory) {
  auto const used = into.used.snapshots.empty() ? 0 : into.used.snapshots.back().number;
  auto const oldest =
      std::find_if(into.snapshots.begin(), into.snapshots.end(),
                   [](checked_snapshot const& snapshot) { return !is_damaged(snapshot.outcome); });
  bool const has_beginning = fs::exists(segment_path(directory, 1));
  if (used == 0 || (!has_beginning && oldest->file.number == used)) return;
  auto const all = read_journal(directory, has_beginning ? 0 : oldest->file.number);
  for (auto const& segment : all.segments) {
    if (segment.first <= used) into.earlier.push_back(segment);
  }
  if (all.last_number < used) into.earlier_damage = all.damage;
}

// A new name in the directory of `path`.
std::string name_for_removed(std::string const& path) {
  fs::path const of{path};
  auto const base = (of.parent_path() / ("cut-" + of.filename().string())).string();
  auto made = base;
  for (int i = 2; fs::exists(made); ++i) made = base + "-" + std::to_string(i);
  return made;
}

void set_aside(journal_cut& into, std::string const& path) {
  auto to = name_for_removed(path);
  if (::rename(path.c_str(), to.c_str()) != 0) throw cannot_write(to);
  into.kept_in.push_back(std::move(to));
}

void write_durably(std::string const& path, std::string_view bytes) {
  net::descriptor const file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!file) throw cannot_write(path);
  while (!bytes.empty()) {
    auto const written = ::write(file.value(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) throw cannot_write(path);
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.value()) != 0) throw cannot_write(path);
}

void truncate_durably(std::string const& path, std::size_t size) {
  net::descriptor const file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  bool const is_done = file && ::ftruncate(file.value(), static_cast<off_t>(size)) == 0 &&
                       ::fsync(file.value()) == 0;
  if (!is_done) throw cannot_write(path);
}

// Counts the whole batches that are later than the last one left.
void count(journal_cut& into, journal_files const& in, std::string_view bytes, std::size_t from) {
  auto last = in.last_number + into.batches;
  for (std::size_t at = from; at + batch_head_bytes <= bytes.size();) {
    auto const found = read_batch(bytes.substr(at));
    bool const is_later = found && found->number > last;
    at += is_later ? found->bytes() : 8;
    if (!is_later) continue;
    into.has_unreadable |= found->number != last + 1;
    last = found->number;
    into.inputs += records_in(*found);
    into.time = std::max(into.time, found->written.coordinator - in.last_written.coordinator);
  }
  into.batches = last - in.last_number;
}

// Ends the journal after its last batch before the damage. Later segments go first: if this is
// interrupted, the damage is still found.
void cut(journal_cut& into, std::string const& directory, journal_files const& in) {
  auto const damaged = in.is_torn ? in.segments.size() - 1 : in.damaged_segment;
  auto const& first = in.segments[damaged];
  if (!fs::exists(first.path)) {
    into.batches =
        std::max<std::uint64_t>(in.last_written_number, in.last_number + 1) - in.last_number;
    into.has_unreadable = true;
    return set_aside(into, last_path(directory));
  }
  auto const bytes = content_of(first.path);
  count(into, in, bytes, first.valid_bytes);
  for (std::size_t i = damaged + 1; i < in.segments.size(); ++i) {
    count(into, in, content_of(in.segments[i].path), 0);
  }
  if (in.last_written_number > in.last_number + into.batches) {
    into.batches = in.last_written_number - in.last_number;
    into.has_unreadable = true;
  }
  for (auto i = in.segments.size() - 1; i > damaged; --i) set_aside(into, in.segments[i].path);
  if (first.valid_bytes == 0) return set_aside(into, first.path);
  if (first.valid_bytes == bytes.size()) return;
  auto to = name_for_removed(segment_path(directory, in.last_number + 1));
  write_durably(to, std::string_view{bytes}.substr(first.valid_bytes));
  sync_directory(directory);
  truncate_durably(first.path, first.valid_bytes);
  into.kept_in.push_back(std::move(to));
}

}  // namespace

std::uint64_t records_in(batch const& of) {
  std::uint64_t count{};
  for (auto records = wire::recording_reader::of_records(of.payload); records.next();) ++count;
  return count;
}

status journal_check::damage() const {
  if (!used.damage.ok()) return used.damage;
  for (auto const& snapshot : snapshots) {
    if (is_damaged(snapshot.outcome)) return snapshot.outcome;
  }
  return earlier_damage;
}

journal_check check_journal(std::string const& directory) {
  journal_check made;
  made.used = read_journal(directory);
  if (!made.used.head) return made;
  auto const options = config_of(*made.used.head);
  auto all = made.used.snapshots;
  all.insert(all.end(), made.used.unreadable.rbegin(), made.used.unreadable.rend());
  for (auto& snapshot : all) {
    auto outcome = outcome_of_loading(snapshot, options);
    made.snapshots.push_back({std::move(snapshot), std::move(outcome)});
  }
  auto const usable = usable_snapshot(made.snapshots);
  bool const is_last_usable =
      made.used.snapshots.empty() || made.used.snapshots.back().number == usable;
  if (!is_last_usable) made.used = read_journal(directory, usable);
  check_earlier(made, directory);
  return made;
}

journal_cut repair_journal(std::string const& directory) {
  auto const found = check_journal(directory);
  journal_cut made;
  if (!found.used.damage.ok() || found.used.is_torn) {
    cut(made, directory, found.used);
    ::unlink(last_path(directory).c_str());
  }
  auto const used = found.used.snapshots.empty() ? 0 : found.used.snapshots.back().number;
  bool const removes_earlier = !found.earlier_damage.ok();
  for (auto const& snapshot : found.snapshots) {
    bool const is_earlier = removes_earlier && snapshot.file.number < used;
    if (is_damaged(snapshot.outcome) || is_earlier) set_aside(made, snapshot.file.path);
  }
  for (auto const& file : found.earlier) {
    if (removes_earlier) set_aside(made, file.path);
  }
  if (!made.kept_in.empty()) sync_directory(directory);
  return made;
}

}  // namespace coxswain::server
