#include "coxswain/server/state_log.hpp"

#include <utility>

namespace coxswain::server {

std::optional<std::string> state_log::note(time_point now, bool has_ended, core::job_state state) {
  looked_at_ = now;
  has_ended_ = has_ended;
  if (std::exchange(seen_, state.what) != state.what) since_ = now;
  bool const may_pass = !has_ended && seen_ != kind::deadlock;
  if (seen_ == logged_ || (may_pass && now < since_ + lasts)) return std::nullopt;
  logged_ = seen_;
  return std::move(state.headline);
}

}  // namespace coxswain::server
