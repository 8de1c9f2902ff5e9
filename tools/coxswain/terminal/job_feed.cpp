#include "terminal/job_feed.hpp"

#include "text/job_words.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace coxswain::tools {
namespace {

// How long one try lasts, and the rest after it.
constexpr duration connect_again_max = 5s;
constexpr duration connect_again_pause = 500ms;

// A snapshot of ten thousand tasks is 700 KB: continuous watching is limited to 100 KB/s.
duration least_interval(std::size_t tasks) { return tasks * duration{500us}; }

asio::awaitable<void> read_events(client& c, job_view& into,
                                  std::optional<std::uint64_t>& through) {
  for (;;) {
    auto batch = co_await c.watch_events(through, events_options{0s}.with_last(events_shown_max));
    // The first batch may be of a different coordinator than earlier events.
    if (!through) into.events.clear();
    bool const is_last = batch.entries.empty();
    through = batch.through;
    for (auto& entry : batch.entries) {
      // A line that stands for several events replaces theirs.
      if (entry.count > 1) {
        std::erase_if(into.events, [&](auto const& e) { return e.first == entry.first; });
      }
      into.events.push_back(std::move(entry));
    }
    if (is_last) break;
  }
  auto const more =
      into.events.size() - std::min<std::size_t>(into.events.size(), events_shown_max);
  into.events.erase(into.events.begin(), into.events.begin() + static_cast<std::ptrdiff_t>(more));
}

void grow(std::optional<duration>& age, duration by) {
  if (age) *age += by;
}

// So much later, if nothing has changed.
void grow_older(job_view& view, duration by) {
  view.job.uptime += by;
  if (view.job.elastic) view.job.elastic->age += by;
  for (auto& t : view.job.tasks) {
    grow(t.last_heard, by);
    if (t.progress) t.progress->age += by;
  }
  for (auto& w : view.why.waits) {
    w.age += by;
    if (w.remaining) *w.remaining = std::max(*w.remaining - by, duration{});
    if (!w.missing) continue;
    for (auto& m : w.missing->known) grow(m.last_heard, by);
  }
}

std::string time_of_day() {
  auto const now = std::chrono::system_clock::now();
  return fmt::format("{:%H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(now)));
}

// The loss of the coordinator also completes failure().
bool is_of_job(job_error const& error) {
  return error.cause.task || error.cause.why.code() != errc::unavailable;
}

}  // namespace

asio::awaitable<void> refresh(client& c, job_view& into,
                              std::optional<std::uint64_t>& events_through) {
  into.job = co_await c.inspect();
  co_await read_events(c, into, events_through);
  into.why = co_await c.why();
}

job_feed::job_feed(asio::io_context& io, remote_options from, duration interval,
                   std::function<void()> changed)
    : from_{std::move(from)}, interval_{interval}, changed_{std::move(changed)}, timer_{io} {
  view_.address = observer(from_).address;
}

asio::awaitable<void> job_feed::run() {
  client_ = co_await connect(options());
  while (!is_stopping_) {
    co_await follow();
    if (!is_stopping_) co_await connect_again();
  }
}

void job_feed::stop() {
  is_stopping_ = true;
  timer_.cancel();
  client_ = client{};  // ends what it was asked
}

job_view const& job_feed::view(time_point now) {
  if (!view_.lost && now > aged_through_) {
    grow_older(view_, now - std::exchange(aged_through_, now));
  }
  return view_;
}

client_options job_feed::options() {
  auto with = observer(from_);
  with.on_event = [this](client_event const& what) { happened(what); };
  return with;
}

void job_feed::happened(client_event const& what) {
  if (is_stopping_ || what.what == client_event::kind::waiting) return;
  if (what.what == client_event::kind::reconnected) {
    view_.lost.reset();
    changed_();
  } else {
    // It may have ended before it could be asked how the job is.
    if (what.what == client_event::kind::goodbye) {
      view_.job.state = ended_state(std::move(view_.job.state), what.why.message());
    }
    unreachable(what.why.text());
  }
}

void job_feed::unreachable(std::string why) {
  auto since = view_.lost ? view_.lost->since : time_of_day();
  view_.lost = job_view::silence{std::move(why), std::move(since)};
  changed_();
}

// Until the coordinator is lost for good.
asio::awaitable<void> job_feed::follow() {
  auto const executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, await_failure(), asio::detached);
  try {
    while (!is_stopping_) {
      co_await refresh(client_, view_, events_through_);
      aged_through_ = std::chrono::steady_clock::now();
      view_.lost.reset();
      changed_();
      co_await rest(std::max(interval_, least_interval(view_.job.tasks.size())));
    }
  } catch (error const& problem) {
    if (!is_stopping_) unreachable(problem.what());
  }
}

asio::awaitable<void> job_feed::connect_again() {
  events_through_.reset();
  while (!is_stopping_) {
    auto with = options();
    with.connect_timeout = connect_again_max;
    try {
      client_ = co_await client::connect(std::move(with));
      co_return;
    } catch (error const& problem) {
      if (!is_stopping_) unreachable(problem.what());
    }
    co_await rest(connect_again_pause);
  }
}

// A coordinator that ends with its job pushes the reason, and may be gone before it can be asked.
asio::awaitable<void> job_feed::await_failure() {
  try {
    auto const error = co_await client_.failure();
    if (!is_of_job(error) || is_stopping_) co_return;
    view_.job.error = error;
    changed_();
    has_update_ = true;
    timer_.cancel();
  } catch (error const&) {
    // We have stopped.
  }
}

asio::awaitable<void> job_feed::rest(duration length) {
  if (is_stopping_ || std::exchange(has_update_, false)) co_return;
  timer_.expires_after(length);
  boost::system::error_code ignored;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  has_update_ = false;
}

}  // namespace coxswain::tools
