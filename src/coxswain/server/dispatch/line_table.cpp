#include "coxswain/server/dispatch/line_table.hpp"

#include "coxswain/server/dispatch/trunk_line.hpp"

namespace coxswain::server {

void line_table::toggle_paused(time_point now, connection_id id, line& on) {
  on.reading_paused = !on.reading_paused;
  if (on.reading_paused) return core_.reading_paused(now, id);
  if (!on.tcp_store) core_.reading_resumed(now, id);  // whose silence never counts
  if (on.route) go_on_later(id, on);
}

void line_table::go_on_later(connection_id id, line& on) {
  if (!std::exchange(on.route->goes_on, true)) going_on_.push_back(id);
}

std::vector<connection_id> line_table::take_going_on() {
  for (auto const id : going_on_) {
    if (auto* const on = find(id); on != nullptr) on->route->goes_on = false;
  }
  return std::exchange(going_on_, {});
}

void line_table::trunk_changed(time_point now, connection_id id, line& on) {
  line& carrier = *find(on.route->trunk);
  carrier.trunk->to_send.push_back(id);
  changed(now, on.route->trunk, carrier);
}

void line_table::pause(time_point now, connection_id id, line& on, bool pauses) {
  on.waits_for_memory = pauses;
  on.out.pause(pauses);
  changed(now, id, on);
}

}  // namespace coxswain::server
