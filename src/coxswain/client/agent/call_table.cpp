#include "coxswain/client/agent/call_table.hpp"

#include <algorithm>
#include <cassert>

namespace coxswain::detail {
namespace {

bool limited(open_call const& call) { return call.deadline != time_point::max(); }

}  // namespace

void call_table::add(open_call call) {
  auto const id = call.message.id;
  if (auto const* barrier = std::get_if<core::barrier_args>(&call.message.what)) {
    barriers_.emplace(call.message.task, barrier->name);
  }
  if (limited(call)) deadlines_.emplace(call.deadline, id);
  [[maybe_unused]] bool const added = calls_.emplace(id, std::move(call)).second;
  assert(added);
}

open_call* call_table::find(request_id id) {
  auto const at = calls_.find(id);
  return at == calls_.end() ? nullptr : &at->second;
}

std::optional<open_call> call_table::take(request_id id) {
  auto const at = calls_.find(id);
  if (at == calls_.end()) return std::nullopt;
  return extract(at);
}

std::vector<open_call> call_table::take_all() {
  std::vector<open_call> all;
  all.reserve(calls_.size());
  for (auto& [id, call] : calls_) all.push_back(std::move(call));
  std::sort(all.begin(), all.end(),
            [](open_call const& a, open_call const& b) { return a.message.id < b.message.id; });
  calls_.clear();
  deadlines_.clear();
  barriers_.clear();
  return all;
}

open_call call_table::take_first() { return extract(calls_.find(deadlines_.begin()->second)); }

void call_table::set_deadline(request_id id, time_point deadline) {
  open_call& call = calls_.at(id);
  assert(!limited(call));
  call.deadline = deadline;
  if (limited(call)) deadlines_.emplace(deadline, id);
}

std::optional<time_point> call_table::first_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

bool call_table::waits_at(std::optional<task_id> task, std::string const& barrier) const {
  return barriers_.contains(place{task, barrier});
}

std::vector<request_id> call_table::ids(request_id after, request_id through) const {
  std::vector<request_id> listed;
  for (auto const& [id, call] : calls_) {
    if (id > after && id <= through) listed.push_back(id);
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

core::client_message const* call_table::only() const {
  return calls_.size() == 1 ? &calls_.begin()->second.message : nullptr;
}

open_call call_table::extract(std::unordered_map<request_id, open_call>::iterator at) {
  open_call call = std::move(at->second);
  calls_.erase(at);
  if (limited(call)) deadlines_.erase({call.deadline, call.message.id});
  if (auto const* barrier = std::get_if<core::barrier_args>(&call.message.what)) {
    barriers_.erase(place{call.message.task, barrier->name});
  }
  return call;
}

}  // namespace coxswain::detail
