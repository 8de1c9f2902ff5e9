#pragma once
// PUBLIC. The changes below a directory, in order:
//
//   key_watch watch = co_await c.watch("members");
//   auto const members = co_await watch.list();
//   for (;;) {
//     auto const changes = co_await watch.next();
//     for (key_change const& one : changes) ...
//   }
//
// No change is missed or repeated, also while the client reconnects: a watch is the version up to
// which all changes were returned, and each `next` asks for those after it. Created by
// client::watch. Does not keep the client alive: after its end, calls throw FAILED_PRECONDITION.
// One call at a time, on the client's executor; the watch must not be moved or destroyed meanwhile.
// A call that is cancelled or fails leaves the watch as it was. Completion tokens as for the calls
// of the client.

#include "coxswain/client/call_options.hpp"
#include "coxswain/client/initiation.hpp"
#include "coxswain/client/keys.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain {

namespace detail {
class connection;
}

class key_watch {
 public:
  // Without a client.
  key_watch() = default;

  // Waits for changes of keys below the directory and of the key equal to it, and returns them in
  // order; none if the timeout passes without any. OUT_OF_RANGE: the coordinator no longer keeps
  // all changes since the last call; use `list`. UNAVAILABLE: it stops.
  template <detail::token_for<std::vector<key_change>>... Token>
  auto next(watch_options const& options = {}, Token&&... token) {
    return detail::initiate(begin(), next_for(options.timeout), std::forward<Token>(token)...);
  }

  // All keys below the directory, as client::list; `next` then returns changes since.
  template <detail::token_for<std::vector<key_value>>... Token>
  auto list(call_options const& options = {}, Token&&... token) {
    return detail::initiate(begin(), list_for(options.timeout), std::forward<Token>(token)...);
  }

  // All changes up to this version have been returned.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  friend class blocking_key_watch;
  friend class detail::client_calls;
  key_watch(std::weak_ptr<detail::connection> at, std::string directory, std::uint64_t version);
  static asio::awaitable<key_watch> open(std::shared_ptr<detail::connection> at,
                                         std::string directory, std::optional<std::uint64_t> after,
                                         duration timeout);
  [[nodiscard]] detail::initiation begin() const;
  asio::awaitable<std::vector<key_change>> next_for(duration timeout);
  asio::awaitable<std::vector<key_value>> list_for(duration timeout);

  std::weak_ptr<detail::connection> connection_;
  std::string directory_;
  std::uint64_t version_{};
};

}  // namespace coxswain
