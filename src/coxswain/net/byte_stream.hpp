#pragma once
// A connection as a non-blocking stream of bytes: callers wait for readiness elsewhere
// (net/poller). `socket_stream` is TCP and Unix; TLS is another one, over the same descriptor. Not
// here: frames (wire/frame), queues (server/outbox).

#include "coxswain/base/time.hpp"
#include "coxswain/net/socket.hpp"

#include <boost/system/error_code.hpp>

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace coxswain::net {

// The result of a read or a write.
struct transfer {
  enum class outcome : std::uint8_t {
    done,         // `bytes` were moved, at least one
    would_block,  // none now
    eof,          // reads only: the peer sends no more
    failed,       // `error` says why; the stream is unusable
  };

  outcome how{outcome::done};
  std::size_t bytes{};
  boost::system::error_code error{};
};

class byte_stream {
 public:
  byte_stream() = default;
  virtual ~byte_stream() = default;
  byte_stream(byte_stream const&) = delete;
  byte_stream& operator=(byte_stream const&) = delete;

  // Reads as much as is available and fits. Fewer bytes than `into` holds mean that no more is
  // available: do not read again before the descriptor is ready again.
  [[nodiscard]] virtual transfer read_some(std::span<char> into) noexcept = 0;

  // Writes the pieces in order as far as the peer and the kernel take them. Fewer bytes than the
  // pieces hold mean that it would block now.
  [[nodiscard]] virtual transfer write_some(std::span<iovec const> pieces) noexcept = 0;

  // Sends the end of the stream to the peer. Reading continues.
  virtual void shut_write() noexcept = 0;

  // How many written bytes wait in this host's kernel for the peer to read them.
  [[nodiscard]] virtual std::size_t unread_by_peer() const noexcept = 0;

  // Whether unread input of the peer waits in the kernel.
  [[nodiscard]] bool has_unread() const noexcept;

  // For a poller.
  [[nodiscard]] virtual int native_handle() const noexcept = 0;
};

class socket_stream final : public byte_stream {
 public:
  // `connected` is a connected, non-blocking stream socket.
  explicit socket_stream(socket connected) noexcept : socket_{std::move(connected)} {}

  [[nodiscard]] transfer read_some(std::span<char> into) noexcept override;
  [[nodiscard]] transfer write_some(std::span<iovec const> pieces) noexcept override;
  void shut_write() noexcept override;
  [[nodiscard]] std::size_t unread_by_peer() const noexcept override;
  [[nodiscard]] int native_handle() const noexcept override { return socket_.value(); }

 private:
  socket socket_;
};

// Sets the options of a stream socket: TCP_NODELAY; keepalive; and a peer that acknowledges nothing
// for `peer_timeout` is an error (ETIMEDOUT). What a listening socket accepts has its options.
// Unsupported ones are ignored (a Unix socket supports none).
void tune(int socket, duration peer_timeout) noexcept;

}  // namespace coxswain::net
