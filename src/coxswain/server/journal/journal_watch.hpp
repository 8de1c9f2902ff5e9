#pragma once
// Watches the disk of a journal: whether it has space, for the core, and whether it is slow, for
// operators. Not here: the journal itself (file_journal).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/owner_input.hpp"
#include "coxswain/server/journal/file_journal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::server {

// UNAVAILABLE: replies have waited for 10 s, for the disk or for another medium.
[[nodiscard]] status check_lag(duration waits, std::string_view for_what);

class journal_watch {
 public:
  // `of` must outlive it. `is_restored`: the core may have been fed by another process.
  journal_watch(file_journal& of, std::uint64_t bytes_max, bool is_restored);

  // An input for the core if it does not know yet whether there is space.
  [[nodiscard]] std::optional<core::storing_refused> change_of_space(time_point now);

  // A warning for the log, if there is one now: the files are near their limit, or a
  // synchronization takes more than a second. Of the latter one each minute at most.
  [[nodiscard]] std::optional<std::string> warning(time_point now);

  // See check_lag.
  [[nodiscard]] status health() const;

 private:
  file_journal& journal_;
  std::uint64_t bytes_max_;
  std::optional<std::string> lack_of_space_;  // as the core knows it; none: not known
  bool is_nearly_full_{};
  time_point slow_disk_reported_{};
};

}  // namespace coxswain::server
