#include "coxswain/server/connections.hpp"

namespace coxswain::server {

namespace {

template <class List>
void make_room(List& in, std::size_t count) {
  if (in.capacity() < count) in.reserve(2 * count);
}

}  // namespace

connection& connections::add(connection_id id, std::unique_ptr<net::byte_stream> stream) {
  erase_ended();  // one of them may have had the slot
  // Neither ending nor writing needs memory.
  make_room(iteration_.ended, all_.size() + 1);
  make_room(to_write_, all_.size() + 1);
  auto made = std::make_unique<connection>(iteration_, id, std::move(stream));
  auto& added = *made;
  all_.emplace(id, entry{std::move(made)});
  return added;
}

bool connections::dismiss(connection_id id, std::string_view goodbye) {
  iteration_.take_in();
  auto* const e = all_.find(id);
  if (e == nullptr || !e->owned->dismiss(goodbye)) return false;
  all_.erase(id);
  return true;
}

void connections::visit_due() {
  while (!visits_.empty() && visits_.top().first <= iteration_.now) {
    auto const [when, id] = visits_.top();
    visits_.pop();
    auto* const e = all_.find(id);
    if (e == nullptr || e->visit_at != when) continue;
    e->visit_at = time_point::max();
    e->owned->visit();
    plan(id, *e);
  }
}

void connections::plan(connection_id id, entry& e) {
  auto const when = e.owned->next_visit();
  if (e.owned->ended() || when >= e.visit_at) return;
  e.visit_at = when;
  visits_.emplace(when, id);
}

void connections::deliver() {
  while (iteration_.logic.has_to_deliver() && iteration_.logic.deliver(dirty_)) flush_dirty();
}

void connections::release() {
  while (iteration_.logic.release(dirty_)) flush_dirty();
}

void connections::flush_dirty() {
  to_write_.clear();
  for (auto const id : dirty_) {
    if (auto* const e = all_.find(id); e != nullptr) to_write_.push_back(e->owned.get());
  }
  for (auto* const connection : to_write_) connection->flush();
}

void connections::clear_away() {
  erase_ended();
  for (auto const id : iteration_.to_visit) {
    if (auto* const e = all_.find(id); e != nullptr) plan(id, *e);
  }
  iteration_.to_visit.clear();
}

void connections::erase_ended() {
  for (auto const id : iteration_.ended) all_.erase(id);
  iteration_.ended.clear();
}

void connections::leave_all(std::string_view goodbye) {
  all_.each([goodbye](connection_id, entry const& e) { e.owned->leave(goodbye); });
}

void connections::end_all() {
  all_.each([](connection_id, entry const& e) { e.owned->end(core::loss::closed); });
}

void connections::forget_all() noexcept { all_.clear(); }

std::optional<time_point> connections::next_deadline() const {
  if (visits_.empty()) return std::nullopt;
  return visits_.top().first;
}

}  // namespace coxswain::server
