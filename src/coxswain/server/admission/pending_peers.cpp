#include "coxswain/server/admission/pending_peers.hpp"

#include <algorithm>

namespace coxswain::server {
namespace {

// Beyond, all known hosts are forgotten: only the last places are kept for them.
constexpr std::size_t known_max = 65'536;

}  // namespace

std::string_view pending_peers::host_of(std::string_view address) noexcept {
  if (address.starts_with("unix:")) return {};
  return address.substr(0, address.rfind(':'));
}

void pending_peers::came(peer who, std::string_view host) {
  if (host.empty()) return;
  auto found = hosts_.find(host);
  if (found == hosts_.end()) found = hosts_.try_emplace(std::string{host}).first;
  auto const [at, is_new] = all_.try_emplace(who, who, found);
  if (is_new) found->second.push_back(at->second);
}

void pending_peers::greeted(peer who) {
  auto const found = all_.find(who);
  if (found == all_.end()) return;
  if (known_.size() >= known_max) known_.clear();
  known_.insert(found->second.host->first);
  left(who);
}

void pending_peers::left(peer who) noexcept {
  auto const found = all_.find(who);
  if (found == all_.end()) return;
  auto const host = found->second.host;
  host->second.erase(host->second.iterator_to(found->second));
  all_.erase(found);
  if (host->second.empty()) hosts_.erase(host);
}

std::size_t pending_peers::of(std::string_view host) const {
  auto const found = hosts_.find(host);
  return found == hosts_.end() ? 0 : found->second.size();
}

bool pending_peers::knows(std::string_view host) const {
  return known_.contains(std::string{host});
}

std::vector<pending_peers::peer> pending_peers::oldest(std::string_view host,
                                                       std::size_t most) const {
  std::vector<peer> found;
  auto const at = hosts_.find(host);
  if (at == hosts_.end()) return found;
  for (pending_peer const& waiting : at->second) {
    if (found.size() == most) break;
    found.push_back(waiting.who);
  }
  return found;
}

std::string pending_peers::busiest_host() const {
  auto const fewer = [](auto const& a, auto const& b) { return a.second.size() < b.second.size(); };
  auto const found = std::max_element(hosts_.begin(), hosts_.end(), fewer);
  return found == hosts_.end() ? std::string{} : found->first;
}

}  // namespace coxswain::server
