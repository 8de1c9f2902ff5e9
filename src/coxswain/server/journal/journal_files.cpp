#include "coxswain/server/journal/journal_files.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/descriptor.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view segment_extension = ".seg";
constexpr std::string_view snapshot_extension = ".snap";
constexpr std::size_t number_digits = 16;

error cannot_read(std::string const& path, int problem) {
  return error{{errc::unavailable,
                "cannot read '" + path + "': " + std::generic_category().message(problem)}};
}

std::string path_of(std::string const& directory, std::uint64_t number,
                    std::string_view extension) {
  std::array<char, number_digits + 1> name;
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(number));
  return directory + "/" + name.data() + std::string{extension};
}

void list_files(journal_files& into, std::string const& directory) {
  std::error_code problem;
  for (auto const& entry : fs::directory_iterator{directory, problem}) {
    auto path = entry.path().string();
    auto const number = number_of(path);
    if (!number) continue;
    if (entry.path().extension() == segment_extension) {
      into.segments.push_back({.path = std::move(path), .first = *number});
    } else {
      into.snapshots.push_back({std::move(path), *number});
    }
  }
  if (problem) throw cannot_read(directory, problem.value());
  std::sort(into.segments.begin(), into.segments.end(),
            [](segment_file const& a, segment_file const& b) { return a.first < b.first; });
  std::sort(into.snapshots.begin(), into.snapshots.end(),
            [](snapshot_file const& a, snapshot_file const& b) { return a.number < b.number; });
}

// The batches continue after the last snapshot, or from the beginning.
void begin_at_snapshot(journal_files& into, std::string const& directory, std::uint64_t newest) {
  bool const had_snapshots = !into.snapshots.empty();
  std::erase_if(into.snapshots,
                [newest](snapshot_file const& file) { return file.number > newest; });
  for (; !into.snapshots.empty(); into.snapshots.pop_back()) {
    auto const& last = into.snapshots.back();
    auto const bytes = content_of(last.path);
    auto const found = read_batch(bytes);
    if (found && found->number == last.number) {
      into.last_number = last.number;
      into.last_checksum = found->previous;
      into.last_written = found->written;
      into.behaviour = found->behaviour;
      std::erase_if(into.segments,
                    [&](segment_file const& segment) { return segment.first <= last.number; });
      return;
    }
    into.unreadable.push_back(last);
  }
  bool const has_beginning =
      into.segments.empty() ? !had_snapshots : into.segments.front().first == 1;
  if (has_beginning) return;
  throw error{{errc::data_loss, "the journal '" + directory +
                                    "' has no snapshot that can be read, and the inputs before it "
                                    "were removed: its job cannot be continued"}};
}

void read_head(journal_files& into, std::string const& path) {
  if (!fs::exists(path)) return;
  auto const bytes = content_of(path);
  auto const found = read_batch(bytes);
  if (!found || found->number != 0) {
    throw error{{errc::data_loss,
                 "the journal's head '" + path + "' is damaged: its job cannot be continued"}};
  }
  into.head = wire::recording_reader{found->payload}.head();
  into.last_checksum = found->checksum;
  into.last_written = found->written;
  into.behaviour = found->behaviour;
}

// Whether any whole batch that begins after `from` shows that more than those up to `number` was
// durable. Without one, what is missing may never have reached the disk, and nothing followed from
// it.
bool was_durable(std::string_view bytes, std::size_t from, std::uint64_t number) {
  for (std::size_t at = from; at + batch_head_bytes <= bytes.size(); at += 8) {
    auto const found = read_batch(bytes.substr(at));
    if (found && found->number > number && found->durable > number) return true;
  }
  return false;
}

status damaged(segment_file const& in, std::string const& directory, std::uint64_t after,
               std::string const& why) {
  return {errc::data_loss, "the journal is damaged after batch " + std::to_string(after) +
                               ", at byte " + std::to_string(in.valid_bytes) + " of '" + in.path +
                               "': " + why + ". To continue without what follows: coxswain " +
                               "journal repair " + directory};
}

// The last batch written since this boot. After a crash of the machine it may be missing.
last_note note_of(std::string const& directory) {
  last_note made;
  std::uint64_t boot{};
  std::ifstream{last_path(directory)} >> std::hex >> made.segment >> boot >> made.batch;
  return boot != 0 && boot == this_boot() ? made : last_note{};
}

