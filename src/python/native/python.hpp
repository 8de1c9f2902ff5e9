#pragma once
// pybind11, as the extension uses it: one name for the namespace.

#include <pybind11/pybind11.h>

namespace coxswain::python {

namespace py = pybind11;

}  // namespace coxswain::python
