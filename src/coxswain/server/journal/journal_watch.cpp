#include "coxswain/server/journal/journal_watch.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <utility>

namespace coxswain::server {
namespace {

constexpr duration slow = 1s;
constexpr duration report_period = 1min;
constexpr duration unhealthy = 10s;

}  // namespace

journal_watch::journal_watch(file_journal& of, std::uint64_t bytes_max, bool is_restored)
    : journal_{of}, bytes_max_{bytes_max} {
  if (!is_restored) lack_of_space_.emplace();
}

std::optional<core::storing_refused> journal_watch::change_of_space(time_point now) {
  auto why = journal_.lack_of_space(now, bytes_max_);
  if (lack_of_space_ == why) return std::nullopt;
  lack_of_space_ = why;
  return core::storing_refused{std::move(why)};
}

std::optional<std::string> journal_watch::warning(time_point now) {
  bool const is_near = bytes_max_ != 0 && journal_.bytes_on_disk() > bytes_max_ / 4 * 3;
  if (!std::exchange(is_nearly_full_, is_near) && is_near) {
    return "the journal's files have three quarters of their limit (journal.bytes_max)";
  }
  auto const took = journal_.slowest_synchronization();
  if (took < slow || now < slow_disk_reported_ + report_period) return std::nullopt;
  slow_disk_reported_ = now;
  return "the journal's disk is slow: a synchronization takes " + core::in_words(took) +
         ", and replies wait for it";
}

status journal_watch::health() const { return check_lag(journal_.synchronizing_for(), "its disk"); }

status check_lag(duration waits, std::string_view for_what) {
  if (waits < unhealthy) return {};
  return {errc::unavailable,
          "replies have waited for " + std::string{for_what} + " for " + core::in_words(waits)};
}

}  // namespace coxswain::server
