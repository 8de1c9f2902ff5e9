#include "coxswain/core/statistics.hpp"

#include <algorithm>

namespace coxswain::core {
namespace {

constexpr std::array<std::string_view, operations> names{"heartbeat",
                                                         "hello",
                                                         "resume",
                                                         "bye",
                                                         "withdraw",
                                                         "ask_waiting",
                                                         "join",
                                                         "leave",
                                                         "report_error",
                                                         "barrier",
                                                         "cancel_barrier",
                                                         "count_barrier",
                                                         "put",
                                                         "get",
                                                         "try_get",
                                                         "list",
                                                         "remove",
                                                         "increment",
                                                         "inspect",
                                                         "preempt",
                                                         "frozen",
                                                         "reset",
                                                         "compare_and_set",
                                                         "append",
                                                         "get_all",
                                                         "put_all",
                                                         "count_keys",
                                                         "push",
                                                         "pop",
                                                         "watch_keys",
                                                         "alive",
                                                         "watch_tasks",
                                                         "watch_events",
                                                         "exchange_topology",
                                                         "report_progress",
                                                         "why",
                                                         "grant",
                                                         "unknown"};

static_assert(std::none_of(names.begin(), names.end(), [](auto one) { return one.empty(); }),
              "each request has a name");

}  // namespace

std::string_view name(operation what) noexcept { return names[what.value]; }

}  // namespace coxswain::core
