#pragma once
// One TCPStore client of torch: its requests as requests of a session of its own in the core, and
// the core's answers as replies. No I/O, no clock. Not here: bytes of requests (decoder), which
// clients there are (server).
//
// The protocol has no reply that says why a request failed: then the connection ends, as upstream's
// does, and the client raises its DistNetworkError.
//
// torch's queue_pop waits for the queue, then pops it. So a wait that an item ends takes it under a
// short lease, and a pop that follows gets it although others wait, too. A popped item is finished
// when the client must have read it: with its next request, or when it closes the connection in
// order. If its connection breaks before that, the item returns to its place.

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

  // The client has closed the connection after it had received all replies.
  void closed_in_order(output& to);

 private:
  // What a request in the core is for.
  enum class step : std::uint8_t {
    only,         // the whole request
    look,         // of check and wait: is there a value?
    wait,         // for a value
    take,         // an item, or wait for one
    claim_taken,  // of queue_pop: the item that a wait has taken
    end_lease,
    mark  // that a barrier is complete, or no more
  };

  struct open_request {
    query what{};
    std::string key{};       // of the client, or a page's last one
    std::string expected{};  // of compare_set
    std::string desired{};   // likewise, as long as it may be needed again
    std::int64_t count{};    // of the participants of a barrier
    step now{};
    request_id other{};    // of a wait for a value: that for an item, and the reverse
    carried_bytes item{};  // of claim_taken
  };

  // An item under a lease.
  struct taken_item {
    enum class state : std::uint8_t { reserved, claimed, given };
    std::string key;
    std::uint64_t number{};
    std::uint32_t redeliveries{};
    carried_bytes value;  // until it is claimed
    state now{};
  };

  request_id send(core::request what, open_request why, output& to);
  void cancel(request_id which, output& to);
  void check(std::vector<std::string> const& keys, open_request why, output& to);
  void wait(open_request why, output& to);
  void pop(open_request why, output& to);
  void end_lease(output& to);
  void arrived(open_request&& to, core::answer const& what, output& into);
  void compare_set(open_request why, output& to);
  void cancel_wait(output& to);
  [[nodiscard]] verdict reply(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict checked(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict waited(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict popped(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict failed(open_request const& what, status const& why) const;
  [[nodiscard]] verdict compared(open_request&& to, core::answer const& what, output& into);
  [[nodiscard]] verdict listed(open_request&& to, core::listing_answer const& page, output& into);

  std::size_t reply_bytes_max_;
  std::uint64_t sent_{};      // requests
  std::uint64_t answered_{};  // replies of the core
  std::map<request_id, open_request> open_;
  std::optional<taken_item> taken_;
  std::string names_;  // of list_keys, as they are sent
  std::int64_t names_count_{};
  transit_bytes counted_;
};

}  // namespace coxswain::tcp_store
