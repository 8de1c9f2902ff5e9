#pragma once
// Items that were taken from a queue and are not finished yet, each held by a session for a time
// (§8.1). Not here: what happens when that is over (queue_verbs).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/liveness.hpp"
#include "coxswain/core/keyspace/queues.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace coxswain::core {

class leases {
 public:
  struct lease {
    std::string queue;
    owned_bytes value;
    std::uint32_t redeliveries{};
    session_id owner{};
    duration time{};  // without_limit: until its session ends
    liveness since;   // it was taken or extended
    alarm expiry;     // armed unless it has no limit

    static void fields(auto& a, auto& s) {
      a.members(s.queue, s.value, s.redeliveries, s.owner, s.time, s.since, s.expiry);
    }
  };
  using number = std::uint64_t;  // of the item
  using by_number = std::map<number, lease>;

  explicit leases(meter_ptr memory) : memory_{std::move(memory)} {}
  ~leases();
  leases(leases const&) = delete;
  leases& operator=(leases const&) = delete;

  // The memory of a lease without its value.
  [[nodiscard]] static std::size_t cost(std::string const& queue) { return 2 * queue.size() + 384; }

  lease& add(number item, lease what);
  // The item may be put back. There must be a lease of it.
  queues::item end(number item);

  // Null: the item is not under a lease.
  [[nodiscard]] lease* find(number item);
  [[nodiscard]] by_number const& all() const noexcept { return all_; }
  // The first item that a session holds.
  [[nodiscard]] std::optional<number> first_of(session_id owner) const;
  // Of a queue, the first item that is held, and how many are.
  [[nodiscard]] std::pair<number, std::size_t> held_of(std::string const& queue) const;
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  // Whether all indexes agree.
  [[nodiscard]] bool is_consistent() const;

  static void fields(auto& a, auto& s);

 private:
  void index(number item, lease const& what);

  meter_ptr memory_;
  by_number all_;
  std::set<std::pair<session_id, number>> by_owner_;
  std::map<std::string, std::set<number>> by_queue_;
};

}  // namespace coxswain::core
