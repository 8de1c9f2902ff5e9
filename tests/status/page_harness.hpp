#pragma once
// A server with its status page over real sockets, for tests, and a peer that writes HTTP byte by
// byte.

#include "coxswain/status/page.hpp"
#include "tests/server/harness.hpp"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::status_page {

struct reply {
  int code{};
  std::string head;
  std::string body;
};

class http_peer {
 public:
  http_peer(asio::io_context& io, std::string const& address) : io_{io} {
    auto const where = net::endpoint::parse(address).value();
    auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
    socket_ = net::descriptor{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    BOOST_TEST_REQUIRE(::connect(socket_.value(), at.data(), at.size()) == 0, address);
    int on = 1;
    ::ioctl(socket_.value(), FIONBIO, &on);
  }

  void send(std::string_view bytes) {
    server::run_until(io_, [&] {
      auto const sent = ::send(socket_.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      // A refused request may be closed before it is read to the end.
      return bytes.empty() || (sent < 0 && errno != EAGAIN);
    });
  }

  // The next response with its complete body.
  reply next(bool has_body = true) {
    reply r;
    server::run_until(io_, [&] { return take(r, has_body) || !read(); });
    BOOST_TEST_REQUIRE(r.code != 0, "no answer came: " << unread_);
    return r;
  }

  // At least this many bytes, or all bytes before the end.
  std::string bytes(std::size_t least) {
    server::run_until(io_, [&] { return unread_.size() >= least || !read(); });
    return std::exchange(unread_, {});
  }

  // Waits until the server has closed the connection.
  void expect_end() {
    server::run_until(io_, [&] { return !read(); });
  }

  void shut() { ::shutdown(socket_.value(), SHUT_WR); }

  void read_little() {
    int const bytes = 4096;
    ::setsockopt(socket_.value(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  }

 private:
  // False at the end of the stream.
  bool read() {
    char buffer[1 << 16];
    auto const got = ::recv(socket_.value(), buffer, sizeof(buffer), 0);
    if (got > 0) unread_.append(buffer, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EAGAIN);
  }

  bool take(reply& r, bool has_body) {
    auto const end = unread_.find("\r\n\r\n");
    if (end == unread_.npos) return false;
    auto const head = unread_.substr(0, end + 2);
    auto const at = head.find("Content-Length: ");
    std::size_t const size =
        at == head.npos || !has_body ? 0 : std::stoul(head.substr(at + 16, 20));
    if (unread_.size() < end + 4 + size) return false;
    r = {std::stoi(head.substr(9, 3)), head, unread_.substr(end + 4, size)};
    unread_.erase(0, end + 4 + size);
    return true;
  }

  asio::io_context& io_;
  net::descriptor socket_;
  std::string unread_;
};

struct page_harness : server::harness {
  using harness::harness;

  void open() {
    if (!made) serve();
    shown.emplace(io, *made, page_options);
  }
  http_peer visit() {
    if (!shown) open();
    return {io, shown->address()};
  }
  reply ask(std::string const& method, std::string const& path, std::string const& fields = "",
            std::string const& body = "") {
    auto peer = visit();
    peer.send(request(method, path, fields, body));
    return peer.next(method != "HEAD");
  }
  reply get(std::string const& path, std::string const& fields = "") {
    return ask("GET", path, fields);
  }
  reply post(std::string const& path, std::string const& body, std::string const& fields = "") {
    return ask("POST", path, fields + "Content-Type: application/json\r\n", body);
  }
  static std::string request(std::string const& method, std::string const& path,
                             std::string const& fields = "", std::string const& body = "") {
    std::string const length =
        body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + length + "\r\n" +
           body;
  }

  options page_options;
  std::optional<page> shown;
};

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace coxswain::status_page
