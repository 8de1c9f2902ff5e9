#pragma once
// A connection to one member of etcd, over which calls are made. Not here: which member (client),
// HTTP/2 (grpc_channel). Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::etcd {

// How a call has ended.
struct call_end {
  status outcome;    // OK, the member's error, or that of the connection
  bool is_unseen{};  // the member has certainly not processed the call
};

// The receiver of a call's events. It is never called from within a function of the channel.
class call_events {
 public:
  virtual void message(std::string content) = 0;
  virtual void ended(call_end how) = 0;  // no event follows

 protected:
  ~call_events() = default;
};

struct call_request {
  std::string_view path;  // "/etcdserverpb.KV/Txn"
  std::string_view token;
  duration timeout{without_limit};  // sent to the member, not enforced here
  bool is_stream{};                 // further messages follow, until it is cancelled
};

class channel {
 public:
  channel() = default;
  channel(channel const&) = delete;
  channel& operator=(channel const&) = delete;
  virtual ~channel() = default;

  // Starts a call with its first message; returns its number. Calls wait until there is a
  // connection.
  virtual std::uint64_t start(call_request const& how, std::string message,
                              std::weak_ptr<call_events> to) = 0;

  // Sends a further message of a stream. Ignored if it has ended.
  virtual void send(std::uint64_t call, std::string message) = 0;

  // Ends a call without an event. Ignored if it has ended.
  virtual void cancel(std::uint64_t call) = 0;

  // Closes it: open calls end.
  virtual void close() = 0;

  // Whether it takes no more calls; make another one.
  [[nodiscard]] virtual bool is_broken() const = 0;
};

}  // namespace coxswain::etcd
