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

class strangers {
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

  // Adds a new stranger of the host.
  void came(peer who, std::string_view host);

  // It has sent its Hello: it is no stranger, and its host is known.
  void greeted(peer who);

  // Removes it. Ignored if it was no stranger.
  void left(peer who) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t of(std::string_view host) const;
  [[nodiscard]] bool knows(std::string_view host) const;

  // The oldest strangers of the host, at most `most`, oldest first.
  [[nodiscard]] std::vector<peer> oldest(std::string_view host, std::size_t most) const;

  // The host with the most strangers; empty if there are none.
  [[nodiscard]] std::string crowd() const;

 private:
  struct stranger;
  using arrivals = boost::intrusive::list<stranger>;  // in their order
  using host_map = std::map<std::string, arrivals, std::less<>>;
  struct stranger : boost::intrusive::list_base_hook<> {
    stranger(peer is, host_map::iterator from) : who{is}, host{from} {}
    peer who;
    host_map::iterator host;
  };
  struct peer_hash {
    std::size_t operator()(peer const& who) const noexcept {
      return std::hash<std::uint64_t>{}(who.number);
    }
  };

  std::unordered_map<peer, stranger, peer_hash> all_;
  host_map hosts_;  // that have strangers; destroyed before them, since it links them
  std::unordered_set<std::string> known_;
};

}  // namespace coxswain::server
