#pragma once
// PUBLIC. The changes below a directory, one after the other:
//
//   key_watch watch = co_await c.watch("members");
//   auto const members = co_await watch.list();
//   for (;;) {
//     auto const changes = co_await watch.next();
//     for (key_change const& one : changes) ...
//   }
//
// Nothing is missed and nothing comes twice, also while the client reconnects: a watch is a version
// up to which everything was told, and each `next` asks for what came after it. Made by
// client::watch. Does not keep the client alive: once that is gone, calls throw
// FAILED_PRECONDITION. One call at a time, where the client's are made. A call that is cancelled or
// throws leaves the watch as it was.

#include "coxswain/client/keys.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain {

class connection;

class key_watch {
 public:
  // Of no client.
  key_watch() = default;

  // Waits for changes of keys below the directory and of the key that is equal to it, and gives
  // them in their order; none if the timeout passes without any. OUT_OF_RANGE: the coordinator no
  // longer remembers everything since the last call; use `list`. UNAVAILABLE: it stops.
  asio::awaitable<std::vector<key_change>> next(time_limit timeout = without_limit);

  // All keys below the directory, as client::list; `next` then tells what changed since.
  asio::awaitable<std::vector<key_value>> list();

  // Everything up to this version has been told.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  friend class client;
  key_watch(std::weak_ptr<connection> at, std::string directory, std::uint64_t version);
  static asio::awaitable<key_watch> open(std::shared_ptr<connection> at, std::string directory,
                                         std::optional<std::uint64_t> after);

  std::weak_ptr<connection> connection_;
  std::string directory_;
  std::uint64_t version_{};
};

}  // namespace coxswain
