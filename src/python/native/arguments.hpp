#pragma once
// What Python passes, as our types: seconds, timedelta or None as a duration; numbers as tasks;
// str and bytes as text (pybind11's own caster of std::string).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "python/native/python.hpp"

#include <pybind11/stl.h>

#include <vector>

namespace coxswain::python {

// How long to wait: None waits for ever, what is negative asks for an answer now.
struct timeout {
  duration value{};
};

// Throws ValueError (not a number) and TypeError.
[[nodiscard]] duration duration_of(py::handle said);

// Of what Python passes as a sequence of numbers; None is empty.
[[nodiscard]] std::vector<task_id> tasks_of(py::handle said);

}  // namespace coxswain::python

namespace pybind11::detail {

template <>
struct type_caster<coxswain::python::timeout> {
  PYBIND11_TYPE_CASTER(coxswain::python::timeout, const_name("float | timedelta | None"));
  bool load(handle from, bool) {
    value.value = coxswain::python::duration_of(from);
    return true;
  }
};

template <class Tag, class Rep>
struct type_caster<coxswain::id<Tag, Rep>> {
  using one = coxswain::id<Tag, Rep>;
  PYBIND11_TYPE_CASTER(one, const_name("int"));
  bool load(handle from, bool convert) {
    make_caster<Rep> number;
    if (!number.load(from, convert)) return false;
    value.value = cast_op<Rep>(number);
    return true;
  }
  static handle cast(one from, return_value_policy, handle) { return int_(from.value).release(); }
};

}  // namespace pybind11::detail
