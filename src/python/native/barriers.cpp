// Collective calls of tasks: barriers of every kind, joining and leaving.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <optional>
#include <string>

namespace coxswain::python {
namespace {

barrier_options at_barrier(timeout time, task_ids const& participants, bool fail_when_lost) {
  barrier_options options{time.value};
  options.participants = participants;
  options.fail_when_lost = fail_when_lost;
  return options;
}

}  // namespace

template <>
struct argument_of<reduction> {
  static reduction from(place at, py::handle passed) {
    auto const how = text_of(at, passed);
    if (how == "sum") return reduction::sum;
    if (how == "min") return reduction::min;
    if (how == "max") return reduction::max;
    throw py::value_error("a reduction is 'sum', 'min' or 'max', not '" + how + "'");
  }
};
template <>
struct argument_of<bitwise> {
  static bitwise from(place at, py::handle passed) {
    auto const how = text_of(at, passed);
    if (how == "and") return bitwise::all;
    if (how == "or") return bitwise::any;
    throw py::value_error("bits are reduced by 'and' or 'or', not by '" + how + "'");
  }
};

void bind_barriers(session_class& of) {
  offer(of, "join", [](client& c, timeout time, bool take_over) {
    join_options options{time.value};
    options.take_over = take_over;
    return c.join(options);
  });
  offer(of, "leave", [](client& c, timeout time, bool returning) {
    leave_options options{time.value};
    options.returning = returning;
    return c.leave(options);
  });
  offer(of, "barrier",
        [](client& c, std::string const& name, timeout time, task_ids const& participants,
           bool strict) { return c.barrier(name, at_barrier(time, participants, strict)); });
  offer(of, "all_gather",
        [](client& c, std::string const& name, content const& data, timeout time,
           task_ids const& participants, bool strict) {
          return c.all_gather(name, data.bytes, at_barrier(time, participants, strict));
        });
  offer(of, "all_equal",
        [](client& c, std::string const& name, content const& data, timeout time,
           task_ids const& participants, bool strict) {
          return c.all_equal(name, data.bytes, at_barrier(time, participants, strict));
        });
  offer(of, "reduce_int",
        [](client& c, std::string const& name, std::int64_t operand, reduction how, timeout time,
           task_ids const& participants, bool strict) {
          return c.reduce(name, operand, how, at_barrier(time, participants, strict));
        });
  offer(of, "reduce_float",
        [](client& c, std::string const& name, double operand, reduction how, timeout time,
           task_ids const& participants, bool strict) {
          return c.reduce(name, operand, how, at_barrier(time, participants, strict));
        });
  offer(of, "reduce_bits",
        [](client& c, std::string const& name, content const& operand, bitwise how, timeout time,
           task_ids const& participants, bool strict) {
          return c.reduce_bits(name, operand.bytes, how, at_barrier(time, participants, strict));
        });
  offer(of, "cancel_barrier",
        [](client& c, std::string const& name, std::optional<round_number> round) {
          return c.cancel_barrier(name, round);
        });
  offer(of, "count_barrier",
        [](client& c, std::string const& name, std::uint32_t count, timeout time) {
          return c.count_barrier(name, count, time.value);
        });
}

}  // namespace coxswain::python
