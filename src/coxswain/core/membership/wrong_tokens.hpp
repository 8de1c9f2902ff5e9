#pragma once
// Wrong tokens by host, so that the log has one line for the first of a host and then one per
// period. Beyond a number of hosts, all others are counted together. Not here: periods
// (coordinator).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace coxswain::core {

class wrong_tokens {
 public:
  // True for the first one of a host, which has a line of its own.
  bool note(std::string const& host) {
    bool const has_room = hosts_.size() < hosts_max || hosts_.contains(host);
    auto const [at, is_new] = hosts_.try_emplace(has_room ? host : "other hosts");
    if (!is_new) ++at->second;
    return is_new;
  }

  // How many came from each host since the last call, not counting its first. Hosts without any
  // since then are forgotten.
  [[nodiscard]] std::map<std::string, std::uint64_t> take() {
    auto tried = std::exchange(hosts_, {});
    std::erase_if(tried, [](auto const& entry) { return entry.second == 0; });
    for (auto const& [host, _] : tried) hosts_.emplace(host, 0);
    return tried;
  }

  [[nodiscard]] bool empty() const noexcept { return hosts_.empty(); }

  static void fields(auto& a, auto& s) { a(1, s.hosts_); }

 private:
  static constexpr std::size_t hosts_max = 1'024;

  std::map<std::string, std::uint64_t> hosts_;
};

}  // namespace coxswain::core
