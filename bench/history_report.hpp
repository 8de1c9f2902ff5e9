#pragma once
// What the study `history` found, and how it is told.

#include "history_load.hpp"
#include "report.hpp"
#include "stage.hpp"
#include "study.hpp"

#include <string>
#include <vector>

namespace coxswain::bench {

// One thing that a new coordinator and one with a history did in turn.
struct history_act {
  vocabulary words;
  side_result with_history;
  side_result without;
  comparison pairs;
};

struct history_report {
  history_options given;
  std::vector<history_act> acts;
  // The server's memory: after equal parts of the used ids, beginning with none, and then with all
  // keys.
  std::vector<double> bytes_by_ids;
  double bytes_with_keys{};
  circumstances seen;

  // Of one more used id, in the second half of them; and of one more key.
  [[nodiscard]] double bytes_per_id() const;
  [[nodiscard]] double bytes_per_key() const;

  [[nodiscard]] findings told() const;
};

}  // namespace coxswain::bench
