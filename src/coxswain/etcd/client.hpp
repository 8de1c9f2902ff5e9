#pragma once
// A client of etcd with several members: calls go to one of them, and to the next one when it
// fails. All on the caller's io_context. Not thread-safe. Not here: the messages (calls), what is
// stored (log, election).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/call.hpp"
#include "coxswain/etcd/channel.hpp"
#include "coxswain/etcd/meaning.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::etcd {

struct client_options {
  std::vector<net::endpoint> members;  // at least one
  tls_options tls;
  std::string user;  // empty: no authentication
  std::string password;
  duration call_timeout{1s};
};

// The reply to a call; or why there is none, and what that means.
struct raw_reply {
  raw_reply() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;
  meaning means;
  std::string message;
  std::size_t member{};
};

class client : public std::enable_shared_from_this<client> {
 public:
  // A new channel to a member.
  using connector = std::function<std::shared_ptr<channel>(std::size_t member)>;

  // Throws coxswain::error: INVALID_ARGUMENT, no members, and what net::tls_context says of the
  // files of `tls`.
  static std::shared_ptr<client> make(asio::any_io_executor executor, client_options o);
  // Over other channels, for tests.
  static std::shared_ptr<client> make(asio::any_io_executor executor, client_options o,
                                      connector how);

  // Calls a member once, and waits for the call's time limit at most. CANCELLED: the client is
  // closed. `self` is this.
  static asio::awaitable<raw_reply> ask(std::shared_ptr<client> self, std::string_view path,
                                        std::string message);

  // Repeats a call until a member replies, or it fails for good, or `give_up_at` has passed. So it
  // must be one that may be applied twice.
  static asio::awaitable<raw_reply> settle(std::shared_ptr<client> self, std::string_view path,
                                           std::string message, time_point give_up_at);

  // Opens a stream at the present member.
  [[nodiscard]] std::shared_ptr<call> open(std::string_view path, std::string message);

  // The present member, and another one from now on, if it is still this one.
  [[nodiscard]] std::size_t member() const noexcept { return member_; }
  void leave(std::size_t member);

  // A reply came from this cluster. FAILED_PRECONDITION: earlier ones came from another one.
  status check_cluster(std::uint64_t id, std::size_t member);

  // A member replied that the token is not valid.
  void forget_token() { token_.clear(); }

  // Ends all calls with CANCELLED, and further ones.
  void close();

  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  [[nodiscard]] asio::any_io_executor const& executor() const noexcept { return executor_; }
  [[nodiscard]] std::size_t members() const noexcept { return options_.members.size(); }
  [[nodiscard]] std::string name(std::size_t member) const {
    return options_.members[member].text();
  }

 private:
  client(asio::any_io_executor executor, client_options o, connector how);

  static asio::awaitable<raw_reply> ask_once(std::shared_ptr<client> self, std::string_view path,
                                             std::string message);
  static asio::awaitable<status> authenticate(std::shared_ptr<client> self);
  [[nodiscard]] std::shared_ptr<channel> channel_to(std::size_t member);

  asio::any_io_executor executor_;
  client_options options_;
  connector connect_;
  std::vector<std::shared_ptr<channel>> channels_;
  std::size_t member_{};
  std::string token_;
  std::uint64_t cluster_{};
  std::size_t cluster_of_{};  // the member that replied so
  bool is_closed_{};
};

}  // namespace coxswain::etcd
