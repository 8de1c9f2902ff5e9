#pragma once
// The keys of a job in etcd:
//
//   /coxswain/JOB/epoch           the term of the last leader, a decimal number
//   /coxswain/JOB/head            who the job's coordinator is, and its options
//   /coxswain/JOB/leader          the leader; it goes with its lease
//   /coxswain/JOB/log/N           entry N of the log, 16 hexadecimal digits
//   /coxswain/JOB/snap/N/PART     the state after entry N, in parts
//   /coxswain/JOB/snap/latest     "N PARTS": the one to use
//
// All before snap/ is in one range, so that one watch has its changes in order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::etcd {

class job_keys {
 public:
  // Other characters of the name than letters, digits, '.', '_' and '-' are encoded as in a URL.
  explicit job_keys(std::string_view job);

  [[nodiscard]] std::string epoch() const { return prefix_ + "epoch"; }
  [[nodiscard]] std::string head() const { return prefix_ + "head"; }
  [[nodiscard]] std::string leader() const { return prefix_ + "leader"; }
  [[nodiscard]] std::string entry(std::uint64_t number) const;
  [[nodiscard]] std::string snapshot_part(std::uint64_t number, std::uint64_t part) const;
  [[nodiscard]] std::string latest_snapshot() const { return prefix_ + "snap/latest"; }

  // The ranges: up to, and without, the entry or snapshot `before`.
  [[nodiscard]] std::string log_begin() const { return prefix_ + "log/"; }
  [[nodiscard]] std::string log_end() const { return prefix_ + "log0"; }
  [[nodiscard]] std::string snapshots_begin() const { return prefix_ + "snap/"; }
  [[nodiscard]] std::string snapshots_before(std::uint64_t number) const;
  [[nodiscard]] std::string snapshots_end() const { return prefix_ + "snap0"; }
  [[nodiscard]] std::string watch_begin() const { return prefix_ + "epoch"; }
  [[nodiscard]] std::string watch_end() const { return prefix_ + "snap"; }

  // The number of an entry's key; none for other keys.
  [[nodiscard]] std::optional<std::uint64_t> entry_number(std::string_view key) const;

 private:
  std::string prefix_;
};

}  // namespace coxswain::etcd
