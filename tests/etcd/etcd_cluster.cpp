#include "tests/etcd/etcd_cluster.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace coxswain::etcd::test {
namespace {

constexpr char const* program = "/usr/bin/etcd";

// Ports that are free now, all different.
std::vector<int> free_ports(std::size_t count) {
  std::vector<int> sockets;
  std::vector<int> ports;
  for (std::size_t i = 0; i < count; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(sockets.back(), at, size) != 0 || ::getsockname(sockets.back(), at, &size) != 0) {
      throw std::runtime_error{"no free port"};
    }
    ports.push_back(ntohs(address.sin_port));
  }
  for (int const one : sockets) ::close(one);
  return ports;
}

std::string url(std::string const& scheme, int port) {
  return scheme + "://127.0.0.1:" + std::to_string(port);
}

}  // namespace

bool etcd_cluster::is_possible() { return std::filesystem::exists(program); }

etcd_cluster::etcd_cluster(std::size_t members, tls_options tls)
    : tls_{std::move(tls)}, processes_(members, -1) {
  auto pattern = (std::filesystem::temp_directory_path() / "coxswain-etcd-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"no directory"};
  directory_ = pattern;
  auto const ports = free_ports(2 * members);
  for (std::size_t i = 0; i < members; ++i) {
    clients_.push_back(net::endpoint::parse("127.0.0.1:" + std::to_string(ports[i])).value());
    peers_.push_back(ports[members + i]);
  }
  for (std::size_t i = 0; i < members; ++i) start(i);
}

etcd_cluster::~etcd_cluster() {
  for (std::size_t i = 0; i < processes_.size(); ++i) kill(i);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void etcd_cluster::signal(std::size_t member, int number) const {
  ::kill(processes_[member], number);
}

void etcd_cluster::kill(std::size_t member) {
  auto& process = processes_[member];
  if (process < 0) return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = -1;
}

void etcd_cluster::start(std::size_t member) {
  auto const name = [](std::size_t i) { return "m" + std::to_string(i); };
  std::string const scheme = tls_.cert.empty() ? "http" : "https";
  std::string all;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    all += (i == 0 ? "" : ",") + name(i) + "=" + url("http", peers_[i]);
  }
  auto const own = url(scheme, clients_[member].port());
  auto const peer = url("http", peers_[member]);
  std::vector<std::string> words{program,
                                 "--name",
                                 name(member),
                                 "--data-dir",
                                 (directory_ / name(member)).string(),
                                 "--listen-client-urls",
                                 own,
                                 "--advertise-client-urls",
                                 own,
                                 "--listen-peer-urls",
                                 peer,
                                 "--initial-advertise-peer-urls",
                                 peer,
                                 "--initial-cluster",
                                 all,
                                 "--initial-cluster-state",
                                 "new",
                                 "--snapshot-count",
                                 "5000",
                                 "--logger",
                                 "zap",
                                 "--log-outputs",
                                 "stderr",
                                 "--log-level",
                                 "error"};
  if (!tls_.cert.empty()) {
    for (auto const& word : {std::string{"--cert-file"}, tls_.cert, std::string{"--key-file"},
                             tls_.key, std::string{"--trusted-ca-file"}, tls_.ca}) {
      words.push_back(word);
    }
  }
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  auto const log = (directory_ / (name(member) + ".log")).string();
  auto const process = ::fork();
  if (process < 0) throw std::runtime_error{"no process"};
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int const file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::execv(program, arguments.data());
    ::_exit(127);
  }
  processes_[member] = process;
}

}  // namespace coxswain::etcd::test
