#include "coxswain/core/roster.hpp"

#include <utility>

namespace coxswain::core {

void roster::set_state(task_id id, task_state state) {
  set_parted(id, false);
  task& t = at(id);
  --counts_[static_cast<std::size_t>(t.state)];
  ++counts_[static_cast<std::size_t>(state)];
  t.state = state;
  changed();
}

void roster::set_parted(task_id id, bool parted) {
  if (bool const before = std::exchange(at(id).parted, parted); before == parted) return;
  parted ? ++parted_ : --parted_;
}

}  // namespace coxswain::core
