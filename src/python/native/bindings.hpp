#pragma once
// The parts of the extension, each of which adds its functions to the module.

#include "python/native/offer.hpp"
#include "python/native/python.hpp"

namespace coxswain::python {

void bind_options(py::module_& into);
void bind_barriers(session_class& of);
void bind_job(session_class& of);
void bind_keys(session_class& of);
void bind_topology(py::module_& into, session_class& of);
void bind_watches(py::module_& into, session_class& of);
void bind_coordinator_options(py::module_& into);
void bind_coordinator(py::module_& into);

// For interpreter exit: sessions first, then coordinators.
void close_everything();

}  // namespace coxswain::python
