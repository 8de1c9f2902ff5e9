#pragma once
// The barriers of XLA's service, for `--xla-strict` only, where they differ from the core's: it
// counts the instances of each id, keeps the outcome of the last one, and fails a whole instance
// with the call that it refuses. The arrivals at an open instance are the core's, at a barrier of
// its own (`name_in_core`). It remembers at least `ids_max` ids.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::xla {

class strict_barriers {
 public:
  static constexpr std::size_t ids_max = 50'000;

  explicit strict_barriers(std::uint32_t num_tasks) : num_tasks_{num_tasks} {}

  // The last instance of an id. The first one determines the participants of all.
  struct instance {
    std::string id;  // empty: the id is known by refused calls only
    std::int64_t counter{};
    bool is_open{};
    status outcome{};                                  // of one that is over
    std::optional<std::vector<task_id>> participants;  // sorted; empty: all tasks
  };

  struct call {
    std::string id;
    std::int64_t counter{};
    std::vector<task_id> participants;  // empty: all tasks
    task_id by;
    bool is_recoverable{};  // the caller, whose first call may be after a restart
  };

  enum class verdict : std::uint8_t {
    arrives,  // at the open instance, which may be a new one
    fails,    // the instance was open: it ends for all with `instance::outcome`
    is_over,  // only this call ends with that
  };

  [[nodiscard]] verdict arrive(call const& what);

  // OK: the instance is over, `was_open`: for all who wait.
  [[nodiscard]] status cancel(std::string const& id, std::int64_t counter, task_id by,
                              bool& was_open);

  // The core has ended an instance. Does nothing if it is over.
  void end(std::string const& id, std::int64_t counter, status outcome);

  // Null: no such id is known.
  [[nodiscard]] instance* find(std::string const& id);

  static std::string name_in_core(std::string const& id, std::int64_t counter);

 private:
  using ids = std::unordered_map<std::string, instance>;

  instance& add(std::string const& id);
  [[nodiscard]] bool is_next(instance const& last, call const& what) const;
  [[nodiscard]] status refusal(instance const& at, call const& what, bool is_first) const;
  [[nodiscard]] std::vector<task_id> sorted(std::vector<task_id> given) const;

  std::uint32_t num_tasks_;
  ids recent_;  // at most ids_max, and the open ones
  ids older_;   // used less recently than all of those
};

}  // namespace coxswain::xla
