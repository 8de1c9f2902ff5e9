#include "coxswain/xla/open_call_table.hpp"

#include "coxswain/base/invariant.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::xla {
namespace {

// The memory of an open call, besides its name.
constexpr std::size_t call_bytes = sizeof(open_call) + 96;

std::size_t cost_of(open_call const& call) {
  return call_bytes + call.name.size() + call.asked.size() * sizeof(task_name) +
         (call.topology ? call.topology->size() : 0);
}

}  // namespace

open_call_table::open_call_table(meter_ptr memory, std::vector<effect>& replies)
    : memory_{std::move(memory)}, replies_{replies} {}

open_call_table::~open_call_table() {
  for (auto const& [_, call] : calls_) memory_->subtract_transit(cost_of(call));
}

request_id open_call_table::add(open_call call) {
  request_id const id{++last_id_};
  if (call.from) call.from->calls.insert_or_assign(call.stream, id);
  memory_->add_transit(cost_of(call));
  calls_.emplace(id, std::move(call));
  return id;
}

request_id open_call_table::renumber(request_id id) {
  request_id const next{++last_id_};
  auto node = calls_.extract(id);
  node.key() = next;
  open_call const& call = node.mapped();
  if (call.from) call.from->calls.insert_or_assign(call.stream, next);
  calls_.insert(std::move(node));
  return next;
}

open_call* open_call_table::find(request_id id) {
  auto const at = calls_.find(id);
  return at == calls_.end() ? nullptr : &at->second;
}

void open_call_table::answer(open_call const& to, outcome how, encoded_reply what,
                             bool says_only_alive) {
  if (!to.from) return;
  auto& counted = counts_[static_cast<std::size_t>(to.of.what)];
  ++counted.calls;
  if (!how.ok()) ++counted.failed;
  replies_.emplace_back(
      std::in_place_type<reply>,
      reply{{to.from->core, to.stream}, std::move(how), std::move(what), says_only_alive});
}

void open_call_table::forget(request_id id) {
  auto const at = calls_.find(id);
  memory_->subtract_transit(cost_of(at->second));
  unlink(at->second);
  calls_.erase(at);
}

void open_call_table::finish(request_id id, outcome how, encoded_reply what) {
  answer(calls_.at(id), std::move(how), std::move(what));
  forget(id);
}

void open_call_table::move(request_id id, client& from, std::int32_t stream, outcome how) {
  open_call& call = calls_.at(id);
  answer(call, std::move(how));
  unlink(call);
  call.from = &from;
  call.stream = stream;
  from.calls.insert_or_assign(stream, id);
}

void open_call_table::abandon(request_id id) { unlink(calls_.at(id)); }

void open_call_table::unlink(open_call& call) {
  if (call.from) call.from->calls.erase(call.stream);
  call.from = nullptr;
}

void open_call_table::check_invariants() const {
  for (auto const& [id, call] : calls_) {
    bool const is_sent = std::count(call.by->open.begin(), call.by->open.end(), id) == 1;
    task_session const* const s = call.by->of_task;
    bool const is_poll = s && s->poll == id;
    bool const waits = s && std::count(s->heartbeats.begin(), s->heartbeats.end(), id) == 1;
    bool const is_paged = call.pages != nullptr;
    invariant(is_sent || is_poll || waits || is_paged, "an open call will be answered");
    if (!call.from) continue;
    auto const at = call.from->calls.find(call.stream);
    invariant(at != call.from->calls.end() && at->second == id, "a connection knows its calls");
  }
}

}  // namespace coxswain::xla
