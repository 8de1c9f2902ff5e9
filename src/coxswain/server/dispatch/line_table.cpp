#include "coxswain/server/dispatch/line_table.hpp"

namespace coxswain::server {

void line_table::toggle_paused(time_point now, connection_id id, line& on) {
  on.held = !on.held;
  if (on.held) return core_.reading_paused(now, id);
  core_.reading_resumed(now, id);
}

void line_table::pause(time_point now, connection_id id, line& on, bool pauses) {
  on.paused = pauses;
  on.out.pause(pauses);
  changed(now, id, on);
}

}  // namespace coxswain::server
