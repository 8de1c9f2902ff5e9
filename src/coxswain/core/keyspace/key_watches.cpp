#include "coxswain/core/keyspace/key_watches.hpp"

namespace coxswain::core {

key_watches::watch_number key_watches::wait(std::string const& directory, ticket who) {
  by_directory_[directory].emplace(++number_, who);
  ++waiting_;
  return number_;
}

void key_watches::cancel(std::string const& directory, watch_number number) {
  auto const at = by_directory_.find(directory);
  if (at == by_directory_.end()) return;
  waiting_ -= at->second.erase(number);
  if (at->second.empty()) by_directory_.erase(at);
}

std::vector<ticket> key_watches::take(std::string const& directory) {
  std::vector<ticket> taken;
  auto const at = by_directory_.find(directory);
  for (auto const& [_, who] : at->second) taken.push_back(who);
  waiting_ -= taken.size();
  by_directory_.erase(at);
  return taken;
}

std::vector<ticket> key_watches::take_all() {
  std::vector<ticket> taken;
  taken.reserve(waiting_);
  for (auto const& [_, of_directory] : by_directory_) {
    for (auto const& [number, who] : of_directory) taken.push_back(who);
  }
  by_directory_.clear();
  waiting_ = 0;
  return taken;
}

}  // namespace coxswain::core
