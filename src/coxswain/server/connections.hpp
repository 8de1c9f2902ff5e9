#pragma once
// The table of a server's connections: writes, time limits, and destruction. Not here: what happens
// on one (connection), accepting (server).

#include "coxswain/core/kernel/slot_map.hpp"
#include "coxswain/server/connection.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

class connections {
 public:
  explicit connections(loop_iteration& t) : iteration_{t} {}

  // Takes over a connection that dispatch has opened, and destroys ended ones. Not from a
  // connection's own coroutine. Throws coxswain::error as net::readiness does.
  connection& add(connection_id id, std::unique_ptr<net::byte_stream> stream);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  // Destroys a connection without a Hello, after `goodbye`. False if unread input of its peer is
  // pending, or it has sent its Hello. Not from a connection's own coroutine.
  bool dismiss(connection_id id, std::string_view goodbye);

  // Visits those whose visit is due. Before the core gets the time.
  void visit_due();

  // Delivers all output of the core, and writes to each connection once.
  void deliver();

  // Writes output that was held back and may leave now.
  void release();

  // Destroys ended ones and schedules visits. At the end of a loop iteration, never from a
  // connection's own coroutine.
  void clear_away();

  // Ends all of them at once, with `goodbye` as far as they take it now.
  void leave_all(std::string_view goodbye);

  // Ends all of them at once.
  void end_all();

  // Destroys all of them, without informing dispatch.
  void forget_all() noexcept;

  // The earliest moment at which visit_due has something to do.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  struct entry {
    std::unique_ptr<connection> owned;
    time_point visit_at{time_point::max()};  // in `visits_`; other visits to it there are obsolete
  };
  using visit = std::pair<time_point, connection_id>;

  void flush_dirty();
  void plan(connection_id id, entry& e);
  void erase_ended();

  loop_iteration& iteration_;
  core::slot_table<connection_id, entry> all_;
  std::priority_queue<visit, std::vector<visit>, std::greater<>> visits_;
  std::vector<connection_id> dirty_;
  std::vector<connection*> to_write_;
};

}  // namespace coxswain::server
