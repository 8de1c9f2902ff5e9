#pragma once
// One TCPStore client of torch: its requests as requests of a session of its own in the core, and
// the core's answers as replies. No I/O, no clock. Not here: bytes of requests (decoder), which
// clients there are (server).
//
// The protocol has no reply that says why a request failed: then the connection ends, as upstream's
// does, and the client raises its DistNetworkError.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/tcp_store/request.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tcp_store {

// The effects of an input.
struct output {
  // A piece of the reply: large values are shared.
  struct piece {
    std::string copied;
    bytes shared{};
  };

  std::vector<core::client_message> to_core;
  std::vector<piece> to_client;
};

class client {
 public:
  // A reply that lists keys has up to `reply_bytes_max` bytes, which `meter` counts while its pages
  // are gathered.
  client(std::size_t reply_bytes_max, memory_meter* meter) noexcept
      : reply_bytes_max_{reply_bytes_max}, counted_{meter} {}

  // The first message of its session. A job without tokens has an empty one.
  [[nodiscard]] static core::client_message hello(std::string job, std::string token);

  // The client sends a request. An error ends the connection.
  [[nodiscard]] status received(request&& what, output& to);

  // The core answers. With `ends` the connection ends; the log says why, unless that is OK.
  enum class fate : std::uint8_t { stays, ends };
  struct verdict {
    fate what{fate::stays};
    status why{};
  };
  [[nodiscard]] verdict answered(core::outgoing const& what, output& to);

 private:
  struct open_request {
    query what{};
    std::string key;       // of the client, or a page's last one
    std::string expected;  // of compare_set
    std::string desired;   // likewise, as long as it may be needed again
  };

  void send(core::request what, open_request why, output& to);
  void compare_set(open_request why, output& to);
  void cancel_wait(output& to);
  [[nodiscard]] verdict reply(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict failed(open_request const& what, status const& why) const;
  [[nodiscard]] verdict compared(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict listed(open_request&& to, core::listing_answer const& page, output& into);

  std::size_t reply_bytes_max_;
  std::uint64_t sent_{};      // requests
  std::uint64_t answered_{};  // replies of the core
  std::map<request_id, open_request> open_;
  std::string names_;  // of list_keys, as they are sent
  std::int64_t names_count_{};
  transit_bytes counted_;
};

}  // namespace coxswain::tcp_store
