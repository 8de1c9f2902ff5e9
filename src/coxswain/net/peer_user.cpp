#include "coxswain/net/peer_user.hpp"

#include "coxswain/net/endpoint.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace coxswain::net {
namespace {

// As the kernel prints it: the address as a number of this machine's byte order, in hexadecimal.
std::string row_address(socket_address const& of, bool is_mapped) {
  sockaddr_in at{};
  std::memcpy(&at, of.data(), sizeof at);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s%08X:%04X",
                is_mapped ? "0000000000000000FFFF0000" : "", at.sin_addr.s_addr,
                static_cast<unsigned>(ntohs(at.sin_port)));
  return text.data();
}

}  // namespace

bool is_of_this_user(int socket) {
  auto const ours = socket_address::local(socket);
  auto const theirs = socket_address::peer(socket);
  if (!ours || !theirs || theirs->family() != AF_INET) return false;
  for (bool const is_mapped : {false, true}) {
    auto const local = row_address(*theirs, is_mapped);
    auto const remote = row_address(*ours, is_mapped);
    std::ifstream rows{is_mapped ? "/proc/net/tcp6" : "/proc/net/tcp"};
    for (std::string row; std::getline(rows, row);) {
      std::istringstream fields{row};
      std::string number;
      std::string local_of_row;
      std::string remote_of_row;
      fields >> number >> local_of_row >> remote_of_row;
      if (local_of_row != local || remote_of_row != remote) continue;
      std::string skipped;
      uid_t user{};
      fields >> skipped >> skipped >> skipped >> skipped >> user;
      return fields && (user == ::geteuid() || user == 0);
    }
  }
  return false;
}

}  // namespace coxswain::net