// The end of a process leaves the beginning of a batch, or nothing; the end of the machine leaves
// anything.
bool may_be_torn(journal_files const& after, std::string_view rest) {
  auto const boot = this_boot();
  return boot == 0 || after.last_written.boot != boot || is_begun_batch(rest);
}

std::string missing_text(std::uint64_t first, std::uint64_t last) {
  return first == last ? "batch " + std::to_string(first) + " was written and is missing"
                       : "batches " + std::to_string(first) + " to " + std::to_string(last) +
                             " were written and are missing";
}

// By its name the segment begins later than where the batches before it end.
void find_gap(journal_files& in, std::size_t before, std::string const& directory) {
  auto const& next = in.segments[before];
  if (next.first <= in.last_number + 1) return;
  in.damaged_segment = before == 0 ? 0 : before - 1;
  in.damage = damaged(in.segments[in.damaged_segment], directory, in.last_number,
                      missing_text(in.last_number + 1, next.first - 1));
}

void find_missing(journal_files& in, std::string const& directory, last_note const& note) {
  auto const from_snapshot = in.snapshots.empty() ? 0 : in.snapshots.back().number;
  bool const is_there = !in.segments.empty() && in.segments.back().first >= note.segment;
  if (!is_there && note.segment > from_snapshot) {
    in.damaged_segment = in.segments.size();
    in.segments.push_back({.path = segment_path(directory, note.segment), .first = note.segment});
    in.damage = damaged(in.segments.back(), directory, in.last_number, "the file is missing");
  } else if (!in.segments.empty() && in.last_number < note.batch) {
    in.damaged_segment = in.segments.size() - 1;
    in.damage = damaged(in.segments.back(), directory, in.last_number,
                        missing_text(in.last_number + 1, note.batch));
  }
}

}  // namespace

segment_end follow(journal_files& into, segment_file& in, std::string_view bytes) {
  while (auto const next = read_batch(bytes.substr(in.valid_bytes))) {
    bool const continues =
        next->number == into.last_number + 1 && next->previous == into.last_checksum;
    if (!continues) break;
    in.valid_bytes += std::min(next->bytes(), bytes.size() - in.valid_bytes);
    ++in.batches;
    into.last_number = next->number;
    into.last_checksum = next->checksum;
    into.last_written = next->written;
    into.behaviour = next->behaviour;
  }
  if (in.valid_bytes == bytes.size()) return segment_end::whole;
  return was_durable(bytes, in.valid_bytes, into.last_number) ? segment_end::damaged
                                                              : segment_end::torn;
}

journal_files read_journal(std::string const& directory, std::uint64_t newest) {
  journal_files made;
  read_head(made, head_path(directory));
  list_files(made, directory);
  if (!made.head) {
    if (made.segments.empty() && made.snapshots.empty()) return made;
    throw error{{errc::data_loss, "the journal '" + directory +
                                      "' has no head, but other files of a job: move them away to "
                                      "begin a new one"}};
  }
  begin_at_snapshot(made, directory, newest);
  auto const note = note_of(directory);
  made.last_written_number = note.batch;
  if (!made.segments.empty()) {
    made.last_written_number = std::max(note.batch, made.segments.back().first - 1);
  }
  for (std::size_t i = 0; i < made.segments.size(); ++i) {
    find_gap(made, i, directory);
    if (!made.damage.ok()) return made;
    auto& segment = made.segments[i];
    auto const bytes = content_of(segment.path);
    auto const end = follow(made, segment, bytes);
    if (end == segment_end::whole) continue;
    bool const is_last = i + 1 == made.segments.size();
    auto const rest = std::string_view{bytes}.substr(segment.valid_bytes);
    std::string why;
    if (end == segment_end::damaged) {
      why = "later batches are whole";
    } else if (!is_last) {
      why = missing_text(made.last_number + 1, made.segments[i + 1].first - 1);
    } else if (!may_be_torn(made, rest)) {
      why = "this is no end that a process can have left";
    }
    if (!why.empty()) {
      made.damage = damaged(segment, directory, made.last_number, why);
      made.damaged_segment = i;
      return made;
    }
    made.is_torn = true;
  }
  find_missing(made, directory, note);
  return made;
}

