#pragma once
// Results of the client's calls as Python types: numbers, bytes, and tuples that the Python modules
// convert into their dataclasses (coxswain/_types.py has the order). With the GIL.

#include "coxswain/base/error.hpp"
#include "coxswain/client/holdings.hpp"
#include "coxswain/client/keys.hpp"
#include "coxswain/client/process_table.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/topology.hpp"
#include "python/native/python.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::python {

// Text from other clients need not be UTF-8; invalid bytes are replaced.
py::str text(std::string_view given);

inline py::object given(bool value) { return py::bool_(value); }
inline py::object given(std::int64_t value) { return py::int_(value); }
inline py::object given(std::uint64_t value) { return py::int_(value); }
inline py::object given(double value) { return py::float_(value); }
inline py::object given(round_number value) { return py::int_(value.value); }
inline py::object given(std::string const& value) { return py::bytes(value); }
py::object given(core::epoch_ends const& what);
py::object given(job_error const& what);
py::object given(core::task_progress const& progress);
py::object given(core::snapshot::leadership const& leadership);
py::object given(core::snapshot::elastic_state const& state);
py::object given(core::job_state const& state);
template <class Value>
py::object given(std::optional<Value> const& value) {
  return value ? given(*value) : py::none();
}
py::object given(std::vector<std::string> const& values);
py::object given(key_value const& value);
py::object given(std::vector<key_value> const& values);
py::object given(key_change const& change);
py::object given(std::vector<key_change> const& changes);
py::object given(swap_result const& result);
py::object given(queue_item const& item);
// The Python object takes over what the handle holds.
py::object given(taken_item& item);
py::object given(held_lock& lock);
py::object given(missing_task const& task);
py::object given(barrier_failure const& figures);
py::object given(failure const& what);
py::object given(core::snapshot::finished_round const& finished);
py::object given(core::snapshot::straggler const& straggler);
py::object given(core::snapshot::spare const& spare);
py::object given(core::snapshot::relay const& relay);
py::object given(core::snapshot::lease const& lease);
py::object given(core::snapshot::task const& task);
py::object given(core::tasks_answer const& tasks);
py::object given(core::events_answer::entry const& entry);
py::object given(core::events_answer const& events);
py::object given(core::snapshot::barrier const& barrier);
py::object given(core::snapshot const& job);
py::object given(core::why_answer::wait const& wait);
py::object given(core::why_answer const& why);
py::object given(core::epoch_answer const& epoch);
py::object given(core::epoch_members_answer::member const& member);
py::object given(core::epoch_members_answer const& all);
py::object given(process const& process);
py::object given(core::global_topology const& whole);

// All tasks, and the processes lost since the last time.
struct process_update {
  core::tasks_answer tasks;
  std::vector<process> lost;
};
py::object given(process_update const& result);
py::object given(std::vector<process> const& processes);

}  // namespace coxswain::python
