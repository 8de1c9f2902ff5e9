#include "coxswain/net/peer_user.hpp"

#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace coxswain::net {
namespace {

struct question {
  nlmsghdr head;
  inet_diag_req_v2 what;
};

struct reply {
  nlmsghdr head;
  inet_diag_msg what;
  std::array<char, 512> attributes;  // which nobody asked for
};

// In the byte order of the network, as the kernel wants it.
void put(socket_address const& from, __be16& port, __be32 (&address)[4]) {
  if (from.family() == AF_INET) {
    sockaddr_in at{};
    std::memcpy(&at, from.data(), sizeof at);
    port = at.sin_port;
    address[0] = at.sin_addr.s_addr;
  } else {
    sockaddr_in6 at{};
    std::memcpy(&at, from.data(), sizeof at);
    port = at.sin6_port;
    std::memcpy(address, &at.sin6_addr, sizeof address);
  }
}

}  // namespace

// The kernel looks up the peer's socket, whose source is the peer.
bool is_of_this_user(int socket) {
  auto const ours = socket_address::local(socket);
  auto const theirs = socket_address::peer(socket);
  if (!ours || !theirs || theirs->family() == AF_UNIX) return false;
  question asked{};
  asked.head.nlmsg_len = sizeof asked;
  asked.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  asked.head.nlmsg_flags = NLM_F_REQUEST;
  asked.what.sdiag_family = static_cast<std::uint8_t>(theirs->family());
  asked.what.sdiag_protocol = IPPROTO_TCP;
  asked.what.idiag_states = ~std::uint32_t{0};
  auto& id = asked.what.id;
  put(*theirs, id.idiag_sport, id.idiag_src);
  put(*ours, id.idiag_dport, id.idiag_dst);
  std::fill(std::begin(id.idiag_cookie), std::end(id.idiag_cookie), INET_DIAG_NOCOOKIE);
  net::socket const kernel{::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  reply found{};
  if (::send(kernel.value(), &asked, sizeof asked, 0) != sizeof asked) return false;
  auto const size = ::recv(kernel.value(), &found, sizeof found, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof found.head + sizeof found.what)) return false;
  if (found.head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
  // A socket that nobody holds any more counts as root's.
  if (found.what.idiag_inode == 0) return false;
  return found.what.idiag_uid == ::geteuid() || found.what.idiag_uid == 0;
}

}  // namespace coxswain::net
