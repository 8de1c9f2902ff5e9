#pragma once
// The peers before their Hello, by host: their number, and the oldest. And the hosts of the others.
// Not here: sockets, and which peers are closed (admission).

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace coxswain::server {

class pending_peers {
 public:
  // A connection or, before it is one, a TLS handshake.
  struct peer {
    enum class kind : std::uint8_t { handshake, connection };
    kind what;
    std::uint64_t number;

    friend bool operator==(peer const&, peer const&) = default;
  };

  // The host of a peer's address; empty for a Unix socket, whose peers are not counted.
  [[nodiscard]] static std::string_view host_of(std::string_view address) noexcept;

  // Adds a new pending peer of the host.
  void came(peer who, std::string_view host);

  // It has sent its Hello: it is pending no more, and its host is known.
  void greeted(peer who);

  // Removes it. Ignored if it was not pending.
  void left(peer who) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t of(std::string_view host) const;
  [[nodiscard]] bool knows(std::string_view host) const;

  // The oldest pending peers of the host, at most `most`, oldest first.
  [[nodiscard]] std::vector<peer> oldest(std::string_view host, std::size_t most) const;

  // The host with the most pending peers; empty if there are none.
  [[nodiscard]] std::string busiest_host() const;

 private:
  struct pending_peer;
  using arrivals = boost::intrusive::list<pending_peer>;  // in their order
  using host_map = std::map<std::string, arrivals, std::less<>>;
  struct pending_peer : boost::intrusive::list_base_hook<> {
    pending_peer(peer is, host_map::iterator from) : who{is}, host{from} {}
    peer who;
    host_map::iterator host;
  };
  struct peer_hash {
    std::size_t operator()(peer const& who) const noexcept {
      return std::hash<std::uint64_t>{}(who.number);
    }
  };

  std::unordered_map<peer, pending_peer, peer_hash> all_;
  host_map hosts_;  // that have pending peers; destroyed before them, since it links them
  std::unordered_set<std::string> known_;
};

}  // namespace coxswain::server
