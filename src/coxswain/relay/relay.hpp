#pragma once
// A relay: carries the sessions of the clients of one host over one connection to the coordinator
// (§18.3). It has no state of these sessions, so it may be killed at any moment: its
// clients resume at the next address of their list. Only JAX processes and TCPStore clients that it
// may vouch for end with it, since their services are here. While it has no trunk, new clients wait
// for the attempt in progress; when that has failed, they get a Goodbye that permits to try again.
//
// Not thread-safe: everything happens on the io_context's one thread.

#include "coxswain/base/fifo.hpp"
#include "coxswain/client/options.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/gate.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/relay/relay_client.hpp"
#include "coxswain/relay/relay_service.hpp"
#include "coxswain/relay/switchboard.hpp"
#include "coxswain/relay/trunk_link.hpp"
#include "coxswain/server/listener.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::relay {

struct relay_options {
  explicit relay_options(client_options to) : upstream{std::move(to)} {}

  // The coordinator's addresses, the relay's token, TLS and time limit for the first connection.
  client_options upstream;
  std::vector<std::string> listen;  // as server::options::listen
  // Further addresses for torch's TCPStore clients of this user only: 127.0.0.1 with a port.
  std::vector<std::string> tcp_store_listen;
  bool admits_all_users{};  // to its Unix sockets; else only its own user
  duration idle_max{};      // it ends after this long without a client; zero: never
  // Of JAX processes and TCPStore clients; the coordinator has that of the others.
  duration stalled_reader_timeout{30s};
  // Of messages in transit to and from these.
  std::size_t memory_bytes_max{relay_service::memory_max_default};
  std::function<void(core::severity, std::string const&)> log;
};

class relay final : private net::iteration_owner,
                    private server::accept_handler,
                    private client_owner,
                    private trunk_owner {
 public:
  // Listens. Throws coxswain::error: what server::listener and net::tls_context throw;
  // INVALID_ARGUMENT: an address of the coordinator is malformed.
  relay(asio::io_context& io, relay_options o);
  ~relay();
  relay(relay const&) = delete;
  relay& operator=(relay const&) = delete;

  // Where it listens, with the chosen ports: `listen`, then `tcp_store_listen`.
  [[nodiscard]] std::vector<std::string> addresses() const;

  // Relays until `stop`, or until it has been idle for too long, or until the coordinator has ended
  // the relay's session: then the result says why. The relay must outlive it.
  asio::awaitable<status> run();

  // Closes all connections: clients go on at another address.
  void stop();

  // Clients with a route.
  [[nodiscard]] std::size_t routes() const noexcept { return board_.size(); }
  // The name of a client that is connected, such as "unix: process 77 of user 0".
  [[nodiscard]] bool has_peer(std::string_view name) const;
  // The stack of the process of such a client, as was wanted (upstream.wants_stacks).
  void report(core::report_stack_args what) { trunk_->report(std::move(what)); }
  [[nodiscard]] bool is_up() const noexcept { return trunk_->is_up(); }

 private:
  // A client whose connection has ended, and when its process counts as living.
  struct gone_client {
    time_point until;
    std::uint32_t route{};
  };

  // A client without a route, and when it is to look elsewhere unless the trunk is up.
  struct waiting_client {
    time_point until;
    std::unique_ptr<relay_client> client;
  };

  static std::string heartbeat_reply();
  time_point iteration_begins() noexcept override;
  void iteration_ends() noexcept override;
  void accepted(server::listener const& by, net::socket socket, std::string peer) noexcept override;
  void out_of_room(int error) noexcept override;
  [[nodiscard]] bool is_full() const noexcept override { return trunk_->is_full(); }
  void client_gone(relay_client& who) override;
  void client_begins(relay_client& who, server::protocols what) override;
  void client_ended(relay_client& who) noexcept override;
  void trunk_up() override;
  void trunk_down(status const& why) override;
  void trunk_failed(status const& why) override;
  void trunk_reports(core::severity level, std::string const& text) override;
  status trunk_received(std::string_view payload) override { return board_.received(payload); }
  void trunk_moved() override;
  void trunk_has_room() override;

  [[nodiscard]] bool vouches_for(server::listener const& by) const;
  [[nodiscard]] relay_service& service_for(server::protocols what) const;
  [[nodiscard]] relay_service& service_of(std::uint32_t client) const;
  void begin_services(time_point now) noexcept;
  void open_services();
  void close_services(status const& why);
  void advance_services();
  [[nodiscard]] bool may_admit(relay_client const& client) const;
  void admit(std::unique_ptr<relay_client> client);
  static void dismiss(relay_client& client, status const& why);
  void turn_away(status const& why, time_point until);
  void flush();
  void clear_away();
  void give_up_gone(time_point now);
  void look_whether_idle(time_point now);
  void report_living(time_point now);
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  void end();

  relay_options options_;
  net::poller poller_;
  std::vector<std::unique_ptr<server::listener>> listeners_;
  std::shared_ptr<trunk_link> trunk_;
  switchboard board_{heartbeat_reply()};
  std::vector<std::unique_ptr<relay_service>> services_;  // since the trunk was up first
  std::unordered_map<std::uint32_t, std::unique_ptr<relay_client>> clients_;  // by number
  fifo<waiting_client> waiting_;                                              // for the trunk
  std::vector<std::unique_ptr<relay_client>> ending_;
  fifo<gone_client> gone_;
  std::optional<status> failure_;  // of the last attempt to open the trunk
  duration heartbeat_period_{};    // zero: none
  time_point reports_at_{time_point::max()};
  std::optional<time_point> accept_again_at_;
  std::optional<time_point> idle_since_;
  std::vector<std::uint32_t> changed_;
  net::gate finished_;
  bool may_have_ended_{};
  bool is_closed_{};
};

}  // namespace coxswain::relay
