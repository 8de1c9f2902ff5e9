#pragma once
// An outgoing connection, TCP, TLS or Unix: opened, read and written without blocking; waits are
// coroutines. Not here: its content, and reconnecting.
//
// Not thread-safe. May be dropped at any time, also while a coroutine waits in it, which then gets
// `operation_aborted`; must be dropped before its executor's context is destroyed.

#include "coxswain/base/attempt_stage.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/name_lookup.hpp"
#include "coxswain/net/tls_stream.hpp"

#include <boost/system/error_code.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::net {

// The outcome of an attempt to open a transport.
struct reach_failure {
  reach_failure() = default;  // no aggregate: GCC 12, see tools/tidy.py

  status why;       // OK: it is open
  bool refused{};   // every address was reachable, but nothing listens
  bool rejected{};  // see transport::rejected
};

class transport {
 public:
  // A peer that acknowledges nothing for `peer_timeout` is an error. With `certificates` it uses
  // TLS, and `protocol`, unless empty, is what it wants to speak there (ALPN).
  transport(asio::any_io_executor executor, duration peer_timeout,
            std::shared_ptr<tls_context const> certificates, std::string protocol = {})
      : executor_{std::move(executor)},
        peer_timeout_{peer_timeout},
        certificates_{std::move(certificates)},
        protocol_{std::move(protocol)} {}
  ~transport() { drop(); }
  transport(transport const&) = delete;
  transport& operator=(transport const&) = delete;

  // Tries all addresses of `to` in turn, beginning with number `first` modulo their count. Numbers
  // and paths are not looked up. `self` is this. `on_stage` is called when a stage begins; the
  // first stage is resolving, without a call.
  static asio::awaitable<reach_failure> open(std::shared_ptr<transport> self, endpoint to,
                                             std::uint64_t first,
                                             std::function<void(attempt_stage)> on_stage = {});

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] bool is_dropped() const noexcept { return dropped_; }

  // Until there is something to read, or bytes can be written; until it is dropped; until it is
  // broken. `self` is this.
  static asio::awaitable<void> readable(std::shared_ptr<transport> self);
  static asio::awaitable<void> writable(std::shared_ptr<transport> self);

  // Ends a wait in `readable` although there may be nothing to read.
  void wake_reader() noexcept;

  [[nodiscard]] transfer read_some(std::span<char> into) noexcept {
    return stream_->read_some(into);
  }
  [[nodiscard]] transfer write_some(std::string_view bytes) noexcept;

  // Sends the end of the stream to the peer. Reading continues.
  void shut_write() noexcept { stream_->shut_write(); }

  // The end reported by a read, for people; `peer` is what was connected to, such as "the
  // coordinator". Call it before dropping.
  [[nodiscard]] status loss(transfer const& how, std::string_view peer) const;

  // One side has rejected the other's certificate, or only one of them speaks TLS.
  [[nodiscard]] bool rejected() const noexcept;

  void peer_timeout(duration longest) noexcept;

  // Closes it at once, or ends the attempt to open it.
  void drop() noexcept;

 private:
  static asio::awaitable<boost::system::error_code> connect(std::shared_ptr<transport> self,
                                                            socket_address to);
  static asio::awaitable<status> shake_hands(std::shared_ptr<transport> self, std::string host);
  void close() noexcept;

  asio::any_io_executor executor_;
  duration peer_timeout_;
  std::shared_ptr<tls_context const> certificates_;
  std::string protocol_;
  std::shared_ptr<name_lookup> lookup_;
  std::optional<asio::posix::stream_descriptor>
      watch_;  // watches the descriptor of one of the next two
  std::unique_ptr<byte_stream> stream_;
  tls_stream* tls_{};  // the stream, if it is one
  std::string peer_;
  socket socket_;  // while it is being connected
  bool is_open_{};
  bool reader_waits_{};
  bool dropped_{};
};

}  // namespace coxswain::net
