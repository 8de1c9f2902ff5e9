#pragma once
// A journal in memory, in the batches of a journal in files, that survives the simulated death of
// its coordinator: what was committed. If it has a disk: what was synchronized with it, and of what
// was written since then any sectors, or none. Snapshots replace what was written before.

#include "coxswain/server/journal/journal_files.hpp"
#include "coxswain/server/journal/restore.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "tests/sim/network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::sim {

// Bugs in a restart, each of which a rule must find.
enum class restart_bug : std::uint8_t {
  none,
  early_answers,      // answers are sent before their inputs are committed
  early_release,      // or before they are synchronized
  ignored_failure,    // or although that failed
  lost_batch,         // the last committed batch is not there
  repeated_input,     // some inputs are written twice
  lost_input,         // some are not written
  no_grace,           // sessions must have resumed at once
  other_coordinator,  // it has another incarnation
};

class memory_journal final : public server::journal {
 public:
  // With a snapshot after so many batches; none: never.
  memory_journal(bool has_disk, std::optional<std::uint64_t> batches_per_snapshot,
                 restart_bug wrong)
      : has_disk_{has_disk}, batches_per_snapshot_{batches_per_snapshot}, wrong_{wrong} {}

  void begin(wire::recording_head const& head) override { head_ = head; }
  void append(wire::record const& input) override {
    bool const is_some = input.kind == wire::record_kind::message && ++messages_ % 7 == 0;
    if (is_some && wrong_ == restart_bug::lost_input) return;
    if (pending_.empty()) pending_.resize(server::batch_head_bytes);
    wire::append(pending_, input);
    if (is_some && wrong_ == restart_bug::repeated_input) wire::append(pending_, input);
  }
  [[nodiscard]] bool has_uncommitted() const noexcept override { return !pending_.empty(); }
  status commit() override {
    if (pending_.empty()) return {};
    auto const durable_now = has_disk_ ? durable_.number : number_;
    checksum_ = server::seal(pending_, number_ + 1, durable_now, checksum_, {});
    ++number_;
    before_last_ = written_.size();
    written_ += std::exchange(pending_, {});
    return {};
  }

  [[nodiscard]] std::uint64_t committed() const noexcept override { return number_; }
  [[nodiscard]] std::uint64_t durable() const noexcept override {
    return is_immediate() || wrong_ == restart_bug::early_release ? committed() : durable_.number;
  }
  [[nodiscard]] bool is_immediate() const noexcept override { return !has_disk_; }

  // A synchronization with the disk begins; and ends.
  void begin_to_synchronize() { synchronizing_ = {number_, written_.size()}; }
  void synchronized() { durable_ = synchronizing_; }

  // Or it fails, and what it was to write is lost. True: the coordinator goes on.
  [[nodiscard]] bool fails_to_synchronize() {
    auto const from = static_cast<std::ptrdiff_t>(durable_.bytes);
    std::fill(written_.begin() + from,
              written_.begin() + static_cast<std::ptrdiff_t>(synchronizing_.bytes), '\0');
    return wrong_ == restart_bug::ignored_failure;
  }

  [[nodiscard]] bool wants_snapshot() const override {
    return batches_per_snapshot_ && number_ - snapshot_.last_number >= *batches_per_snapshot_;
  }
  status write_snapshot(core::coordinator const& core, bool) override {
    state_.clear();
    static_cast<void>(core.save([this](std::string_view some) { state_ += some; }));
    snapshot_.last_number = number_;
    snapshot_.last_checksum = checksum_;
    written_.clear();
    before_last_ = 0;
    durable_ = synchronizing_ = {number_, 0};
    return {};
  }

  // The coordinator dies, and with a disk its machine.
  void crash(generator& random) {
    pending_.clear();
    if (has_disk_) tear(random);
    if (wrong_ == restart_bug::lost_batch && before_last_ < written_.size()) {
      written_.resize(before_last_);
    }
    auto found = snapshot_;
    server::segment_file all;
    is_damaged_ =
        server::follow(found, all, written_) == server::segment_end::damaged || is_damaged_;
    written_.resize((all.valid_bytes + 7) / 8 * 8);  // the padding may be missing
    number_ = found.last_number;
    checksum_ = found.last_checksum;
    durable_ = {number_, written_.size()};
  }

  // Whether it ever looked as if something that was durable is not there.
  [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }

  [[nodiscard]] server::restored_core restored(time_point started) const {
    auto head = head_;
    if (wrong_ == restart_bug::other_coordinator) ++head.coordinator.value;
    auto core = state_.empty()
                    ? server::new_core(head, started)
                    : core::coordinator::load(server::config_of(head), state_, started).value();
    return server::restore_core(std::move(core), head, started,
                                [this](server::take_records const& take) {
                                  std::string_view rest{written_};
                                  while (auto const one = server::read_batch(rest)) {
                                    take(one->payload);
                                    rest.remove_prefix(std::min(one->bytes(), rest.size()));
                                  }
                                });
  }

 private:
  struct position {
    std::uint64_t number{};
    std::size_t bytes{};
  };

  // Of what is not durable any sectors may be there, and the file may be shorter.
  void tear(generator& random) {
    constexpr std::size_t sector = 512;
    if (between(random, 0, 3) == 0) written_.resize(durable_.bytes);
    written_.resize(between(random, durable_.bytes, written_.size()));
    auto const there = between(random, 0, 8);
    for (std::size_t at = durable_.bytes; at < written_.size();) {
      auto const end = std::min((at / sector + 1) * sector, written_.size());
      if (between(random, 0, 7) >= there) std::fill_n(written_.data() + at, end - at, '\0');
      at = end;
    }
  }

  bool has_disk_;
  std::optional<std::uint64_t> batches_per_snapshot_;
  restart_bug wrong_;
  wire::recording_head head_;
  std::string state_;               // of the last snapshot
  server::journal_files snapshot_;  // what a journal has that begins with it
  std::string written_;             // since then
  std::size_t before_last_{};       // batch
  std::uint64_t number_{};          // of the last batch
  std::uint32_t checksum_{};        // of it
  position durable_;
  position synchronizing_;
  bool is_damaged_{};
  std::string pending_;
  std::uint64_t messages_{};
};

}  // namespace coxswain::sim
