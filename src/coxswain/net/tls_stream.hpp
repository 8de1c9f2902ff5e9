#pragma once
// TLS over another stream. After the handshake it is a byte_stream like any other; before, only
// `handshake` may be called. Not here: the certificates (tls_context).
//
// One read of the stream below takes several records, and a small write is one record and one write
// below. Between messages a connection holds no buffers.

#include "coxswain/base/status.hpp"
#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/tls_certificate.hpp"
#include "coxswain/net/tls_context.hpp"

#include <cstdint>
#include <memory>
#include <string>

struct bio_st;         // OpenSSL's BIO
struct bio_method_st;  // OpenSSL's BIO_METHOD
struct ssl_st;         // OpenSSL's SSL

namespace coxswain::net {

class tls_stream final : public byte_stream {
 public:
  // The server's side, or the client's, to a server that is to be `host`: a name or a number, as
  // the user gave it. Throws std::bad_alloc; the server's side leaves `below` as it was then.
  tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by);
  tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by, std::string host);
  ~tls_stream() override;

  // Goes as far as it can without waiting. `wants_read` and `wants_write` say what to wait for
  // before the next call; `failed`: see `problem`, and the peer is told if it can be.
  enum class step : std::uint8_t { done, wants_read, wants_write, failed };
  [[nodiscard]] step handshake() noexcept;

  // Why a handshake, or a transfer since, has failed; UNAVAILABLE if the connection below broke.
  // See tls_problem.
  [[nodiscard]] status const& problem() const noexcept { return problem_; }

  // The handshake has failed because the peer has sent a request of HTTP.
  [[nodiscard]] bool meets_http() const noexcept { return meets_http_; }

  [[nodiscard]] transfer read_some(std::span<char> into) noexcept override;
  [[nodiscard]] transfer write_some(std::span<iovec const> pieces) noexcept override;
  void shut_write() noexcept override;
  [[nodiscard]] std::size_t unread_by_peer() const noexcept override {
    return below_->unread_by_peer();
  }
  [[nodiscard]] int native_handle() const noexcept override { return below_->native_handle(); }

  // The stream below, for what is said without TLS to who does not speak it.
  [[nodiscard]] byte_stream& below() noexcept { return *below_; }

 private:
  struct passage;  // the functions that OpenSSL reads and writes with

  [[nodiscard]] transfer ended(int result) noexcept;
  void note_problem() noexcept;

  std::unique_ptr<byte_stream> below_;
  ssl_st* ssl_;
  peer_check peer_;
  status problem_;
  boost::system::error_code broken_;  // the stream below
  bool drained_{};                    // it had less than was asked for: not again in this call
  bool meets_http_{};
  bool at_end_{};  // its peer sends no more
};

}  // namespace coxswain::net
