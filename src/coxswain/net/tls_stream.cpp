#include "coxswain/net/tls_stream.hpp"

#include <boost/system/errc.hpp>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace coxswain::net {
namespace {

// As much as one record holds.
constexpr std::size_t record_bytes_max = SSL3_RT_MAX_PLAIN_LENGTH;

using outcome = transfer::outcome;

// Copies the content of the pieces from `from` on, as far as it fits.
std::size_t gather(std::span<iovec const> pieces, std::size_t from, std::span<char> into) {
  std::size_t copied = 0;
  for (auto const& piece : pieces) {
    if (from >= piece.iov_len) {
      from -= piece.iov_len;
      continue;
    }
    auto const size = std::min(piece.iov_len - from, into.size() - copied);
    std::memcpy(into.data() + copied, static_cast<char const*>(piece.iov_base) + from, size);
    copied += size;
    from = 0;
    if (copied == into.size()) break;
  }
  return copied;
}

bool is_number(std::string const& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

void expect(SSL* ssl, peer_check const& peer) {
  auto const& host = peer.host;
  bool const is_name = !is_number(host);
  if (is_name) SSL_set_tlsext_host_name(ssl, host.c_str());
  if (!peer.uri_prefix.empty()) return;
  auto* const what = SSL_get0_param(ssl);
  if (is_name) {
    X509_VERIFY_PARAM_set1_host(what, host.c_str(), 0);
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(what, host.c_str());
  }
}

// ALPN has each name behind its length.
void offer(SSL* ssl, std::string const& protocol) {
  auto const names = static_cast<char>(protocol.size()) + protocol;
  auto const* const bytes = reinterpret_cast<unsigned char const*>(names.data());
  if (SSL_set_alpn_protos(ssl, bytes, static_cast<unsigned>(names.size())) != 0) {
    throw std::bad_alloc{};
  }
}

}  // namespace

struct tls_stream::passage {
  static int read(BIO* from, char* into, int size) {
    auto& self = *static_cast<tls_stream*>(BIO_get_data(from));
    BIO_clear_retry_flags(from);
    if (!self.drained_) {
      auto const got = self.below_->read_some({into, static_cast<std::size_t>(size)});
      self.drained_ = got.how == outcome::would_block || got.bytes < static_cast<std::size_t>(size);
      if (got.how == outcome::done) return static_cast<int>(got.bytes);
      self.at_end_ = got.how == outcome::eof;
      self.broken_ = got.error;
      if (got.how != outcome::would_block) return self.at_end_ ? 0 : -1;
    }
    BIO_set_retry_read(from);
    return -1;
  }

  static int write(BIO* to, char const* bytes, int size) {
    auto& self = *static_cast<tls_stream*>(BIO_get_data(to));
    BIO_clear_retry_flags(to);
    iovec const piece{const_cast<char*>(bytes), static_cast<std::size_t>(size)};
    auto const sent = self.below_->write_some({&piece, 1});
    if (sent.how == outcome::done) return static_cast<int>(sent.bytes);
    if (sent.how == outcome::would_block) BIO_set_retry_write(to);
    self.broken_ = sent.error;
    return -1;
  }

  static long control(BIO* of, int what, long, void*) {
    if (what == BIO_CTRL_EOF) return static_cast<tls_stream*>(BIO_get_data(of))->at_end_ ? 1 : 0;
    return what == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static BIO_METHOD* method() {
    static auto* const made = [] {
      auto* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "byte_stream");
      if (m == nullptr) throw std::bad_alloc{};
      BIO_meth_set_read(m, &passage::read);
      BIO_meth_set_write(m, &passage::write);
      BIO_meth_set_ctrl(m, &passage::control);
      return m;
    }();
    return made;
  }
};

tls_stream::tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by)
    : ssl_{SSL_new(by.native())} {
  auto* const way = ssl_ == nullptr ? nullptr : BIO_new(passage::method());
  if (way == nullptr) {
    SSL_free(ssl_);
    throw std::bad_alloc{};
  }
  BIO_set_data(way, this);
  BIO_set_init(way, 1);
  SSL_set_bio(ssl_, way, way);
  SSL_set_accept_state(ssl_);
  attach(ssl_, peer_);
  peer_.uri_prefix = by.options().peer_uri_prefix;
  below_ = std::move(below);
}

tls_stream::tls_stream(std::unique_ptr<byte_stream>&& below, tls_context const& by,
                       std::string host, std::string const& protocol)
    : tls_stream{std::move(below), by} {
  peer_.host = std::move(host);
  SSL_set_connect_state(ssl_);
  if (!protocol.empty()) offer(ssl_, protocol);
  expect(ssl_, peer_);
}

tls_stream::~tls_stream() { SSL_free(ssl_); }

tls_stream::step tls_stream::handshake() noexcept {
  drained_ = false;
  ERR_clear_error();
  int const result = SSL_do_handshake(ssl_);
  if (result == 1) return step::done;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return step::wants_read;
    case SSL_ERROR_WANT_WRITE: return step::wants_write;
    default: note_problem(); return step::failed;
  }
}

transfer tls_stream::read_some(std::span<char> into) noexcept {
  drained_ = false;
  std::size_t total = 0;
  while (total < into.size()) {
    std::size_t got = 0;
    ERR_clear_error();
    int const result = SSL_read_ex(ssl_, into.data() + total, into.size() - total, &got);
    total += got;
    if (result == 1) continue;
    auto const end = ended(result);
    if (total == 0) return end;
    // Only the next read detects the end, and this may be its only reason.
    if (end.how != outcome::would_block) ::shutdown(native_handle(), SHUT_RD);
    break;
  }
  return {outcome::done, total, {}};
}

// A record that the stream below did not take waits in OpenSSL, and is taken for written when the
// same bytes come again.
transfer tls_stream::write_some(std::span<iovec const> pieces) noexcept {
  std::array<char, record_bytes_max> record;
  std::size_t total = 0;
  for (;;) {
    auto const size = gather(pieces, total, record);
    if (size == 0) break;
    std::size_t written = 0;
    ERR_clear_error();
    int const result = SSL_write_ex(ssl_, record.data(), size, &written);
    total += written;
    if (result == 1) continue;
    auto const end = ended(result);
    if (total == 0 || end.how == outcome::failed) return end;
    break;
  }
  if (total == 0) return {outcome::would_block, 0, {}};
  return {outcome::done, total, {}};
}

void tls_stream::shut_write() noexcept {
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
  below_->shut_write();
}

// Why a call of OpenSSL moved nothing.
transfer tls_stream::ended(int result) noexcept {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return {outcome::would_block, 0, {}};
    case SSL_ERROR_ZERO_RETURN: return {outcome::eof, 0, {}};
    default: break;
  }
  note_problem();
  auto const protocol = make_error_code(boost::system::errc::protocol_error);
  return {outcome::failed, 0, broken_ ? broken_ : protocol};
}

void tls_stream::note_problem() noexcept {
  try {
    if (broken_) {
      problem_ = {errc::unavailable, broken_.message()};
    } else if (ERR_peek_error() != 0 || !at_end_) {
      meets_http_ = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
      problem_ = tls_problem(ERR_peek_error(), peer_);
    } else {
      problem_ = {errc::unavailable, "the peer has closed the connection in the middle of it"};
    }
  } catch (std::exception const&) {
    problem_ = {};
  }
}

}  // namespace coxswain::net
