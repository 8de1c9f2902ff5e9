#include "coxswain/server/journal/file_journal.hpp"

#include "coxswain/base/error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

namespace fs = std::filesystem;

// A segment ends with the batch that makes it this large.
constexpr std::size_t segment_bytes_max = 64 * 1024 * 1024;

// More is not left unsynchronized.
constexpr std::size_t unsynchronized_bytes_max = 64 * 1024 * 1024;

// The capacity of the buffer kept between commits.
constexpr std::size_t buffer_bytes = 1024 * 1024;

constexpr duration age_max_by_wall_clock = 1h;

// How often it tries to reserve space.
constexpr duration reserve_period = 1s;

// A snapshot is wanted when the inputs since the last one are longer than this and than twice the
// snapshot; or older than this and longer than the smaller size.
constexpr std::uint64_t log_bytes_max = 64 * 1024 * 1024;
constexpr std::uint64_t log_bytes_min = 1024 * 1024;
constexpr duration log_age_max = 10min;

// When the disk is full, snapshots keep the inputs shorter than the space that was reserved, as
// long as that much is left for further inputs.
constexpr std::uint64_t log_bytes_max_when_full = file_journal::reserved_bytes / 8;

std::string text_of(int problem) { return std::generic_category().message(problem); }

error unavailable(std::string const& what, int problem) {
  return error{{errc::unavailable, what + ": " + text_of(problem)}};
}

