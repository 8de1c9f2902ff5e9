#include "coxswain/core/keyspace/queues.hpp"

#include <algorithm>

namespace coxswain::core {

queues::~queues() {
  for (auto const& [name, q] : queues_) memory_->subtract(q.items.size() * overhead(name));
}

void queues::push(std::string const& name, std::string value) {
  add(name, ++number_, bytes{std::move(value), memory_});
}

void queues::put_back(std::string const& name, item what) {
  add(name, what.number, std::move(what.value));
}

void queues::add(std::string const& name, std::uint64_t number, bytes value) {
  memory_->add(overhead(name));
  queues_[name].items.emplace(number, std::move(value));
  ++items_;
}

std::optional<queues::item> queues::pop(std::string const& name) {
  auto const at = queues_.find(name);
  if (at == queues_.end() || at->second.items.empty()) return std::nullopt;
  auto const first = at->second.items.begin();
  item taken{first->first, std::move(first->second)};
  at->second.items.erase(first);
  --items_;
  memory_->subtract(overhead(name));
  forget_if_idle(at);
  return taken;
}

queues::waiter_number queues::wait(std::string const& name, ticket who) {
  queues_[name].waiters.emplace(++waiter_, who);
  ++waiting_;
  return waiter_;
}

void queues::cancel(std::string const& name, waiter_number number) {
  auto const at = queues_.find(name);
  if (at == queues_.end()) return;
  waiting_ -= at->second.waiters.erase(number);
  forget_if_idle(at);
}

std::optional<ticket> queues::to_be_served(std::string const& name) const {
  auto const at = queues_.find(name);
  if (at == queues_.end() || at->second.items.empty() || at->second.waiters.empty()) {
    return std::nullopt;
  }
  return at->second.waiters.begin()->second;
}

std::vector<ticket> queues::take_all_waiters() {
  std::vector<ticket> taken;
  taken.reserve(waiting_);
  for (auto& [_, q] : queues_) {
    for (auto const& [number, who] : q.waiters) taken.push_back(who);
    q.waiters.clear();
  }
  waiting_ = 0;
  std::erase_if(queues_, [](auto const& one) { return one.second.items.empty(); });
  return taken;
}

std::size_t queues::length(std::string const& name) const {
  return queues_.find(name)->second.items.size();
}

bool queues::settled() const {
  return std::all_of(queues_.begin(), queues_.end(), [](auto const& one) {
    return one.second.items.empty() != one.second.waiters.empty();
  });
}

void queues::forget_if_idle(by_name::iterator at) {
  if (at->second.items.empty() && at->second.waiters.empty()) queues_.erase(at);
}

}  // namespace coxswain::core
