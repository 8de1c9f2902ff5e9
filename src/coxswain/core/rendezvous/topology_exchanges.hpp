#pragma once
// Exchanges of topologies by platform: what has been brought to those that are open, and what those
// that are complete have led to, which is kept while somebody may ask again. Not here: what a
// topology is (topology), replies and deadlines (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class topology_exchanges {
 public:
  struct exchange {
    meeting waiting;                            // closed once it is complete
    std::map<task_id, local_topology> brought;  // by those who wait
    answer_ptr outcome;                         // null while it is open

   private:
    friend class topology_exchanges;
    std::size_t topology_bytes{};
    std::size_t meeting_bytes{};
  };

  explicit topology_exchanges(std::shared_ptr<memory_meter> memory) : memory_{std::move(memory)} {}
  ~topology_exchanges() { clear(); }
  topology_exchanges(topology_exchanges const&) = delete;
  topology_exchanges& operator=(topology_exchanges const&) = delete;

  [[nodiscard]] std::map<std::string, exchange, std::less<>> const& all() const noexcept {
    return all_;
  }
  // Null if there is none.
  [[nodiscard]] exchange const* find(std::string_view platform) const;

  // What the task has brought: it waits with it, or it is part of the outcome. Null if nothing.
  [[nodiscard]] local_topology const* brought_by(std::string_view platform, task_id task) const;

  // How much all have brought.
  [[nodiscard]] std::size_t bytes_brought(std::string_view platform) const;

  // The task waits in the exchange, which is opened if need be and must not be complete. If it
  // waits there already, the ticket that is replaced is returned, and what it brought first stays.
  std::optional<ticket> arrive(std::string_view platform, task_set_ptr const& everyone,
                               time_point now, task_id task, meeting::arrival a,
                               local_topology mine);

  // The task waits no longer, if it did. An exchange in which nobody waits is forgotten.
  void cancel(std::string_view platform, task_id task);

  // What all have brought, by task, from a meeting that is complete.
  [[nodiscard]] std::vector<local_topology> take_brought(std::string_view platform);

  // Closes the meeting and keeps the outcome. Those who waited are returned, as they came.
  std::vector<ticket> settle(std::string_view platform, answer_ptr outcome);

  // Forgets an exchange, or all. Those who waited are returned, as they came.
  std::vector<ticket> forget(std::string_view platform);
  void clear();

 private:
  void close(exchange& x);

  std::shared_ptr<memory_meter> memory_;
  std::map<std::string, exchange, std::less<>> all_;
};

}  // namespace coxswain::core
