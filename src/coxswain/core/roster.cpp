#include "coxswain/core/roster.hpp"

namespace coxswain::core {

void roster::set_state(task_id id, task_state state) {
  task& t = at(id);
  --counts_[static_cast<std::size_t>(t.state)];
  ++counts_[static_cast<std::size_t>(state)];
  t.state = state;
  changed();
}

}  // namespace coxswain::core
