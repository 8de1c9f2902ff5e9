#pragma once
// Debian's etcd-server as processes on loopback, in a directory of its own that is removed.

#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/tls_options.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::etcd::test {

class etcd_cluster {
 public:
  // Whether it is installed.
  [[nodiscard]] static bool is_possible();

  // Starts the members. `tls` is their certificate, if any. Throws std::runtime_error.
  explicit etcd_cluster(std::size_t members = 3, tls_options tls = {});
  ~etcd_cluster();
  etcd_cluster(etcd_cluster const&) = delete;
  etcd_cluster& operator=(etcd_cluster const&) = delete;

  [[nodiscard]] std::vector<net::endpoint> const& endpoints() const { return clients_; }

  void signal(std::size_t member, int number) const;
  void kill(std::size_t member);
  void start(std::size_t member);

 private:
  std::filesystem::path directory_;
  tls_options tls_;
  std::vector<net::endpoint> clients_;
  std::vector<int> peers_;  // ports
  std::vector<pid_t> processes_;
};

}  // namespace coxswain::etcd::test
