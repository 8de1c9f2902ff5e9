#pragma once
// The connections of dispatch: finds them, lists those that changed, and informs the core when
// their reading or writing is paused or resumed. Not here: why that happens (outbox, backpressure).

#include "coxswain/core/kernel/slot_map.hpp"
#include "coxswain/server/dispatch/line.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace coxswain::server {

class line_table {
 public:
  // `core` must outlive it.
  explicit line_table(recorded_core& core) : core_{core} {}

  // Throws std::bad_alloc.
  void add(connection_id id, std::unique_ptr<line> line) { all_.emplace(id, std::move(line)); }
  // Does nothing if there is none.
  void erase(connection_id id) { all_.erase(id); }

  // Null if there is none. The same object until it is erased.
  [[nodiscard]] line* find(connection_id id) const {
    auto const* const found = all_.find(id);
    return found ? found->get() : nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  // Visits all, with their ids.
  template <class Visit>
  void each(Visit visit) const {
    all_.each([&](connection_id id, std::unique_ptr<line> const& line) { visit(id, *line); });
  }

  // The connection has more to write, or reading from it was paused or resumed.
  void changed(time_point now, connection_id id, line& on) {
    if (!on.dirty) {
      on.dirty = true;
      if (on.route) {
        trunk_changed(now, id, on);
      } else {
        changed_.push_back(id);
      }
    }
    notify_paused(now, id, on);
  }

  // Informs the core if its outbox pauses or resumes reading.
  void notify_paused(time_point now, connection_id id, line& on) {
    if (on.reading_paused != on.out.pauses_reading()) toggle_paused(now, id, on);
  }

  // Pauses reading, whatever its outbox has; or no more.
  void pause(time_point now, connection_id id, line& on, bool pauses);

  // Its peer does not read, or has read something. Only changes are inputs of the core.
  void write_blocked(time_point now, connection_id to, line& on) {
    if (!std::exchange(on.blocked, true)) core_.write_blocked(now, to);
  }
  void write_progressed(time_point now, connection_id to, line& on) {
    if (std::exchange(on.blocked, false)) core_.write_progressed(now, to);
  }

  // The route has input that dispatch takes as soon as it may.
  void go_on_later(connection_id id, line& on);
  // Those routes, each once; some may be gone. They may be added again.
  [[nodiscard]] bool has_to_go_on() const noexcept { return !going_on_.empty(); }
  [[nodiscard]] std::vector<connection_id> take_going_on();

  [[nodiscard]] bool has_changed() const noexcept { return !changed_.empty(); }
  [[nodiscard]] std::size_t changed_count() const noexcept { return changed_.size(); }
  // The connections with sockets that changed since the last call, each once. `into` is cleared
  // first, and each one is visited.
  template <class Visit>
  void take_changed(std::vector<connection_id>& into, Visit visit) {
    into.clear();
    into.swap(changed_);
    std::erase_if(into, [&](connection_id id) {
      auto* const on = find(id);
      if (on == nullptr || !std::exchange(on->dirty, false)) return true;
      visit(id, *on);
      return false;
    });
  }

 private:
  void trunk_changed(time_point now, connection_id id, line& on);
  void toggle_paused(time_point now, connection_id id, line& on);

  recorded_core& core_;
  core::slot_table<connection_id, std::unique_ptr<line>> all_;
  std::vector<connection_id> changed_;
  std::vector<connection_id> going_on_;
};

}  // namespace coxswain::server
