// Which requests a session may make now, and what memory is left for them.

#include "coxswain/core/access.hpp"
#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <array>
#include <type_traits>
#include <variant>

namespace coxswain::core {
namespace {

template <class Wanted, class... Some>
constexpr bool is_one_of = (std::is_same_v<Wanted, Some> || ...);

// With these tasks go on together: they may use what others must leave free.
template <class Args>
constexpr bool keeps_tasks_together =
    is_one_of<Args, barrier_args, count_barrier_args, alive_args, exchange_topology_args>;

// These wait, or store something, and are refused when memory runs out. Not a pop, which may free
// some: it is looked at when it has to wait.
template <class Args>
constexpr bool needs_memory =
    keeps_tasks_together<Args> || is_one_of<Args, get_args, get_all_args, increment_args,
                                            watch_keys_args, watch_tasks_args, watch_events_args>;

// Their replies are kept until the client has them. So are those of others, which end or take
// something and must always be possible.
template <class Args>
constexpr bool stores_something =
    is_one_of<Args, put_args, put_all_args, compare_and_set_args, append_args, push_args>;

struct demand {
  bool is_urgent{};
  bool needs_memory{};
  bool stores_something{};
};

template <class... Args>
constexpr std::array<demand, sizeof...(Args)> demands_of(std::variant<Args...> const*) {
  return {{{keeps_tasks_together<Args>, needs_memory<Args>, stores_something<Args>}...}};
}

constexpr auto demands = demands_of(static_cast<request const*>(nullptr));

// Of the core's memory, one part in so many is left to those that keep tasks together.
constexpr std::size_t part_for_tasks = 32;

}  // namespace

status coordinator::state::admissible(session const& s, client_message const& message) const {
  if (status why = permission(s.given, message.what); !why.ok()) return why;
  std::size_t const limit =
      options.open_requests_max_of(s.given) +
      options.open_requests_max_per_task * (s.tasks.size() + (s.guest_of ? 1 : 0));
  if (s.open.size() + s.kept.size() >= limit) {
    return {errc::resource_exhausted,
            "this session has " + std::to_string(limit) +
                " requests open or not acknowledged, which is its limit (" +
                (s.given == role::reader ? "open_requests_max_per_reader"
                                         : "open_requests_max, and open_requests_max_per_task for "
                                           "each of its tasks") +
                "); wait for answers first"};
  }
  demand const of = demands[message.what.index()];
  if (!of.needs_memory && !of.stores_something) return {};
  bool const is_urgent = of.is_urgent && s.memory.kind == share_kind::task;
  if (!is_urgent) {
    if (status why = sessions_.room_for(s, 0, of.needs_memory); !why.ok()) return why;
  }
  std::size_t const left_free = is_urgent ? 0 : memory->owned_max() / part_for_tasks;
  bool const fits = !of.needs_memory || memory->fits(memory_per_request + left_free);
  return fits ? status{} : out_of_memory();
}

status coordinator::state::room_to_wait(session const& s, std::size_t bytes) const {
  if (status why = sessions_.room_for(s, bytes, true); !why.ok()) return why;
  return memory->fits(bytes + memory->owned_max() / part_for_tasks) ? status{} : out_of_memory();
}

status coordinator::state::out_of_memory() const {
  return {errc::resource_exhausted, "the coordinator's memory is used up: " + usage_text(*memory)};
}

}  // namespace coxswain::core
