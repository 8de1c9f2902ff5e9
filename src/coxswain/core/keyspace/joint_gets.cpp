#include "coxswain/core/keyspace/joint_gets.hpp"

#include <algorithm>

namespace coxswain::core {

joint_gets::~joint_gets() {
  for (auto const& [_, g] : gets_) memory_->subtract(g.bytes);
}

std::size_t joint_gets::overhead(std::vector<std::string> const& keys) {
  std::size_t bytes = sizeof(get) + 64;
  for (std::string const& key : keys) bytes += sizeof(key) + key.capacity();
  return bytes;
}

joint_gets::number joint_gets::add(std::vector<std::string> keys, bool without_values) {
  std::size_t const bytes = overhead(keys);
  memory_->add(bytes);
  gets_.emplace(++last_, get{std::move(keys), 0, 0, bytes, 0, false, without_values});
  return last_;
}

void joint_gets::wake(number which, ticket who) {
  gets_.at(which).is_woken = true;
  woken_.push_back(std::move(who));
}

std::size_t joint_gets::count_woken() const {
  return static_cast<std::size_t>(
      std::count_if(gets_.begin(), gets_.end(), [](auto const& g) { return g.second.is_woken; }));
}

void joint_gets::erase(number which) {
  auto const at = gets_.find(which);
  memory_->subtract(at->second.bytes);
  gets_.erase(at);
}

}  // namespace coxswain::core
