#pragma once
// Topology exchanges by platform: the contributions to open ones, and the outcomes of complete
// ones, which are kept for later calls. Not here: topologies (topology), replies and deadlines
// (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstddef>
#include <map>
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

    static void fields(auto& a, auto& s);

   private:
    friend class topology_exchanges;
    std::size_t topology_bytes{};
    std::size_t meeting_bytes{};
  };

  explicit topology_exchanges(meter_ptr memory) : memory_{std::move(memory)} {}
  ~topology_exchanges() { clear(); }
  topology_exchanges(topology_exchanges const&) = delete;
  topology_exchanges& operator=(topology_exchanges const&) = delete;

  [[nodiscard]] std::map<std::string, exchange, std::less<>> const& all() const noexcept {
    return all_;
  }
  // Null if there is none.
  [[nodiscard]] exchange const* find(std::string_view platform) const;

  // The task's contribution, waiting or part of the outcome. Null if there is none.
  [[nodiscard]] local_topology const* brought_by(std::string_view platform, task_id task) const;

  // The size of all contributions.
  [[nodiscard]] std::size_t bytes_brought(std::string_view platform) const;

  // Adds the task to the exchange, which is opened if needed and must not be complete. If it waits
  // there already, the ticket that is replaced is returned, and its first contribution stays.
  std::optional<ticket> arrive(std::string_view platform, task_set_ptr const& everyone,
                               time_point now, task_id task, meeting::arrival a,
                               local_topology mine);

  // Removes the task, if it waits. An exchange without waiting tasks is forgotten.
  void cancel(std::string_view platform, task_id task);

  // Takes the contributions, by task, of a complete meeting.
  [[nodiscard]] std::vector<local_topology> take_brought(std::string_view platform);

  // Closes the meeting and keeps the outcome. Returns the waiting calls, oldest first.
  std::vector<ticket> settle(std::string_view platform, answer_ptr outcome);

  // Forgets an exchange, or all. Returns the waiting calls, oldest first.
  std::vector<ticket> forget(std::string_view platform);
  void clear();

  static void fields(auto& a, auto& s);

 private:
  void close(exchange& x);

  meter_ptr memory_;
  std::map<std::string, exchange, std::less<>> all_;
};

}  // namespace coxswain::core
