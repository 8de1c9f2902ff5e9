#pragma once
// The peers that have not said Hello yet, by host: how many there are, and which have been there
// longest. And the hosts of those that have. Not here: sockets, and who gives way (reception).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

    friend auto operator<=>(peer const&, peer const&) = default;
  };

  // The host of a peer's address; empty for a Unix socket, whose peers are not counted.
  [[nodiscard]] static std::string_view host_of(std::string_view address) noexcept;

  // One that is not there yet has come from the host.
  void came(peer who, std::string_view host);

  // It has said Hello: it is no stranger, and its host is known.
  void greeted(peer who);

  // It is gone. Ignored if it was no stranger.
  void left(peer who) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t of(std::string_view host) const;
  [[nodiscard]] bool knows(std::string_view host) const;

  // The strangers of the host that have been there longest, `most` of them, the oldest first.
  [[nodiscard]] std::vector<peer> oldest(std::string_view host, std::size_t most) const;

  // The host with the most strangers; empty if there are none.
  [[nodiscard]] std::string crowd() const;

 private:
  using arrivals = std::map<std::uint64_t, peer>;  // in the order in which they came
  struct place {
    std::map<std::string, arrivals, std::less<>>::iterator host;
    std::uint64_t arrival;
  };

  std::uint64_t came_{};
  std::map<std::string, arrivals, std::less<>> hosts_;  // that have strangers
  std::map<peer, place> all_;
  std::unordered_set<std::string> known_;
};

}  // namespace coxswain::server
