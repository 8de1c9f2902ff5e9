#pragma once
// A journal in memory that survives the simulated death of its coordinator: what was committed, or
// if it has a disk what was synchronized with it, and nothing else.

#include "coxswain/server/journal/restore.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::sim {

// Bugs in a restart, each of which a rule must find.
enum class restart_bug : std::uint8_t {
  none,
  early_answers,      // answers are sent before their inputs are committed
  early_release,      // or before they are synchronized
  lost_batch,         // the last committed batch is not there
  repeated_input,     // some inputs are written twice
  lost_input,         // some are not written
  no_grace,           // sessions must have resumed at once
  other_coordinator,  // it has another incarnation
};

class memory_journal final : public server::journal {
 public:
  memory_journal(bool has_disk, restart_bug wrong) : has_disk_{has_disk}, wrong_{wrong} {}

  void begin(wire::recording_head const& head) override { head_ = head; }
  void append(wire::record const& input) override {
    bool const is_some = input.kind == wire::record_kind::message && ++messages_ % 7 == 0;
    if (is_some && wrong_ == restart_bug::lost_input) return;
    wire::append(pending_, input);
    if (is_some && wrong_ == restart_bug::repeated_input) wire::append(pending_, input);
  }
  [[nodiscard]] bool has_uncommitted() const noexcept override { return !pending_.empty(); }
  status commit() override {
    if (!pending_.empty()) committed_.push_back(std::exchange(pending_, {}));
    return {};
  }

  [[nodiscard]] std::uint64_t committed() const noexcept override { return committed_.size(); }
  [[nodiscard]] std::uint64_t durable() const noexcept override {
    return is_immediate() || wrong_ == restart_bug::early_release ? committed() : durable_;
  }
  [[nodiscard]] bool is_immediate() const noexcept override { return !has_disk_; }

  // A synchronization with the disk begins; and ends.
  void begin_to_synchronize() { synchronizing_ = committed(); }
  void synchronized() { durable_ = synchronizing_; }

  // The coordinator dies.
  void crash() {
    pending_.clear();
    if (has_disk_) committed_.resize(durable_);
    if (wrong_ == restart_bug::lost_batch && !committed_.empty()) committed_.pop_back();
    durable_ = committed_.size();
  }

  [[nodiscard]] server::restored_core restored(time_point started) const {
    auto head = head_;
    if (wrong_ == restart_bug::other_coordinator) ++head.coordinator.value;
    auto fresh = server::new_core(head, started);
    return server::restore_core(std::move(fresh), head, started,
                                [this](server::take_records const& take) {
                                  for (auto const& batch : committed_) take(batch);
                                });
  }

 private:
  bool has_disk_;
  restart_bug wrong_;
  wire::recording_head head_;
  std::vector<std::string> committed_;
  std::uint64_t durable_{};
  std::uint64_t synchronizing_{};
  std::string pending_;
  std::uint64_t messages_{};
};

}  // namespace coxswain::sim
