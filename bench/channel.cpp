#include "channel.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace coxswain::bench {
namespace {

struct header {
  message_kind kind{};
  std::uint32_t size{};
};

}  // namespace

std::pair<channel, channel> channel::make_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure("cannot make a pair of sockets");
  }
  return {channel{descriptor{ends[0]}}, channel{descriptor{ends[1]}}};
}

void channel::send(message_kind kind, std::string_view payload) {
  header const h{kind, static_cast<std::uint32_t>(payload.size())};
  std::string whole(sizeof h, '\0');
  std::memcpy(whole.data(), &h, sizeof h);
  whole += payload;

  std::string_view rest{whole};
  while (!rest.empty()) {
    auto const sent = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || may_go_on(POLLOUT))) continue;
    if (sent < 0) throw system_failure("cannot talk to another process of the benchmark");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void channel::send_number(message_kind kind, std::uint64_t number) {
  std::array<char, sizeof number> raw{};
  std::memcpy(raw.data(), &number, sizeof number);
  send(kind, {raw.data(), raw.size()});
}

std::optional<message> channel::receive() {
  header h;
  if (!read_all(reinterpret_cast<char*>(&h), sizeof h)) return std::nullopt;
  message m{h.kind, std::string(h.size, '\0')};
  if (!read_all(m.payload.data(), m.payload.size())) return std::nullopt;
  return m;
}

// Who waits for the channel with Asio finds it non-blocking afterwards.
bool channel::may_go_on(short event) const {
  if (errno != EAGAIN) return false;
  pollfd waited{fd(), event, 0};
  return ::poll(&waited, 1, -1) > 0;
}

bool channel::read_all(char* into, std::size_t size) {
  while (size > 0) {
    auto const got = ::recv(fd(), into, size, 0);
    if (got < 0 && (errno == EINTR || may_go_on(POLLIN))) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string payload_of(bench_error const& problem) {
  return static_cast<char>(problem.code()) + std::string{problem.what()};
}

bench_error failure_of(message const& m) {
  if (m.payload.empty()) return bench_error{"failed without a word"};
  return bench_error{m.payload.substr(1), static_cast<exit_code>(m.payload.front())};
}

std::uint64_t number_of(message const& m) {
  std::uint64_t number = 0;
  if (m.payload.size() == sizeof number) std::memcpy(&number, m.payload.data(), sizeof number);
  return number;
}

}  // namespace coxswain::bench
