#include "coxswain/core/keyspace/leases.hpp"

namespace coxswain::core {

leases::~leases() {
  for (auto const& [_, held] : all_) memory_->subtract(cost(held.queue));
}

leases::lease& leases::add(number item, lease what) {
  index(item, what);
  return all_.emplace(item, std::move(what)).first->second;
}

void leases::index(number item, lease const& what) {
  memory_->add(cost(what.queue));
  by_owner_.emplace(what.owner, item);
  by_queue_[what.queue].insert(item);
}

queues::item leases::end(number item) {
  auto const at = all_.find(item);
  lease& held = at->second;
  memory_->subtract(cost(held.queue));
  by_owner_.erase({held.owner, item});
  auto const of_queue = by_queue_.find(held.queue);
  of_queue->second.erase(item);
  if (of_queue->second.empty()) by_queue_.erase(of_queue);
  queues::item taken{item, held.value, held.redeliveries};
  all_.erase(at);
  return taken;
}

leases::lease* leases::find(number item) {
  auto const at = all_.find(item);
  return at == all_.end() ? nullptr : &at->second;
}

std::optional<leases::number> leases::first_of(session_id owner) const {
  auto const at = by_owner_.lower_bound({owner, 0});
  if (at == by_owner_.end() || at->first != owner) return std::nullopt;
  return at->second;
}

std::pair<leases::number, std::size_t> leases::held_of(std::string const& queue) const {
  auto const at = by_queue_.find(queue);
  if (at == by_queue_.end()) return {0, 0};
  return {*at->second.begin(), at->second.size()};
}

bool leases::is_consistent() const {
  std::size_t of_queues = 0;
  for (auto const& [_, items] : by_queue_) of_queues += items.size();
  if (of_queues != all_.size() || by_owner_.size() != all_.size()) return false;
  for (auto const& [item, held] : all_) {
    auto const at = by_queue_.find(held.queue);
    if (at == by_queue_.end() || !at->second.contains(item)) return false;
    if (!by_owner_.contains({held.owner, item})) return false;
  }
  return true;
}

}  // namespace coxswain::core
