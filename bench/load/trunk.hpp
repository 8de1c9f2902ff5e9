#pragma once
// A relay's side of its connection to a coordinator: the load's connections are its routes.
// Not here: its socket (connections).

#include "coxswain/wire/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coxswain::bench {

class trunk {
 public:
  // Begins with the hello of a relay.
  trunk();

  void open(std::size_t connection);
  // The connection's process has ended.
  void close(std::size_t connection);
  void send(std::size_t connection, std::string_view bytes);

  // To be written; whoever writes it leaves it empty.
  [[nodiscard]] std::string& output() noexcept { return output_; }

  // Calls `take` with what each connection receives. Throws bench_error.
  using taker = std::function<void(std::size_t connection, std::string_view bytes)>;
  void receive(std::string_view bytes, taker const& take);

 private:
  struct route {
    std::size_t connection{};
    std::size_t unreported{};  // received since the coordinator was told of room
  };

  static void take_own(std::string_view payload);
  void deliver(std::uint32_t number, std::string_view bytes, taker const& take);

  wire::frame_decoder decoder_;
  std::unordered_map<std::uint32_t, route> routes_;
  std::unordered_map<std::size_t, std::uint32_t> numbers_;  // by connection
  std::uint32_t last_{};
  std::string output_;
  std::string frame_;
};

}  // namespace coxswain::bench
