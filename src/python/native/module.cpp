// The extension: thin classes, wrapped by the Python modules.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/errors.hpp"

namespace coxswain::python {
namespace {

session_class bind_session(py::module_& into) {
  session_class one{into, "Session"};
  one.def(py::init([] { return std::make_shared<session>(); }))
      .def("connect", &session::connect)
      .def("begin_connect",
           [](session& self, std::shared_ptr<mailbox> to, std::uint64_t number,
              client_options options) {
             return self.begin_connect(std::move(options), std::move(to), number);
           })
      .def("cancel", &session::cancel)
      .def("close", &session::close)
      .def_property_readonly("reconnects", &session::reconnects)
      .def_property_readonly("num_tasks",
                             [](session const& self) { return self.facts().num_tasks; })
      .def_property_readonly("task", [](session const& self) { return self.task(); })
      .def_property_readonly("role", [](session const& self) { return name(self.facts().role); })
      .def_property_readonly("incarnation",
                             [](session const& self) { return self.facts().self.value; });
  return one;
}

void bind_calls(py::module_& into) {
  py::class_<call, std::shared_ptr<call>>(into, "Call");
  py::class_<mailbox, std::shared_ptr<mailbox>>(into, "Mailbox")
      .def(py::init<>())
      .def("fileno", &mailbox::descriptor)
      .def("take", &mailbox::take);
}

}  // namespace
}  // namespace coxswain::python

PYBIND11_MODULE(_native, m) {
  using namespace coxswain::python;
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
  m.def("close_all", close_everything);
}
