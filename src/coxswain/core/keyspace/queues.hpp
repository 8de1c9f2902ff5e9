#pragma once
// Queues by name: items in push order, and the calls that wait for one. A queue has either items or
// waiting calls; without both it is forgotten. Not here: replies, and items whose consumer dies
// (coordinator), items under a lease (leases).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class queues {
 public:
  struct item {
    std::uint64_t number{};  // rises with every push to any queue
    bytes value;
    std::uint32_t redeliveries{};  // how often it was put back
  };

  // Identifies a waiter of a queue.
  using waiter_number = std::uint64_t;

  struct waiter {
    ticket who;
    std::optional<duration> lease{};  // none: it pops
  };

  explicit queues(meter_ptr memory) : memory_{std::move(memory)} {}
  ~queues();
  queues(queues const&) = delete;
  queues& operator=(queues const&) = delete;

  // The memory of an item without its value.
  [[nodiscard]] static std::size_t overhead(std::string const& queue) { return queue.size() + 192; }

  void push(std::string const& queue, std::string value);
  // Puts the item back in its place: before everything that was pushed after it. It counts as
  // redelivered then.
  void put_back(std::string const& queue, item what);
  // The first item, if there is one.
  std::optional<item> pop(std::string const& queue);

  // There must be no items.
  waiter_number wait(std::string const& queue, waiter who);
  [[nodiscard]] static bool takes(waiter_number which) { return which % 2 != 0; }
  void cancel(std::string const& queue, waiter_number number);
  // The oldest waiting call if there is also an item; it waits until it is removed.
  [[nodiscard]] std::optional<waiter> to_be_served(std::string const& queue) const;

  // Removes and returns all waiting calls, in the order of the queues.
  std::vector<ticket> take_all_waiters();

  // The number of items in the queue.
  [[nodiscard]] std::size_t length(std::string const& queue) const;
  // Of all queues.
  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

  [[nodiscard]] bool has_waiters(std::string const& queue) const;

  // Whether no call waits at a queue that has items.
  [[nodiscard]] bool settled() const;

  static void fields(auto& a, auto& s);

 private:
  struct queue {
    std::map<std::uint64_t, owned_bytes> items;
    std::map<waiter_number, ticket> waiters;              // oldest first
    std::map<std::uint64_t, std::uint32_t> redeliveries;  // of the items that were put back
    std::map<waiter_number, duration> leases;             // of the waiters that take

    static void fields(auto& a, auto& s) {
      a.members(s.items, s.waiters, s.redeliveries, s.leases);
    }
  };
  using by_name = std::map<std::string, queue>;

  void add(std::string const& name, item what);
  void forget_if_idle(by_name::iterator at);

  meter_ptr memory_;
  by_name queues_;
  std::uint64_t number_{};
  waiter_number waiter_{};
  std::size_t items_{};
  std::size_t waiting_{};
};

}  // namespace coxswain::core
