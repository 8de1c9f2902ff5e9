#pragma once
// The state of a connection to one of torch's TCPStore clients: its requests and unread input.

#include "coxswain/tcp_store/client.hpp"
#include "coxswain/tcp_store/decoder.hpp"

#include <cstddef>
#include <string>

namespace coxswain::server {

struct tcp_store_line {
  tcp_store_line(std::size_t bytes_max, std::size_t unasked_max, memory_meter* memory)
      : requests{bytes_max, unasked_max, memory}, client{bytes_max, memory} {}

  tcp_store::decoder requests;
  tcp_store::client client;
  std::string unread;   // input that waits for its quantum, for memory, or for the client to read
  std::size_t taken{};  // of `unread`
};

}  // namespace coxswain::server
