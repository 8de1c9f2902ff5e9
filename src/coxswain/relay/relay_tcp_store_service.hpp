#pragma once
// A relay's service for torch's TCPStore clients. Each has a session with the coordinator, which
// resumes after a restart of the coordinator; meanwhile requests wait. No I/O, no clock. Not here:
// what requests mean (tcp_store), sockets (relay_client), the sessions' routes (core_links).
//
// Not thread-safe.

#include "coxswain/base/bytes.hpp"
#include "coxswain/relay/relay_service.hpp"
#include "coxswain/relay/switchboard.hpp"
#include "coxswain/tcp_store/client.hpp"
#include "coxswain/tcp_store/decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::relay {

class relay_tcp_store_service final : public relay_service {
 public:
  static constexpr std::uint32_t first_client = relay_service::first_client + (1u << 30);

  // What its sessions say, and how long a client may read nothing while replies wait.
  struct options {
    std::string job;
    std::string token;
    duration stalled_max{};
  };

  // `board` must outlive it. `terms`: the coordinator's, for the trunk. `memory`: for messages in
  // transit.
  relay_tcp_store_service(switchboard& board, options o, core::hello_answer const& terms,
                          event_sink log, meter_ptr memory = make_meter(memory_max_default));

  // A connection whose first bytes are those of a TCPStore client, or must be.
  std::uint32_t open(std::string peer, core::session_secret const& secret) override;
  void close(std::uint32_t client, core::loss how) override;

  [[nodiscard]] std::size_t room(std::uint32_t client) const override;
  void content(std::uint32_t client, std::string_view bytes) override;
  [[nodiscard]] std::string_view to_write(std::uint32_t client) const override;
  void wrote(std::uint32_t client, std::size_t bytes) override;
  [[nodiscard]] bool ends(std::uint32_t client) const override;

  [[nodiscard]] std::optional<time_point> next_deadline() const override;
  void advance(bool reads) override;
  void take_changed(std::vector<std::uint32_t>& into) override;

  [[nodiscard]] std::size_t size() const noexcept { return clients_.size(); }

 private:
  struct client {
    client(std::size_t bytes_max, memory_meter* memory, std::string who);

    tcp_store::decoder requests;
    tcp_store::client meaning;
    std::string peer;
    std::string unread;  // input that waits for replies, for memory, or for the client to read
    std::string out;     // written up to `written`
    std::size_t written{};
    transit_bytes counted;  // `out`
    bool ends{};

    [[nodiscard]] bool is_full() const noexcept;
  };

  void settle() override;
  [[nodiscard]] std::string const& peer_of(std::uint32_t number) const override {
    return clients_.at(number)->peer;
  }

  [[nodiscard]] std::optional<time_point> next_heartbeats() const;
  [[nodiscard]] bool may_go_on(std::uint32_t number, client const& of) const;
  void take_input(std::uint32_t number, client& of);
  void apply(std::uint32_t number, client& of, tcp_store::output&& what);
  void end(std::uint32_t number, client& of, status const& why);
  void leave(std::uint32_t number);
  void take(core::outgoing const& what);
  void go_on_all();

  core::client_message hello_;
  std::size_t request_bytes_max_;
  duration heartbeat_period_;  // zero: none
  std::unordered_map<std::uint32_t, std::unique_ptr<client>> clients_;
  std::optional<time_point> heartbeats_at_;
  bool lacks_memory_{};  // for a client's next request
};

}  // namespace coxswain::relay
