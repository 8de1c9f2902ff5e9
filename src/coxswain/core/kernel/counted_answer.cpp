#include "coxswain/core/kernel/counted_answer.hpp"

#include "coxswain/core/model/content_bytes.hpp"

#include <variant>

namespace coxswain::core {
namespace {

template <class Visit>
struct each_value {
  Visit visit;

  void operator()(value_answer const& a) const { visit(a.value); }
  void operator()(barrier_answer const& a) const {
    for (bytes const& value : a.data) visit(value);
  }
  void operator()(listing_answer const& a) const {
    for (auto const& entry : a.entries) visit(entry.value);
  }
  void operator()(key_changes_answer const& a) const {
    for (auto const& change : a.changes) {
      if (change.value) visit(*change.value);
    }
  }
  template <class Other>
  void operator()(Other const&) const {}
};
template <class Visit>
each_value(Visit) -> each_value<Visit>;

}  // namespace

std::size_t bytes_of(answer const& what) {
  bool const is_counted = std::holds_alternative<global_topology>(what.value);  // by its exchange
  return sizeof(what) + what.outcome.message().size() +
         (is_counted ? 0 : memory_of_content(what.value));
}

void hold_first(holder who, answer const& what, memory_meter& memory) {
  what.held.add(who, bytes_of(what), &memory);
  std::visit(each_value{[&](bytes const& value) { value.hold(who); }}, what.value);
}

void let_go_last(holder who, answer const& what, memory_meter& memory) {
  what.held.remove(who, bytes_of(what), &memory);
  std::visit(each_value{[&](bytes const& value) { value.let_go(who); }}, what.value);
}

}  // namespace coxswain::core
