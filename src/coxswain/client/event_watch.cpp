#include "coxswain/client/event_watch.hpp"

#include <utility>

namespace coxswain {

asio::awaitable<std::optional<logged_event>> event_watch::next_within(duration timeout) {
  while (given_ == batch_.entries.size()) {
    bool const is_first = !through_;
    events_options const options{at_least_, timeout};
    auto batch = co_await client_.watch_events(through_, options);
    through_ = batch.through;
    lost_ += batch.lost;
    batch_ = std::move(batch);
    given_ = 0;
    // The first answer, and one that is about losses, came without any waiting.
    bool const has_waited = !is_first && batch_.lost == 0;
    if (batch_.entries.empty() && has_waited && timeout != without_limit) co_return std::nullopt;
  }
  co_return std::move(batch_.entries[given_++]);
}

}  // namespace coxswain
