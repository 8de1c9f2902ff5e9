#pragma once
// A journal in files on a local disk (journal_files), written batch by batch. What is committed
// survives the end of this process, but not necessarily that of the machine. Only the owner of the
// directory may read it: it contains values and the secrets of sessions. Not thread-safe.

#include "coxswain/net/descriptor.hpp"
#include "coxswain/server/journal/journal.hpp"
#include "coxswain/server/journal/journal_files.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace coxswain::server {

class file_journal final : public journal {
 public:
  // Creates the directory (mode 0700) if there is none, and locks it for the lifetime of this
  // object. Throws coxswain::error: UNAVAILABLE, another process uses it, which is named, or it
  // cannot be created, locked or read; DATA_LOSS, it is damaged.
  explicit file_journal(std::string directory);

  [[nodiscard]] std::string const& directory() const noexcept { return directory_; }

  // What it contains.
  [[nodiscard]] journal_files const& found() const noexcept { return found_; }

  // How long ago its last batch was written, by the machine's clocks: by the time since boot, which
  // nobody sets; after another boot, by the wall clock, between zero and one hour.
  [[nodiscard]] duration age() const;

  // Continues after what it contains. Throws coxswain::error: UNAVAILABLE, a torn end cannot be
  // removed.
  void go_on();

  // Moves the files of its job to a subdirectory, and returns the path of that. Throws
  // coxswain::error: UNAVAILABLE, they cannot be moved.
  std::string set_aside();

  // Throws coxswain::error: UNAVAILABLE, the head cannot be written.
  void begin(wire::recording_head const& head) override;
  void append(wire::record const& input) override;
  [[nodiscard]] bool has_uncommitted() const noexcept override { return !batch_.empty(); }
  status commit() override;

  // The bytes written so far, for statistics.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }

 private:
  void lock();
  status write_batch();
  status open_segment();

  std::string directory_;
  net::descriptor lock_;
  journal_files found_;
  std::uint64_t boot_;
  std::string batch_;  // room for its head, and the records
  duration last_at_{};
  std::uint64_t number_{};  // of the last batch
  std::uint32_t checksum_{};
  net::descriptor segment_;
  std::size_t segment_bytes_{};
  std::uint64_t bytes_written_{};
  status failure_;
};

}  // namespace coxswain::server
