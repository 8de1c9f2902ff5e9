// Collective calls of tasks: barriers of every kind, joining and leaving.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <optional>
#include <string>

namespace coxswain::python {
namespace {

barrier_options at_barrier(timeout time, py::object const& participants, bool fail_when_lost) {
  barrier_options options{time.value};
  options.participants = tasks_of(participants);
  options.fail_when_lost = fail_when_lost;
  return options;
}

reduction reduction_of(std::string const& how) {
  if (how == "sum") return reduction::sum;
  if (how == "min") return reduction::min;
  if (how == "max") return reduction::max;
  throw py::value_error("a reduction is 'sum', 'min' or 'max', not '" + how + "'");
}

bitwise bitwise_of(std::string const& how) {
  if (how == "and") return bitwise::all;
  if (how == "or") return bitwise::any;
  throw py::value_error("bits are reduced by 'and' or 'or', not by '" + how + "'");
}

template <class Number>
auto reduce(std::string name, Number operand, std::string const& how, timeout time,
            py::object const& participants, bool fail_when_lost) {
  return [=, name = std::move(name), how = reduction_of(how),
          options = at_barrier(time, participants, fail_when_lost)](client& c) {
    return c.reduce(name, operand, how, options);
  };
}

}  // namespace

void bind_barriers(session_class& of) {
  offer(of, "join", [](timeout time, bool take_over) {
    join_options options{time.value};
    options.take_over = take_over;
    return [=](client& c) { return c.join(options); };
  });
  offer(of, "leave", [](timeout time, bool returning) {
    leave_options options{time.value};
    options.returning = returning;
    return [=](client& c) { return c.leave(options); };
  });
  offer(of, "barrier",
        [](std::string name, timeout time, py::object const& participants, bool strict) {
          return [name = std::move(name), options = at_barrier(time, participants, strict)](
                     client& c) { return c.barrier(name, options); };
        });
  offer(of, "all_gather",
        [](std::string name, content data, timeout time, py::object const& participants,
           bool strict) {
          return [name = std::move(name), data = std::move(data.bytes),
                  options = at_barrier(time, participants, strict)](client& c) {
            return c.all_gather(name, data, options);
          };
        });
  offer(of, "all_equal",
        [](std::string name, content data, timeout time, py::object const& participants,
           bool strict) {
          return [name = std::move(name), data = std::move(data.bytes),
                  options = at_barrier(time, participants, strict)](client& c) {
            return c.all_equal(name, data, options);
          };
        });
  offer(of, "reduce_int",
        [](std::string name, std::int64_t operand, std::string const& how, timeout time,
           py::object const& participants, bool strict) {
          return reduce(std::move(name), operand, how, time, participants, strict);
        });
  offer(of, "reduce_float",
        [](std::string name, double operand, std::string const& how, timeout time,
           py::object const& participants, bool strict) {
          return reduce(std::move(name), operand, how, time, participants, strict);
        });
  offer(of, "reduce_bits",
        [](std::string name, content operand, std::string const& how, timeout time,
           py::object const& participants, bool strict) {
          return [name = std::move(name), operand = std::move(operand.bytes), how = bitwise_of(how),
                  options = at_barrier(time, participants, strict)](client& c) {
            return c.reduce_bits(name, operand, how, options);
          };
        });
  offer(of, "cancel_barrier", [](std::string name, std::optional<round_number> round) {
    return [=, name = std::move(name)](client& c) { return c.cancel_barrier(name, round); };
  });
  offer(of, "count_barrier", [](std::string name, std::uint32_t count, timeout time) {
    return
        [=, name = std::move(name)](client& c) { return c.count_barrier(name, count, time.value); };
  });
}

}  // namespace coxswain::python