journal_lock lock_journal(std::string const& directory) {
  auto const path = directory + "/lock";
  auto const is_in_use = [&] {
    std::string holder;
    std::ifstream{path} >> holder;
    return error{
        {errc::unavailable, "the journal '" + directory + "' is in use by " +
                                (holder.empty() ? "another process" : "the process " + holder)}};
  };
  auto const cannot_lock = [&] {
    return error{{errc::unavailable, "cannot lock the journal '" + directory +
                                         "': " + std::generic_category().message(errno)}};
  };
  journal_lock made{net::descriptor{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)},
                    {}};
  if (!made.directory) throw cannot_lock();
  bool const is_locked = ::flock(made.directory.value(), LOCK_EX | LOCK_NB) == 0;
  if (!is_locked && errno == EWOULDBLOCK) throw is_in_use();
  made.file = net::descriptor{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!made.file) throw cannot_lock();
  if (::flock(made.file.value(), LOCK_EX | LOCK_NB) != 0) throw is_in_use();
  auto const self = std::to_string(::getpid()) + "\n";
  bool const is_written = ::ftruncate(made.file.value(), 0) == 0 &&
                          ::write(made.file.value(), self.data(), self.size()) >= 0;
  if (!is_written && errno != ENOSPC && errno != EDQUOT) {
    throw error{{errc::unavailable,
                 "cannot write '" + path + "': " + std::generic_category().message(errno)}};
  }
  return made;
}

void each_batch(journal_files const& of, std::function<void(batch const&)> const& use) {
  for (auto const& segment : of.segments) {
    if (segment.batches == 0) continue;
    auto const bytes = content_of(segment.path);
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < segment.batches; ++i) {
      auto const next = read_batch(std::string_view{bytes}.substr(at));
      if (!next)
        throw error{{errc::data_loss, "'" + segment.path + "' has changed while it was read"}};
      use(*next);
      at += next->bytes();
    }
  }
}

std::string content_of(std::string const& path) {
  net::descriptor const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) throw cannot_read(path, errno);
  std::string all;
  std::array<char, 64 * 1024> some;
  for (;;) {
    auto const got = ::read(file.value(), some.data(), some.size());
    if (got == 0) return all;
    if (got > 0) {
      all.append(some.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      throw cannot_read(path, errno);
    }
  }
}

// The kernel draws a UUID at each boot; its first half will do.
std::uint64_t this_boot() {
  std::string id;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> id;
  std::erase(id, '-');
  std::uint64_t made{};
  std::from_chars(id.data(), id.data() + std::min<std::size_t>(id.size(), 16), made, 16);
  return made;
}

void write_note(net::descriptor const& file, last_note const& what, std::uint64_t boot) noexcept {
  std::array<char, 3 * (number_digits + 1) + 1> text;
  std::snprintf(text.data(), text.size(), "%016llx %016llx %016llx\n",
                static_cast<unsigned long long>(what.segment),
                static_cast<unsigned long long>(boot), static_cast<unsigned long long>(what.batch));
  if (file) static_cast<void>(::pwrite(file.value(), text.data(), text.size() - 1, 0) < 0);
}

void sync_directory(std::string const& directory) {
  net::descriptor const opened{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened && ::fsync(opened.value()) == 0) return;
  throw error{{errc::unavailable, "cannot synchronize '" + directory +
                                      "': " + std::generic_category().message(errno)}};
}

std::string head_path(std::string const& directory) { return directory + "/head"; }

std::string last_path(std::string const& directory) { return directory + "/last"; }

std::string segment_path(std::string const& directory, std::uint64_t first) {
  return path_of(directory, first, segment_extension);
}

std::string snapshot_path(std::string const& directory, std::uint64_t number) {
  return path_of(directory, number, snapshot_extension);
}

std::optional<std::uint64_t> number_of(std::string const& path) {
  fs::path const name{path};
  auto const stem = name.stem().string();
  bool const is_one =
      name.extension() == segment_extension || name.extension() == snapshot_extension;
  if (!is_one || stem.size() != number_digits) return std::nullopt;
  std::uint64_t number{};
  auto const* const end = stem.data() + stem.size();
  auto const [at, problem] = std::from_chars(stem.data(), end, number, 16);
  return problem == std::errc{} && at == end ? std::optional{number} : std::nullopt;
}

std::string read_snapshot(snapshot_file const& from) {
  return content_of(from.path).substr(batch_head_bytes);
}

}  // namespace coxswain::server
