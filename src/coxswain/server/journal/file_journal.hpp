#pragma once
// A journal in files on a local disk (journal_files), written batch by batch. What is written
// survives the end of this process, and what is synchronized with the disk that of the machine: a
// batch is durable when its `durability` is reached. Only the owner of the directory may read it:
// it contains values and the secrets of sessions. Not thread-safe.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/journal/journal.hpp"
#include "coxswain/server/journal/journal_files.hpp"
#include "coxswain/server/journal/journal_statistics.hpp"
#include "coxswain/server/journal/synchronizer.hpp"
#include "coxswain/server/options.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::server {

class file_journal final : public journal {
 public:
  // Creates the directory (mode 0700) if there is none, and locks it for the lifetime of this
  // object. Throws coxswain::error: UNAVAILABLE, another process uses it, which is named, or it
  // cannot be created, locked or read; DATA_LOSS, it is damaged.
  explicit file_journal(std::string directory, durability level = durability::process);

  // Some space is reserved for what must still be written when the disk is full. Why only that
  // should be written now: nothing else is left, or the files are larger than `bytes_max`. Empty:
  // there is space.
  [[nodiscard]] std::string lack_of_space(time_point now, std::uint64_t bytes_max);
  static constexpr std::size_t reserved_bytes = 64 * 1024 * 1024;

  // Of all its files but those set aside.
  [[nodiscard]] std::uint64_t bytes_on_disk() const noexcept {
    return bytes_kept_ + (bytes_written_ - bytes_at_count_);
  }
  // A child that writes a snapshot is ended.
  ~file_journal() override;

  [[nodiscard]] std::string const& directory() const noexcept { return directory_; }

  // Its contents when it was opened.
  [[nodiscard]] journal_files const& found() const noexcept { return found_; }

  // How long ago its last batch was written, by the machine's clocks: by the time since boot, which
  // nobody sets; after another boot, by the wall clock, between zero and one hour.
  [[nodiscard]] duration age() const;

  // Appends to those contents from now on. Throws coxswain::error: UNAVAILABLE, a torn end cannot
  // be removed, or the disk fails.
  void go_on();

  // Its last snapshot is damaged: the one before is used, with the inputs since then.
  void forget_last_snapshot();

  // Moves the files of its job to a subdirectory, and returns the path of that. Throws
  // coxswain::error: UNAVAILABLE, they cannot be moved.
  std::string set_aside();

  // Throws coxswain::error: UNAVAILABLE, the head cannot be written.
  void begin(wire::recording_head const& head) override;
  void append(wire::record const& input) override;
  [[nodiscard]] bool has_uncommitted() const noexcept override { return !batch_.empty(); }
  // Waits for the disk if too much is written and not synchronized.
  status commit() override;
  [[nodiscard]] std::uint64_t committed() const noexcept override { return number_; }
  [[nodiscard]] std::uint64_t durable() const noexcept override {
    return is_immediate() ? number_ : durable_;
  }
  [[nodiscard]] bool is_immediate() const noexcept override { return !disk_; }

  // Becomes readable with an edge when `synchronize` has something to do; -1: never.
  [[nodiscard]] int descriptor() const noexcept { return disk_ ? disk_->descriptor() : -1; }

  // Takes note of a synchronization that has ended, and begins the next one if something waits for
  // it (`is_awaited`) or was written `synchronized_within` ago. An error is final, as of commit.
  status synchronize(time_point now, bool is_awaited) override;
  static constexpr duration synchronized_within = 100ms;

  // When `synchronize` has something to do, at the latest.
  [[nodiscard]] std::optional<time_point> next_synchronization() const override;

  // Commits, and waits until everything is durable.
  status wait_until_durable() override;

  // Whether a snapshot would be worth its price: the inputs since the last one are much longer than
  // it is, or old; and none is being written.
  [[nodiscard]] bool wants_snapshot() const override;

  // Writes the state of `core`, which has had all inputs so far; these must be committed. Earlier
  // inputs are removed, except those since the last but one. In a forked child if `may_fork`: then
  // this returns at once, and `finish_snapshot` must be called until it returns true. An error
  // leaves everything as it was.
  status write_snapshot(core::coordinator const& core, bool may_fork) override;

  // True if no child writes a snapshot any more. `outcome`: of one that has just ended.
  [[nodiscard]] bool finish_snapshot(status& outcome) override;

  // The number of the last batch written.
  [[nodiscard]] std::uint64_t last_number() const noexcept { return number_; }

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] journal_statistics counted() const;

  // How long the present synchronization has taken; and if it is longer, the last one.
  [[nodiscard]] duration synchronizing_for() const;
  [[nodiscard]] duration slowest_synchronization() const;

 private:
  void reserve();
  void count_files();
  [[nodiscard]] int write_all_of_batch();
  bool use_reserve();
  void cut_torn_end() const;
  void synchronize_found() const;
  status write_batch();
  status open_segment();
  void note_last();
  void close_segment();
  void start_synchronizing();
  void ended(synchronizer::outcome const& how);
  [[nodiscard]] status save(core::coordinator const& core, std::uint64_t number) const;
  void use_snapshot(std::uint64_t number);

  std::string directory_;
  journal_lock lock_;
  journal_files found_;
  std::uint64_t boot_;
  std::string batch_;  // room for its head, and the records
  duration last_at_{};
  std::uint64_t number_{};  // of the last batch
  net::descriptor last_;    // the file of that name
  std::uint64_t segment_first_{};
  std::uint32_t checksum_{};
  net::descriptor segment_;
  std::size_t segment_bytes_{};
  std::vector<net::descriptor> closed_;  // segments, and directories, to synchronize first
  std::vector<net::descriptor> in_use_;  // by the disk's thread
  std::optional<time_point> unsynchronized_since_;
  std::size_t unsynchronized_bytes_{};
  std::uint64_t durable_{};        // the last batch that is synchronized
  std::uint64_t synchronizing_{};  // the last one that will be
  bool has_reserve_{};
  time_point reserve_at_{};  // not earlier
  std::uint64_t bytes_written_{};
  std::uint64_t bytes_kept_{};         // on the disk when they were counted
  std::uint64_t bytes_at_count_{};     // written until then
  std::uint64_t bytes_at_snapshot_{};  // written before it
  std::uint64_t bytes_at_full_{};   // written when the disk was full and the reserve was released
  std::uint64_t snapshot_bytes_{};  // of the last one
  std::uint64_t last_snapshot_{};   // the number of its batch; zero: none
  duration snapshot_at_{};          // since boot
  pid_t child_{-1};                 // which writes a snapshot
  std::uint64_t childs_number_{};   // the batch that it is of
  journal_statistics counts_;       // as far as they are counted here
  duration last_synchronization_{};
  status failure_;
  std::optional<synchronizer> disk_;  // last: it uses the descriptors
};

}  // namespace coxswain::server
