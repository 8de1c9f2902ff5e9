#include "coxswain/status/job_picture.hpp"

#include <cstddef>

namespace coxswain::status_page {
namespace {

// Further texts are made for each request.
constexpr std::size_t texts_known_max = 16;

}  // namespace

void job_picture::renew(time_point now) {
  if (made_at_ && now - *made_at_ < age_max_) return;
  made_at_ = now;
  snapshot_.reset();
  why_.reset();
  known_.clear();
  // Whether those that are missing answer is known to the next look.
  if (auto* const running = job_.running()) running->ask_missing();
}

job_picture::snapshot_ptr job_picture::look(time_point now) {
  renew(now);
  if (!snapshot_) snapshot_ = std::make_shared<core::snapshot const>(job_.look());
  return snapshot_;
}

job_picture::why_ptr job_picture::why(time_point now) {
  renew(now);
  if (!why_) why_ = std::make_shared<core::why_answer const>(job_.why());
  return why_;
}

text_ptr job_picture::text(time_point now, std::string const& name,
                           std::function<std::string()> const& make) {
  renew(now);
  if (auto const found = known_.find(name); found != known_.end()) return found->second;
  auto made = texts_.share(make());
  if (known_.size() < texts_known_max) known_.emplace(name, made);
  return made;
}

}  // namespace coxswain::status_page
