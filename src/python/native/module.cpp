// The extension: thin classes, wrapped by the Python modules.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/errors.hpp"

namespace coxswain::python {
namespace {

session_class bind_session(py::module_& into) {
  session_class made{into, "Session"};
  made.def(py::init([] { return std::make_shared<session>(); }))
      .def("connect", &session::connect)
      .def("begin_connect",
           [](session& self, std::shared_ptr<mailbox> to, std::uint64_t number,
              client_options options) {
             return self.begin_connect(std::move(options), std::move(to), number);
           })
      .def("cancel", &session::cancel)
      .def("give_back", &session::give_back)
      .def("drop_item", &session::drop_item)
      .def("drop_lock", &session::drop_lock)
      .def("close", &session::close)
      .def_property_readonly("reconnects", &session::reconnects)
      .def_property_readonly("is_forked", &session::is_forked)
      .def_property_readonly("num_tasks",
                             [](session const& self) { return self.facts().num_tasks; })
      .def_property_readonly("task", [](session const& self) { return self.task(); })
      .def_property_readonly("role", [](session const& self) { return name(self.facts().role); })
      .def_property_readonly("incarnation",
                             [](session const& self) { return self.facts().self.value; });
  return made;
}

void bind_calls(py::module_& into) {
  py::class_<call, std::shared_ptr<call>>(into, "Call");
  py::class_<grant>(into, "Grant").def(py::init<>());
  py::class_<mailbox, std::shared_ptr<mailbox>>(into, "Mailbox")
      .def(py::init<>())
      .def("fileno", &mailbox::descriptor)
      .def("take", &mailbox::take);
}

// The state of the extension and the threads of pybind11's GIL functions belong to the main
// interpreter: in another one, calls would wait for each other for ever.
void check_interpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return;
  throw py::import_error(
      "coxswain cannot be used in a subinterpreter; import it in the main interpreter of the "
      "process (mod_wsgi: WSGIApplicationGroup %{GLOBAL})");
}

void fill(py::module_& m) {
  m.doc() = "What lies behind the package coxswain; use that.";
  m.attr("version") = COXSWAIN_VERSION;
  bind_errors(m);
  bind_options(m);
  bind_calls(m);
  auto session = bind_session(m);
  bind_barriers(session);
  bind_job(session);
  bind_keys(session);
  bind_topology(m, session);
  bind_watches(m, session);
  bind_coordinator(m);
  m.def("check_interpreter", check_interpreter);
  m.def("set_thread_hook", set_thread_hook);
  m.def("end_waits", &session::end_waits);
  m.def("close_all", close_everything);
}

PyObject* made() {
  static PyModuleDef definition;
  auto m = py::module_::create_extension_module("_native", nullptr, &definition);
  fill(m);
  return m.release().ptr();
}

}  // namespace
}  // namespace coxswain::python

// As PYBIND11_MODULE, which has no place before pybind11's own state is made, where a
// subinterpreter would wait for ever.
extern "C" PYBIND11_EXPORT PyObject* PyInit__native() {
  PYBIND11_CHECK_PYTHON_VERSION
  try {
    coxswain::python::check_interpreter();
    PYBIND11_ENSURE_INTERNALS_READY
    return coxswain::python::made();
  }
  PYBIND11_CATCH_INIT_EXCEPTIONS
}
