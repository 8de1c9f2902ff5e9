#include "coxswain/core/keyspace/queues.hpp"

#include <algorithm>

namespace coxswain::core {

queues::~queues() {
  for (auto const& [name, q] : queues_) memory_->subtract(q.items.size() * overhead(name));
}

void queues::push(std::string const& name, std::string value) {
  add(name, {++number_, bytes{std::move(value), memory_}});
}

void queues::put_back(std::string const& name, item what) {
  ++what.redeliveries;
  add(name, std::move(what));
}

void queues::add(std::string const& name, item what) {
  memory_->add(overhead(name));
  queue& q = queues_[name];
  q.items.emplace(what.number, std::move(what.value));
  if (what.redeliveries != 0) q.redeliveries.emplace(what.number, what.redeliveries);
  ++items_;
}

std::optional<queues::item> queues::pop(std::string const& name) {
  auto const at = queues_.find(name);
  if (at == queues_.end() || at->second.items.empty()) return std::nullopt;
  auto const first = at->second.items.begin();
  item taken{first->first, std::move(first->second)};
  if (auto const back = at->second.redeliveries.extract(taken.number)) {
    taken.redeliveries = back.mapped();
  }
  at->second.items.erase(first);
  --items_;
  memory_->subtract(overhead(name));
  forget_if_idle(at);
  return taken;
}

queues::waiter_number queues::wait(std::string const& name, waiter who) {
  waiter_number const number = 2 * ++waiter_ + (who.lease ? 1 : 0);
  queue& q = queues_[name];
  q.waiters.emplace(number, who.who);
  if (who.lease) q.leases.emplace(number, *who.lease);
  ++waiting_;
  return number;
}

void queues::cancel(std::string const& name, waiter_number number) {
  auto const at = queues_.find(name);
  if (at == queues_.end()) return;
  waiting_ -= at->second.waiters.erase(number);
  at->second.leases.erase(number);
  forget_if_idle(at);
}

std::optional<queues::waiter> queues::to_be_served(std::string const& name) const {
  auto const at = queues_.find(name);
  if (at == queues_.end() || at->second.items.empty() || at->second.waiters.empty()) {
    return std::nullopt;
  }
  auto const& [number, who] = *at->second.waiters.begin();
  auto const lease = at->second.leases.find(number);
  if (lease == at->second.leases.end()) return waiter{who};
  return waiter{who, lease->second};
}

std::vector<ticket> queues::take_all_waiters() {
  std::vector<ticket> taken;
  taken.reserve(waiting_);
  for (auto& [_, q] : queues_) {
    for (auto const& [number, who] : q.waiters) taken.push_back(who);
    q.waiters.clear();
    q.leases.clear();
  }
  waiting_ = 0;
  std::erase_if(queues_, [](auto const& entry) { return entry.second.items.empty(); });
  return taken;
}

std::size_t queues::length(std::string const& name) const {
  auto const at = queues_.find(name);
  return at == queues_.end() ? 0 : at->second.items.size();
}

bool queues::has_waiters(std::string const& name) const {
  auto const at = queues_.find(name);
  return at != queues_.end() && !at->second.waiters.empty();
}

bool queues::settled() const {
  return std::all_of(queues_.begin(), queues_.end(), [](auto const& entry) {
    return entry.second.items.empty() != entry.second.waiters.empty();
  });
}

void queues::forget_if_idle(by_name::iterator at) {
  if (at->second.items.empty() && at->second.waiters.empty()) queues_.erase(at);
}

}  // namespace coxswain::core
