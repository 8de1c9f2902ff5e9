#pragma once
// A recent snapshot of the job, shared by all requests meanwhile, and the texts made from it: for a
// job of ten thousand tasks each takes some milliseconds. Reads no clock.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/status/source/job_source.hpp"
#include "coxswain/status/text_pool.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace coxswain::status_page {

class job_picture {
 public:
  using snapshot_ptr = std::shared_ptr<core::snapshot const>;
  using why_ptr = std::shared_ptr<core::why_answer const>;

  // Both must outlive it.
  job_picture(job_source const& of, text_pool& texts, duration age_max)
      : job_{of}, texts_{texts}, age_max_{age_max} {}

  // Drops a snapshot that is too old, with its texts.
  void renew(time_point now);
  // Drops it although it is not: another moment is to be shown.
  void forget() { made_at_.reset(); }

  // Not older than `age_max`.
  [[nodiscard]] snapshot_ptr look(time_point now);
  // Of the same age or younger.
  [[nodiscard]] why_ptr why(time_point now);

  // The text of this name, made if there is none for this snapshot.
  [[nodiscard]] text_ptr text(time_point now, std::string const& name,
                              std::function<std::string()> const& make);

 private:
  job_source const& job_;
  text_pool& texts_;
  duration age_max_;
  std::optional<time_point> made_at_;
  snapshot_ptr snapshot_;
  why_ptr why_;
  std::map<std::string, text_ptr> known_;
};

}  // namespace coxswain::status_page
