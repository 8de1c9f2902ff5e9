#pragma once
// Checks all files of a journal, and removes what is damaged. The directory must be locked
// (lock_journal).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/server/journal/journal_files.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::server {

struct checked_snapshot {
  snapshot_file file;
  status outcome;  // of loading it: DATA_LOSS, it is damaged; others: not for this program
};

struct journal_check {
  journal_files used;                       // as the next start reads them
  std::vector<checked_snapshot> snapshots;  // all of them, in order
  std::vector<segment_file> earlier;        // before the last snapshot that is not damaged
  status earlier_damage;  // DATA_LOSS: of those, which the next start does not need

  // The first damage, if any.
  [[nodiscard]] status damage() const;
};

// Throws as read_journal does.
[[nodiscard]] journal_check check_journal(std::string const& directory);

// The result of a repair: what it removed.
struct journal_cut {
  std::vector<std::string> kept_in;  // files with what was removed
  std::uint64_t batches{};           // that a start will not have, though they were written
  std::uint64_t inputs{};            // in those of them that can be read
  bool has_unreadable{};             // others cannot
  duration time{};                   // between the last batch left and the last one removed
};

// Cuts a damaged or torn journal, so that it ends with the last batch before the damage. Damaged
// snapshots, and damaged files that no start needs, are removed as well. Everything removed is kept
// in files named cut-... in the directory. Throws as read_journal does, and UNAVAILABLE: a file
// cannot be written.
journal_cut repair_journal(std::string const& directory);

// The number of records in a batch. Throws coxswain::error: INVALID_ARGUMENT, one is malformed.
[[nodiscard]] std::uint64_t records_in(batch const& of);

}  // namespace coxswain::server
