#include "coxswain/server/listener.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/byte_stream.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::server {
namespace {

// Accepted in a loop iteration before the connections have theirs.
constexpr int accepted_max = 128;

constexpr std::string_view inherited_prefix{"fd://"};

constexpr int socket_flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

bool is_socket(std::string const& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

std::string advice_on(int error, net::endpoint const& where) {
  switch (error) {
    case EADDRINUSE:
      if (where.is_unix() && !is_socket(where.path())) {
        return " The path exists and is not a socket.";
      }
      if (where.is_unix()) return " Is another coordinator running?";
      return " Is another coordinator running? Port 0 takes any free port. Who listens there: ss "
             "-ltnp 'sport = :" +
             std::to_string(where.port()) + "'";
    case EADDRNOTAVAIL: return " This host does not have that address.";
    case EACCES: return " Ports below 1024 and other people's directories need privileges.";
    case ENOENT:
    case ENOTDIR: return " The directory does not exist.";
    case EMFILE: return " Raise the limit of open files (ulimit -n).";
    default: return "";
  }
}

status cannot_listen(net::endpoint const& where, int error) {
  auto text = "Cannot listen on " + where.text() + ": " + std::strerror(error) + ".";
  text += advice_on(error, where);
  return {errc::unavailable, std::move(text)};
}

status not_private(std::string const& where) {
  return {errc::failed_precondition,
          "Other hosts can reach " + where +
              ", and neither a token nor client certificates protect the coordinator. Configure "
              "a token or mutual TLS, listen on 127.0.0.1, [::1] or a Unix socket, or allow it "
              "explicitly (insecure)."};
}

// A process accepts connections there, or might: only a refusal proves that none does.
bool is_alive(net::socket_address const& at) {
  net::socket const probe{::socket(AF_UNIX, socket_flags, 0)};
  return ::connect(probe.value(), at.data(), at.size()) == 0 || errno != ECONNREFUSED;
}

// Zero, or an errno. A killed coordinator leaves the file of its socket behind, which must be
// removed before listening there.
int bind_to(net::socket_address const& at, int socket, std::string const& path) {
  if (::bind(socket, at.data(), at.size()) == 0) return 0;
  int const error = errno;
  if (error != EADDRINUSE || path.empty() || !is_socket(path) || is_alive(at)) return error;
  ::unlink(path.c_str());
  return ::bind(socket, at.data(), at.size()) == 0 ? 0 : errno;
}

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof(value));
}

int get(int socket, int level, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  return ::getsockopt(socket, level, option, &value, &size) == 0 ? value : 0;
}

// It is ours from now on, unless this throws.
net::socket inherited(std::string const& address) {
  std::string_view const digits{address.begin() + inherited_prefix.size(), address.end()};
  int number{};
  auto const parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool const is_number = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  if (!is_number || number < 0 || get(number, SOL_SOCKET, SO_TYPE) != SOCK_STREAM ||
      get(number, SOL_SOCKET, SO_ACCEPTCONN) == 0) {
    throw error{{errc::invalid_argument,
                 "The address '" + address +
                     "' is not a listening socket. fd://N takes the number of a listening socket "
                     "that this process has inherited."}};
  }
  ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) | O_NONBLOCK);
  ::fcntl(number, F_SETFD, FD_CLOEXEC);
  return net::socket{number};
}

std::string text_of(net::socket_address const& peer, int socket) {
  if (peer.family() != AF_UNIX) return peer.text();
  ucred who{};
  socklen_t size = sizeof(who);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return peer.text();
  return "unix: process " + std::to_string(who.pid) + " of user " + std::to_string(who.uid);
}

bool is_want_of_room(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

socket_file::socket_file(std::string path) : path_{std::move(path)} {
  struct stat made {};
  if (::lstat(path_.c_str(), &made) != 0) return;
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

socket_file::~socket_file() {
  struct stat found {};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
      found.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

// A name's further addresses are tried only if this host does not have those before.
listener::listener(std::string const& address, terms t) : terms_{t} {
  if (address.starts_with(inherited_prefix)) {
    socket_ = inherited(address);
    is_inherited_ = true;
    auto const at = net::socket_address::local(socket_.value()).value();
    address_ = at.text();
    if (t.must_be_private && !at.is_private()) throw error{not_private(address_)};
    return;
  }
  auto const where = net::endpoint::parse(address).value();
  int failure = 0;
  for (auto const& at : where.resolve(net::endpoint::purpose::listen).value()) {
    if (t.must_be_private && !at.is_private()) throw error{not_private(where.text())};
    failure = listen_on(at, where);
    if (failure == 0) return;
    if (failure != EADDRNOTAVAIL && failure != EAFNOSUPPORT) break;
  }
  throw error{cannot_listen(where, failure)};
}

// Zero, or an errno.
int listener::listen_on(net::socket_address const& at, net::endpoint const& where) {
  net::socket socket{::socket(at.family(), socket_flags, 0)};
  if (!socket) return errno;
  if (!where.is_unix()) set(socket.value(), SOL_SOCKET, SO_REUSEADDR, 1);
  // All addresses are those of IPv4, too.
  if (at.family() == AF_INET6 && where.host().empty()) {
    set(socket.value(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (int const error = bind_to(at, socket.value(), where.path()); error != 0) return error;
  if (where.is_unix()) file_.emplace(where.path());
  // Before it listens: nobody can connect until then.
  if (where.is_unix() && (terms_.is_for_owner || terms_.is_for_all)) {
    mode_t const mode = terms_.is_for_all ? S_IRWXU | S_IRWXG | S_IRWXO : S_IRWXU;
    if (::chmod(where.path().c_str(), mode) != 0) return errno;
  }
  net::tune(socket.value(), terms_.peer_timeout);
  if (::listen(socket.value(), SOMAXCONN) != 0) return errno;
  address_ = net::socket_address::local(socket.value()).value().text();
  socket_ = std::move(socket);
  return 0;
}

void listener::start(net::poller& by, accept_handler& keeper) {
  if (keeper_ != nullptr) return;
  keeper_ = &keeper;
  ready_.emplace(by, socket_.value());
  loop_ = accept();
  loop_.start();
}

void listener::go_on() {
  if (ready_) ready_->poke();
}

net::owned_coroutine listener::accept() {
  for (;;) {
    co_await ready_->readable();
    while (accept_ready() == next::another_iteration) co_await ready_->next_iteration();
  }
}

listener::next listener::accept_ready() noexcept {
  for (int count = 0; count < accepted_max; ++count) {
    sockaddr_storage from{};
    auto* const peer = reinterpret_cast<sockaddr*>(&from);
    socklen_t size = sizeof(from);
    net::socket socket{::accept4(socket_.value(), peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    int const error = errno;
    if (socket) {
      welcome(std::move(socket), {peer, size});
    } else if (error == EAGAIN || error == EBADF || error == EINVAL) {
      return next::wait;
    } else if (is_want_of_room(error)) {
      keeper_->out_of_room(error);
      return next::wait;
    }  // others are errors of a connection that broke before it was accepted
  }
  return next::another_iteration;
}

void listener::welcome(net::socket socket, net::socket_address const& from) noexcept {
  try {
    // Clients may have connected before this process began.
    if (is_inherited_) net::tune(socket.value(), terms_.peer_timeout);
    auto peer = text_of(from, socket.value());
    keeper_->accepted(*this, std::move(socket), std::move(peer));
  } catch (std::exception const&) {
    keeper_->out_of_room(ENOMEM);
  }
}

}  // namespace coxswain::server
