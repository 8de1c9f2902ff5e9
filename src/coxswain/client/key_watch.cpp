#include "coxswain/client/key_watch.hpp"

#include "coxswain/client/asking.hpp"
#include "coxswain/client/whole_listing.hpp"

#include <algorithm>
#include <utility>

namespace coxswain {
namespace {

core::watch_keys_args args_for(std::string const& directory, std::optional<std::uint64_t> after) {
  core::watch_keys_args args;
  args.directory = directory;
  args.after = after;
  return args;
}

std::vector<key_change> given(std::vector<core::key_change>& changes) {
  std::vector<key_change> all(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    all[i].key = std::move(changes[i].key);
    all[i].version = changes[i].version;
    if (changes[i].value) all[i].value.emplace(changes[i].value->view());
  }
  return all;
}

}  // namespace

key_watch::key_watch(std::weak_ptr<detail::connection> at, std::string directory,
                     std::uint64_t version)
    : connection_{std::move(at)}, directory_{std::move(directory)}, version_{version} {}

asio::awaitable<key_watch> key_watch::open(detail::connection_ptr at, std::string directory,
                                           std::optional<std::uint64_t> after, duration timeout) {
  if (!after) {
    detail::question q{args_for(directory, after), timeout};
    auto a = co_await detail::ask(at, std::move(q));
    after = detail::value_of<core::key_changes_answer>(a).version;
  }
  key_watch made{at, std::move(directory), *after};
  co_return made;
}

detail::initiation key_watch::begin() const {
  auto const at = connection_.lock();
  return detail::initiation{at ? at->executor() : asio::any_io_executor{}};
}

asio::awaitable<std::vector<key_change>> key_watch::next_for(duration timeout) {
  auto const now = asio::steady_timer::clock_type::now;
  time_point const end = deadline_after(now(), timeout);
  for (;;) {
    duration const left = end == time_point::max() ? without_limit : end - now();
    detail::question q{args_for(directory_, version_), std::max(left, duration::zero())};
    auto at = connection_.lock();
    detail::need_session(at);
    auto a = co_await detail::ask(std::move(at), std::move(q));
    // Also while the coordinator is away, when nobody but this client notices the time.
    if (a.outcome.code() == errc::deadline_exceeded) co_return std::vector<key_change>{};
    auto& update = detail::value_of<core::key_changes_answer>(a);
    // An empty reply states how far it got: there may be more to examine.
    bool const is_over = update.version == version_ || end <= now();
    version_ = update.version;
    if (is_over || !update.changes.empty()) co_return given(update.changes);
  }
}

asio::awaitable<std::vector<key_value>> key_watch::list_for(duration timeout) {
  auto whole = co_await detail::list_whole(connection_, directory_, timeout);
  version_ = whole.version;
  co_return std::move(whole.entries);
}

}  // namespace coxswain
