#include "coxswain/core/joint_gets.hpp"

namespace coxswain::core {

joint_gets::~joint_gets() {
  for (auto const& [_, g] : gets_) memory_->subtract(overhead(g.keys));
}

std::size_t joint_gets::overhead(std::vector<std::string> const& keys) {
  std::size_t bytes = sizeof(get) + 64;
  for (std::string const& key : keys) bytes += sizeof(key) + key.size();
  return bytes;
}

joint_gets::number joint_gets::add(std::vector<std::string> keys) {
  memory_->add(overhead(keys));
  gets_.emplace(++last_, get{std::move(keys)});
  return last_;
}

void joint_gets::erase(number which) {
  auto const at = gets_.find(which);
  memory_->subtract(overhead(at->second.keys));
  gets_.erase(at);
}

}  // namespace coxswain::core
