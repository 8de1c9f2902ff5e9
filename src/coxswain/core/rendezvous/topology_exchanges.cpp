#include "coxswain/core/rendezvous/topology_exchanges.hpp"

#include <utility>

namespace coxswain::core {

topology_exchanges::exchange const* topology_exchanges::find(std::string_view platform) const {
  auto const at = all_.find(platform);
  return at == all_.end() ? nullptr : &at->second;
}

local_topology const* topology_exchanges::brought_by(std::string_view platform,
                                                     task_id task) const {
  exchange const* const x = find(platform);
  if (!x) return nullptr;
  if (x->outcome) return &std::get<global_topology>(x->outcome->value).tasks[task.value];
  auto const at = x->brought.find(task);
  return at == x->brought.end() ? nullptr : &at->second;
}

std::size_t topology_exchanges::bytes_brought(std::string_view platform) const {
  exchange const* const x = find(platform);
  return x ? x->topology_bytes : 0;
}

std::optional<ticket> topology_exchanges::arrive(std::string_view platform,
                                                 task_set_ptr const& everyone, time_point now,
                                                 task_id task, meeting::arrival a,
                                                 local_topology mine) {
  auto at = all_.find(platform);
  if (at == all_.end()) {
    at = all_.try_emplace(std::string{platform}).first;
    exchange& opened = at->second;
    opened.waiting.open(everyone, now);
    opened.meeting_bytes = everyone->size() * sizeof(meeting::arrival);
    memory_->add(opened.meeting_bytes);
  }
  exchange& x = at->second;
  if (auto const [place, is_new] = x.brought.try_emplace(task, std::move(mine)); is_new) {
    std::size_t const bytes = bytes_of(place->second);
    x.topology_bytes += bytes;
    memory_->add(bytes);
  }
  return x.waiting.arrive(task, std::move(a));
}

void topology_exchanges::cancel(std::string_view platform, task_id task) {
  auto const at = all_.find(platform);
  if (at == all_.end() || at->second.outcome) return;
  exchange& x = at->second;
  auto const mine = x.brought.find(task);
  std::size_t const bytes = bytes_of(mine->second);
  x.topology_bytes -= bytes;
  memory_->subtract(bytes);
  x.brought.erase(mine);
  x.waiting.cancel(task);
  if (x.brought.empty()) forget(platform);
}

std::vector<local_topology> topology_exchanges::take_brought(std::string_view platform) {
  std::vector<local_topology> by_task;
  for (auto& [_, topology] : std::exchange(all_.find(platform)->second.brought, {})) {
    by_task.push_back(std::move(topology));
  }
  return by_task;
}

std::vector<ticket> topology_exchanges::settle(std::string_view platform, answer_ptr outcome) {
  exchange& x = all_.find(platform)->second;
  std::vector<ticket> tickets = x.waiting.tickets();
  x.outcome = std::move(outcome);
  x.brought.clear();
  close(x);
  return tickets;
}

std::vector<ticket> topology_exchanges::forget(std::string_view platform) {
  auto const at = all_.find(platform);
  exchange& x = at->second;
  std::vector<ticket> tickets;
  if (x.waiting.is_open()) tickets = x.waiting.tickets();
  close(x);
  memory_->subtract(x.topology_bytes);
  all_.erase(at);
  return tickets;
}

void topology_exchanges::clear() {
  while (!all_.empty()) forget(all_.begin()->first);
}

void topology_exchanges::close(exchange& x) {
  x.waiting = meeting{};
  memory_->subtract(std::exchange(x.meeting_bytes, 0));
}

}  // namespace coxswain::core
