#pragma once
// Converts failures to Python exceptions. The classes are in coxswain/_errors.py, which registers
// the function that makes an exception from a code, a text and the details of a failed barrier.

#include "coxswain/base/status.hpp"
#include "python/native/python.hpp"

#include <exception>

namespace coxswain::python {

// The exception for a failure. With the GIL.
py::object exception_for(std::exception_ptr const& failure);

[[noreturn]] void raise_and_throw(py::object const& exception);

// Runs this, and converts what it throws to a Python exception (error_already_set).
template <class Work>
py::object with_errors_of_python(Work work) {
  try {
    return work();
  } catch (py::error_already_set const&) {
    throw;
  } catch (...) {
    raise_and_throw(exception_for(std::current_exception()));
  }
}

void bind_errors(py::module_& into);

}  // namespace coxswain::python
