#pragma once
// TLS over another stream. After the handshake it is a byte_stream like any other; before it, only
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
  // The server's side, or the client's, which expects the server to be `host`: a name or a number,
  // as the user gave it, and speaks `protocol` unless that is empty (ALPN). Throws std::bad_alloc;
  // then the server's side leaves `below` unchanged.
  tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by);
  tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by, std::string host,
             std::string const& protocol = {});
  ~tls_stream() override;

  // Proceeds as far as possible without waiting. `wants_read` and `wants_write` say what to wait
  // for before the next call; `failed`: see `problem`; the peer gets an alert if possible.
  enum class step : std::uint8_t { done, wants_read, wants_write, failed };
  [[nodiscard]] step handshake() noexcept;

  // Why a handshake, or a transfer since, has failed; UNAVAILABLE if the connection below broke.
  // See tls_problem.
  [[nodiscard]] status const& problem() const noexcept { return problem_; }

  // The handshake has failed because the peer has sent an HTTP request.
  [[nodiscard]] bool meets_http() const noexcept { return meets_http_; }

  [[nodiscard]] transfer read_some(std::span<char> into) noexcept override;
  [[nodiscard]] transfer write_some(std::span<iovec const> pieces) noexcept override;
  void shut_write() noexcept override;
  [[nodiscard]] std::size_t unread_by_peer() const noexcept override {
    return below_->unread_by_peer();
  }
  [[nodiscard]] int native_handle() const noexcept override { return below_->native_handle(); }

  // The stream below, for a plaintext reply to a peer that does not use TLS.
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
  bool drained_{};  // it returned less than requested: do not read it again in this call
  bool meets_http_{};
  bool at_end_{};  // its peer sends no more
};

}  // namespace coxswain::net
