#include "coxswain/status/source/recorded_job.hpp"

namespace coxswain::status_page {

core::coordinator const& recorded_job::job() const {
  replay_.seek(moment_.value_or(replay_.ends()));
  return replay_.job();
}

core::snapshot recorded_job::look() const {
  auto const& job = this->job();
  return job.look(replay_.now());
}

core::why_answer recorded_job::why() const {
  auto const& job = this->job();
  return job.why(replay_.now());
}

core::events_answer recorded_job::events(std::optional<std::uint64_t> after,
                                         core::severity at_least, std::size_t last_of_each) const {
  return job().events(after, at_least, last_of_each);
}

std::uint64_t recorded_job::last_event() const { return job().last_event(); }

core::listing_answer recorded_job::keys(std::string const& prefix, std::string const& after,
                                        std::size_t most) const {
  return job().keys(prefix, after, most);
}

result<core::value_answer> recorded_job::value(std::string_view) const {
  return status{errc::failed_precondition, "A recording has no values."};
}

core::barrier_history recorded_job::history(std::string_view barrier) const {
  auto const& job = this->job();
  return job.history(replay_.now(), barrier);
}

}  // namespace coxswain::status_page