duration clock(clockid_t which) {
  timespec now{};
  ::clock_gettime(which, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

// Zero, or why `bytes` was not written, which are those that are left then.
int write_all(int to, std::string_view& bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(to, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

net::descriptor open_directory(std::string const& path) {
  return net::descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

int write_whole(int to, std::string_view bytes) { return write_all(to, bytes); }

bool is_full(int problem) noexcept { return problem == ENOSPC || problem == EDQUOT; }

std::uint64_t free_bytes(std::string const& directory) {
  std::error_code problem;
  auto const space = fs::space(directory, problem);
  return problem ? 0 : space.available;
}

std::string reserve_path(std::string const& directory) { return directory + "/reserve"; }

// Replaces the file, so that it is either complete or as it was.
void write_file(std::string const& path, std::string_view bytes) {
  auto const unfinished = path + ".new";
  net::descriptor const file{
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  int problem = file ? write_whole(file.value(), bytes) : errno;
  if (problem == 0 && ::fsync(file.value()) != 0) problem = errno;
  if (problem == 0 && ::rename(unfinished.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return;
  ::unlink(unfinished.c_str());
  throw unavailable("cannot write '" + path + "'", problem);
}

// A child that writes a snapshot has nothing that belongs to its parent, whose end must show at
// once: neither the directory's lock nor connections.
void begin_child(pid_t parent) {
  constexpr int first = STDERR_FILENO + 1;
  if (::close_range(first, ~0U, 0) != 0) {
    for (auto i = ::sysconf(_SC_OPEN_MAX) - 1; i >= first; --i) ::close(static_cast<int>(i));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

// Whether it is there, and whole: its name is given to a complete file.
bool has_snapshot(std::string const& directory, std::uint64_t number) {
  net::descriptor const file{
      ::open(snapshot_path(directory, number).c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<char, batch_head_bytes> head;
  if (!file || ::read(file.value(), head.data(), head.size()) != std::ssize(head)) return false;
  auto const found = read_batch({head.data(), head.size()});
  return found && found->number == number;
}

}  // namespace

file_journal::file_journal(std::string directory, durability level)
    : directory_{std::move(directory)}, boot_{this_boot()} {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw unavailable("cannot create the journal '" + directory_ + "'", errno);
  }
  lock_ = lock_journal(directory_);
  found_ = read_journal(directory_);
  if (!found_.damage.ok()) throw error{found_.damage};
  if (level == durability::disk) disk_.emplace();
}

file_journal::~file_journal() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

duration file_journal::age() const {
  auto const& last = found_.last_written;
  if (last.boot == boot_) return clock(CLOCK_BOOTTIME) - last.since_boot;
  return std::clamp<duration>(clock(CLOCK_REALTIME) - last.since_1970, duration::zero(),
                              age_max_by_wall_clock);
}

void file_journal::go_on() {
  number_ = durable_ = synchronizing_ = found_.last_number;
  checksum_ = found_.last_checksum;
  last_at_ = found_.last_written.coordinator;
  snapshot_at_ = clock(CLOCK_BOOTTIME);
  if (!found_.snapshots.empty()) last_snapshot_ = found_.snapshots.back().number;
  for (auto const& segment : found_.segments) bytes_written_ += segment.valid_bytes;
  count_files();
  if (found_.is_torn) cut_torn_end();
  if (disk_) synchronize_found();
}

void file_journal::cut_torn_end() const {
  auto const& last = found_.segments.back();
  if (::truncate(last.path.c_str(), static_cast<off_t>(last.valid_bytes)) != 0) {
    throw unavailable("cannot remove the torn end of '" + last.path + "'", errno);
  }
}

// The process before may have been killed while some of it was only written.
void file_journal::synchronize_found() const {
  for (auto const& segment : found_.segments) {
    net::descriptor const file{::open(segment.path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file || ::fdatasync(file.value()) != 0) {
      throw unavailable("cannot synchronize '" + segment.path + "' with its disk", errno);
    }
  }
  sync_directory(directory_);
}

void file_journal::forget_last_snapshot() {
  auto const& path = found_.snapshots.back().path;
  if (::rename(path.c_str(), (path + ".damaged").c_str()) != 0) {
    throw unavailable("cannot rename the damaged snapshot '" + path + "'", errno);
  }
  found_ = read_journal(directory_);
  if (!found_.damage.ok()) throw error{found_.damage};
}

std::string file_journal::set_aside() {
  std::string const base = directory_ + "/ended-" + std::to_string(found_.head->coordinator.value);
  std::string to = base;
  std::error_code problem;
  for (int i = 2; fs::exists(to); ++i) to = base + "-" + std::to_string(i);
  fs::create_directory(to, problem);
  fs::permissions(to, fs::perms::owner_all, problem);
  auto const move = [&](std::string const& path) {
    if (!problem) fs::rename(path, to / fs::path{path}.filename(), problem);
  };
  for (auto const& entry : fs::directory_iterator{directory_, problem}) {
    auto const path = entry.path().string();
    bool const stays = entry.path().filename() == "lock" || path == reserve_path(directory_);
    if (entry.is_regular_file() && !stays) move(path);
  }
  if (problem) {
    throw unavailable("cannot move the files of a job that is over to '" + to + "'",
                      problem.value());
  }
  found_ = {};
  return to;
}

void file_journal::begin(wire::recording_head const& head) {
  std::string bytes(batch_head_bytes, '\0');
  wire::append(bytes, head);
  number_ = 0;
  last_at_ = {};
  snapshot_at_ = clock(CLOCK_BOOTTIME);
  checksum_ =
      seal(bytes, 0, 0, 0, {duration::zero(), boot_, clock(CLOCK_BOOTTIME), clock(CLOCK_REALTIME)});
  write_file(head_path(directory_), bytes);
  sync_directory(directory_);
}

void file_journal::append(wire::record const& input) {
  if (batch_.empty()) batch_.resize(batch_head_bytes);
  wire::append(batch_, input);
  last_at_ = std::max(last_at_, input.at);
}

status file_journal::commit() {
  if (!failure_.ok() || batch_.empty()) return failure_;
  failure_ = write_batch();
  batch_.clear();
  if (batch_.capacity() > buffer_bytes) batch_.shrink_to_fit();
  if (unsynchronized_bytes_ > unsynchronized_bytes_max) return wait_until_durable();
  return failure_;
}

status file_journal::synchronize(time_point now, bool is_awaited) {
  if (!disk_ || !failure_.ok()) return failure_;
  if (disk_->busy_since()) {
    auto const how = disk_->take();
    if (!how) return {};
    ended(*how);
  }
  bool const is_due = unsynchronized_since_ && now >= *unsynchronized_since_ + synchronized_within;
  if (failure_.ok() && durable_ < number_ && (is_awaited || is_due)) start_synchronizing();
  return failure_;
}

std::optional<time_point> file_journal::next_synchronization() const {
  if (!disk_ || disk_->busy_since() || !unsynchronized_since_) return std::nullopt;
  return *unsynchronized_since_ + synchronized_within;
}

status file_journal::wait_until_durable() {
  if (status why = commit(); !why.ok() || !disk_) return why;
  while (failure_.ok() && durable_ < number_) {
    if (!disk_->busy_since()) start_synchronizing();
    ended(disk_->wait());
  }
  return failure_;
}

void file_journal::start_synchronizing() {
  in_use_ = std::exchange(closed_, {});
  std::vector<int> files;
  for (auto const& file : in_use_) files.push_back(file.value());
  if (segment_) files.push_back(segment_.value());
  synchronizing_ = number_;
  unsynchronized_bytes_ = 0;
  unsynchronized_since_.reset();
  disk_->start(std::move(files));
}

status file_journal::write_batch() {
  if (!segment_ || segment_bytes_ >= segment_bytes_max) {
    if (status why = open_segment(); !why.ok()) return why;
  }
  checksum_ = seal(batch_, number_ + 1, is_immediate() ? number_ + 1 : durable_, checksum_,
                   {last_at_, boot_, clock(CLOCK_BOOTTIME), clock(CLOCK_REALTIME)});
  int const problem = write_all_of_batch();
  if (problem != 0) {
    return {errc::data_loss,
            "the journal in '" + directory_ + "' cannot be written: " + text_of(problem)};
  }
  ++number_;
  note_last();
  segment_bytes_ += batch_.size();
  bytes_written_ += batch_.size();
  if (!disk_) return {};
  unsynchronized_bytes_ += batch_.size();
  if (!unsynchronized_since_) unsynchronized_since_ = std::chrono::steady_clock::now();
  return {};
}

// With the reserved space if there is no other.
int file_journal::write_all_of_batch() {
  std::string_view left{batch_};
  int const problem = write_all(segment_.value(), left);
  if (!is_full(problem) || !use_reserve()) return problem;
  return write_all(segment_.value(), left);
}

bool file_journal::use_reserve() {
  if (!std::exchange(has_reserve_, false)) return false;
  bytes_at_full_ = bytes_written_;
  return ::unlink(reserve_path(directory_).c_str()) == 0;
}

void file_journal::reserve() {
  auto const path = reserve_path(directory_);
  net::descriptor const file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  has_reserve_ = file && ::posix_fallocate(file.value(), 0, reserved_bytes) == 0;
  if (!has_reserve_) ::unlink(path.c_str());
}

std::string file_journal::lack_of_space(time_point now, std::uint64_t bytes_max) {
  if (!has_reserve_ && child_ < 0 && now >= reserve_at_) {
    reserve();
    reserve_at_ = now + reserve_period;
  }
  if (!has_reserve_) return "the journal's disk is full: no space in '" + directory_ + "'";
  if (bytes_max == 0 || bytes_on_disk() <= bytes_max) return {};
  return "the journal in '" + directory_ + "' has reached its limit of " +
         std::to_string(bytes_max) + " bytes";
}

void file_journal::count_files() {
  std::error_code problem;
  bytes_kept_ = 0;
  bytes_at_count_ = bytes_written_;
  for (auto const& entry : fs::directory_iterator{directory_, problem}) {
    if (number_of(entry.path().string())) bytes_kept_ += entry.file_size(problem);
  }
}

status file_journal::open_segment() {
  close_segment();
  auto const path = segment_path(directory_, number_ + 1);
  auto const create = [&] {
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
    segment_ = net::descriptor{::open(path.c_str(), flags, 0600)};
    return static_cast<bool>(segment_);
  };
  if (!create() && is_full(errno) && use_reserve()) create();
  segment_bytes_ = 0;
  if (segment_) {
    segment_first_ = number_ + 1;
    note_last();
    if (disk_) closed_.push_back(open_directory(directory_));
    return {};
  }
  return {errc::data_loss,
          "the journal's file '" + path + "' cannot be created: " + text_of(errno)};
}

void file_journal::note_last() {
  if (!last_) {
    last_ = net::descriptor{
        ::open(last_path(directory_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  }
  write_note(last_, {segment_first_, number_}, boot_);
}

void file_journal::close_segment() {
  if (segment_ && disk_) closed_.push_back(std::move(segment_));
  segment_.close();
}

void file_journal::ended(synchronizer::outcome const& how) {
  last_synchronization_ = how.took;
  counts_.synchronizations.record(how.took);
  if (how.problem != 0) {
    failure_ = {errc::data_loss,
                "the journal in '" + directory_ +
                    "' cannot be synchronized with its disk: " + text_of(how.problem)};
    return;
  }
  in_use_.clear();
  durable_ = synchronizing_;
}

journal_statistics file_journal::counted() const {
  journal_statistics all = counts_;
  all.bytes_written = bytes_written_;
  all.batches = number_;
  all.bytes_on_disk = bytes_on_disk();
  all.lacks_space = !has_reserve_;
  all.unsynchronized_bytes = unsynchronized_bytes_;
  all.synchronizing = synchronizing_for();
  all.snapshot_bytes = snapshot_bytes_;
  all.snapshot_age = clock(CLOCK_BOOTTIME) - snapshot_at_;
  return all;
}

duration file_journal::synchronizing_for() const {
  auto const since = disk_ ? disk_->busy_since() : std::nullopt;
  return since ? std::chrono::steady_clock::now() - *since : duration{};
}

duration file_journal::slowest_synchronization() const {
  return std::max(last_synchronization_, synchronizing_for());
}

bool file_journal::wants_snapshot() const {
  if (child_ >= 0 || !failure_.ok()) return false;
  auto const log = bytes_written_ - bytes_at_snapshot_;
  auto const log_when_full = bytes_written_ - std::max(bytes_at_snapshot_, bytes_at_full_);
  if (!has_reserve_ && log_when_full > log_bytes_max_when_full) return true;
  if (log > std::max(log_bytes_max, 2 * snapshot_bytes_)) return true;
  return log > log_bytes_min && clock(CLOCK_BOOTTIME) - snapshot_at_ > log_age_max;
}

status file_journal::write_snapshot(core::coordinator const& core, bool may_fork) {
  close_segment();  // the next batch begins another one
  snapshot_at_ = clock(CLOCK_BOOTTIME);
  bytes_at_snapshot_ = bytes_written_;
  if (!may_fork) {
    status why = save(core, number_);
    if (why.ok()) use_snapshot(number_);
    return why;
  }
  childs_number_ = number_;
  auto const begun = clock(CLOCK_BOOTTIME);
  auto const parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0) {
    begin_child(parent);
    ::_exit(save(core, childs_number_).ok() ? 0 : 1);
  }
  counts_.snapshot_stall_max = std::max(counts_.snapshot_stall_max, clock(CLOCK_BOOTTIME) - begun);
  if (child_ > 0) return {};
  ++counts_.snapshots_failed;
  return {errc::unavailable, "no process for a snapshot of the journal: " + text_of(errno)};
}

bool file_journal::finish_snapshot(status& outcome) {
  if (child_ < 0) return true;
  int how = 0;
  auto const ended = ::waitpid(child_, &how, WNOHANG);
  if (ended == 0) return false;
  bool const has_failed = ended == child_ && !(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  child_ = -1;
  // The kernel keeps no exit status where SIGCHLD is ignored: the file decides.
  if (!has_failed && has_snapshot(directory_, childs_number_)) {
    use_snapshot(childs_number_);
  } else {
    ++counts_.snapshots_failed;
    outcome = {errc::unavailable, "a snapshot of the journal in '" + directory_ +
                                      "' could not be written; its inputs are kept instead"};
  }
  return true;
}

status file_journal::save(core::coordinator const& core, std::uint64_t number) const {
  try {
    std::string bytes(batch_head_bytes, '\0');
    seal(bytes, number, number, checksum_,
         {last_at_, boot_, clock(CLOCK_BOOTTIME), clock(CLOCK_REALTIME)});
    core.save([&bytes](std::string_view piece) { bytes += piece; });
    if (!has_reserve_ && free_bytes(directory_) < bytes.size() + log_bytes_max_when_full) {
      return {errc::unavailable, "no space for a snapshot of " + std::to_string(bytes.size()) +
                                     " bytes in '" + directory_ + "'"};
    }
    write_file(snapshot_path(directory_, number), bytes);
    sync_directory(directory_);
  } catch (std::exception const& e) {
    return {errc::unavailable, e.what()};
  }
  return {};
}

// Two snapshots are kept, with the inputs since the older one.
void file_journal::use_snapshot(std::uint64_t number) {
  std::error_code problem;
  ++counts_.snapshots;
  snapshot_bytes_ = fs::file_size(snapshot_path(directory_, number), problem);
  auto const oldest = std::exchange(last_snapshot_, number);
  for (auto const& entry : fs::directory_iterator{directory_, problem}) {
    auto const path = entry.path().string();
    auto const of = number_of(path);
    if (!of || *of > oldest || path == snapshot_path(directory_, oldest)) continue;
    fs::remove(entry.path(), problem);
  }
  count_files();
}

}  // namespace coxswain::server
