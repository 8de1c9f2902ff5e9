#include "coxswain/core/kernel/counted_answer.hpp"

#include <type_traits>
#include <vector>

namespace coxswain::core {
namespace {

std::size_t beside(listing_answer::entry const& e) { return e.key.size(); }
std::size_t beside(key_change const& c) { return c.key.size(); }
std::size_t beside(snapshot::task const& t) {
  return t.label.size() + t.peer.size() + t.error.message().size();
}
std::size_t beside(snapshot::barrier const& b) { return b.name.size() + b.missing.size(); }
std::size_t beside(snapshot::finished_round const& r) { return r.name.size(); }
std::size_t beside(snapshot::straggler const&) { return 0; }
std::size_t beside(snapshot::spare const& s) {
  return s.member.size() + s.label.size() + s.peer.size();
}
std::size_t beside(failure const& f) { return f.why.message().size(); }
std::size_t beside(epoch_members_answer::member const& m) {
  return m.name.size() + m.label.size() + m.peer.size();
}
std::size_t beside(snapshot::relay const& r) { return r.label.size() + r.peer.size(); }
std::size_t beside(snapshot::lease const& l) { return l.queue.size() + l.holder.size(); }
std::size_t beside(events_answer::entry const& e) {
  return e.what.text.size() + e.what.barrier.size() + e.tasks.size();
}
std::size_t beside(why_answer::wait const& w);

template <class Item>
std::size_t bytes_of_all(std::vector<Item> const& items) {
  std::size_t sum = items.capacity() * sizeof(Item);
  for (auto const& one : items) sum += beside(one);
  return sum;
}

std::size_t beside(why_answer::wait const& w) {
  std::size_t const texts = w.name.size() + w.waiting.size();
  return w.missing ? texts + bytes_of(*w.missing) : texts;
}

// Beside the values in it.
std::size_t bytes_of(answer const& what) {
  return sizeof(what) + what.outcome.message().size() +
         std::visit(
             []<class Value>(Value const& value) -> std::size_t {
               if constexpr (requires { core::bytes_of(value); }) return core::bytes_of(value);
               return 0;
             },
             what.value);
}

template <class Visit>
struct each_value {
  Visit visit;

  void operator()(value_answer const& a) const { visit(a.value); }
  void operator()(barrier_answer const& a) const {
    for (bytes const& one : a.data) visit(one);
  }
  void operator()(listing_answer const& a) const {
    for (auto const& one : a.entries) visit(one.value);
  }
  void operator()(key_changes_answer const& a) const {
    for (auto const& one : a.changes) {
      if (one.value) visit(*one.value);
    }
  }
  template <class Other>
  void operator()(Other const&) const {}
};
template <class Visit>
each_value(Visit) -> each_value<Visit>;

}  // namespace

std::size_t bytes_of(listing_answer const& what) { return bytes_of_all(what.entries); }
std::size_t bytes_of(key_changes_answer const& what) { return bytes_of_all(what.changes); }
std::size_t bytes_of(snapshot const& what) {
  std::size_t texts = what.job.size() + what.version.size();
  if (what.error) texts += beside(what.error->cause) + bytes_of_all(what.error->later);
  if (what.leader) texts += what.leader->address.size();
  if (what.elastic) texts += what.elastic->ending.size();
  return sizeof(what) + texts + bytes_of_all(what.tasks) + bytes_of_all(what.barriers) +
         bytes_of_all(what.rounds) + bytes_of_all(what.stragglers) + bytes_of_all(what.spares) +
         bytes_of_all(what.relays) + bytes_of_all(what.leases);
}
std::size_t bytes_of(epoch_members_answer const& what) { return bytes_of_all(what.members); }
std::size_t bytes_of(tasks_answer const& what) { return bytes_of_all(what.tasks); }
std::size_t bytes_of(events_answer const& what) { return bytes_of_all(what.entries); }
std::size_t bytes_of(why_answer const& what) {
  return bytes_of_all(what.waits) + what.stuck.size();
}

// The core keeps these, so the number must not depend on how the list was built.
std::size_t bytes_of(barrier_failure const& what) {
  return what.missing.size() + 2 * sizeof(missing_task) * what.known.size();
}

void hold_first(holder who, answer const& what, memory_meter& memory) {
  what.held.add(who, bytes_of(what), &memory);
  std::visit(each_value{[&](bytes const& one) { one.hold(who); }}, what.value);
}

void let_go_last(holder who, answer const& what, memory_meter& memory) {
  what.held.remove(who, bytes_of(what), &memory);
  std::visit(each_value{[&](bytes const& one) { one.let_go(who); }}, what.value);
}

}  // namespace coxswain::core
