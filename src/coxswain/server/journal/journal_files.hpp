#pragma once
// The files of a journal, read and checked. A journal is a directory:
//
//   lock            has the id of the process that uses the journal; locked, as is the directory
//   head            one batch, number 0: who the coordinator is, and its options
//   <number>.seg    batches from this number (16 hex digits) on
//   last            the last of these that was begun, the boot of the machine, and the last batch
//                   that was written then
//   <number>.snap   the core's state after this batch: a batch of that number without records, as a
//                   head, and the snapshot (core::coordinator::save)
//   reserve         space for what must still be written when the disk is full
//   ended-<...>     the files of a job that is over
//   cut-<...>       what a repair has removed
//
// Not here: writing (file_journal), repairs (journal_repair), what the records mean (recording).

#include "coxswain/base/status.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/journal/batch.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

struct segment_file {
  std::string path;
  std::uint64_t first{};      // the number of its first batch, by its name
  std::uint64_t batches{};    // valid ones
  std::size_t valid_bytes{};  // of these
};

// The core's state after a batch.
struct snapshot_file {
  std::string path;
  std::uint64_t number{};
};

struct journal_files {
  std::optional<wire::recording_head> head;  // none: there is no job
  std::vector<snapshot_file> snapshots;      // in order; the last one is used
  std::vector<snapshot_file> unreadable;     // those after it whose head is damaged
  std::vector<segment_file> segments;        // in order, those after that snapshot
  std::uint64_t last_number{};               // of the last valid batch; zero: none
  std::uint64_t last_written_number{};       // of the last batch known to have been written
  std::uint32_t last_checksum{};             // of it, or of the head
  batch_time last_written;                   // likewise
  std::uint32_t behaviour{};                 // likewise
  bool is_torn{};                            // the last batch was not written completely
  status damage;  // DATA_LOSS: batches in the middle are damaged; the text says where
  std::size_t damaged_segment{};  // its index, if so
};

// Adds the batches in the bytes of the next segment, as far as they continue those before, and says
// how they end: torn, if what follows never was durable; else damaged.
enum class segment_end : std::uint8_t { whole, torn, damaged };
[[nodiscard]] segment_end follow(journal_files& into, segment_file& in, std::string_view bytes);

// Reads all of it, from its last snapshot on whose head can be read. With `newest`, later snapshots
// are ignored; zero: all are. Throws coxswain::error: UNAVAILABLE, a file cannot be read;
// DATA_LOSS, its head is damaged, or the snapshots are and earlier inputs were removed.
[[nodiscard]] journal_files read_journal(
    std::string const& directory, std::uint64_t newest = std::numeric_limits<std::uint64_t>::max());

// Of the directory, since a file in it can be removed, and of that file, for file systems that lock
// no directories.
struct journal_lock {
  net::descriptor directory;
  net::descriptor file;
};

// Locks the directory as a coordinator does, as long as the result exists. Throws coxswain::error:
// UNAVAILABLE, a process uses it, which is named, or it cannot be locked.
[[nodiscard]] journal_lock lock_journal(std::string const& directory);

// Passes the records of all valid batches to `use`, batch by batch. Throws as read_journal does.
void each_batch(journal_files const& of, std::function<void(batch const&)> const& use);

// The number in the name of a segment or a snapshot; none for other files.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string const& path);

// The state in a snapshot's file. Throws as read_journal does.
[[nodiscard]] std::string read_snapshot(snapshot_file const& from);

// The content of a file. Throws as read_journal does.
[[nodiscard]] std::string content_of(std::string const& path);

// Identifies the boot of this machine; zero: unknown.
[[nodiscard]] std::uint64_t this_boot();

// The last batch that a process has written, from the file `last`.
struct last_note {
  std::uint64_t segment{};  // the last one begun, by its first batch; zero: none
  std::uint64_t batch{};    // the last one written; zero: unknown
};

// Writes it to the file: until the machine is booted again, those must exist. Not knowing it is no
// error, so none is reported.
void write_note(net::descriptor const& file, last_note const& what, std::uint64_t boot) noexcept;

// Files that were created, renamed or removed in the directory are so on the disk, too. Throws
// coxswain::error: UNAVAILABLE, it cannot be opened or synchronized.
void sync_directory(std::string const& directory);

// Paths within the directory.
[[nodiscard]] std::string head_path(std::string const& directory);
[[nodiscard]] std::string last_path(std::string const& directory);
[[nodiscard]] std::string segment_path(std::string const& directory, std::uint64_t first);
[[nodiscard]] std::string snapshot_path(std::string const& directory, std::uint64_t number);

}  // namespace coxswain::server
