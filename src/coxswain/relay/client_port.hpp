#pragma once
// Where the bytes of a relay's client go to and come from: its route (switchboard), or a service
// (relay_service).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coxswain::relay {

class client_port {
 public:
  // How many bytes may be read from the client now; and these were read.
  [[nodiscard]] virtual std::size_t room(std::uint32_t client) const = 0;
  virtual void content(std::uint32_t client, std::string_view bytes) = 0;

  // The next bytes for the client; and how many of them were written.
  [[nodiscard]] virtual std::string_view to_write(std::uint32_t client) const = 0;
  virtual void wrote(std::uint32_t client, std::size_t bytes) = 0;

  // The client's connection ends after its last byte.
  [[nodiscard]] virtual bool ends(std::uint32_t client) const = 0;

 protected:
  ~client_port() = default;
};

}  // namespace coxswain::relay
