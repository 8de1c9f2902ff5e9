#pragma once
// The connections of a server: the table of them, who is written to, who is cut off when, and who
// is cleared away. Not here: what happens on one (connection), who is accepted (server).

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

  // Takes over a connection that dispatch has opened, and destroys what has ended. Not from a
  // connection's own routine. Throws coxswain::error as net::readiness does.
  connection& add(connection_id id, std::unique_ptr<net::byte_stream> stream);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  // Destroys one that has not said Hello, after `goodbye`. False if the first that its peer has
  // sent is not read yet, or if it has said Hello. Not from a connection's own routine.
  bool dismiss(connection_id id, std::string_view goodbye);

  // Visits those whose visit is due. Before the core is told the time.
  void visit_due();

  // Delivers everything that the core wants to be sent, and writes each connection once.
  void deliver();

  // Destroys what has ended and plans visits. At the end of a loop iteration, never from a
  // connection's own routine.
  void clear_away();

  // Ends all of them at once.
  void end_all();

  // Destroys all of them; dispatch is not told.
  void forget_all() noexcept;

  // The earliest moment at which visit_due has something to do.
  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  struct entry {
    std::unique_ptr<connection> one;
    time_point visit_at{time_point::max()};  // in `visits_`; other visits to it there are void
  };
  using visit = std::pair<time_point, connection_id>;

  void plan(connection_id id, entry& e);
  void erase_ended();

  loop_iteration& iteration_;
  core::slot_table<connection_id, entry> all_;
  std::priority_queue<visit, std::vector<visit>, std::greater<>> visits_;
  std::vector<connection_id> dirty_;
  std::vector<connection*> to_write_;
};

}  // namespace coxswain::server
