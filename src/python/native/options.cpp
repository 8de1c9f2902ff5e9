// What a client is told at its start, and what a launcher's environment says of it.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include "coxswain/client/options.hpp"
#include "coxswain/client/process_surroundings.hpp"
#include "coxswain/launch/detection.hpp"

#include <optional>
#include <string>

namespace coxswain::python {
namespace {

py::object fence_of(client_options const& o) {
  if (!o.fence_after) return py::none();
  return py::float_(std::chrono::duration<double>{*o.fence_after}.count());
}

// What is there and allowed; else None.
template <class Value>
py::object known(launch::finding<Value> const& found) {
  if (!found.problem().ok() || !found.value()) return py::none();
  return py::cast(*found.value());
}

py::dict detected(std::string const& launcher) {
  auto const found = launch::detect(process_surroundings(), launcher);
  py::dict all;
  all["launcher"] = found.launcher;
  all["address"] = known(found.address);
  all["job"] = known(found.job);
  all["attempt"] = known(found.attempt);
  all["task"] = known(found.task);
  all["num_tasks"] = known(found.num_tasks);
  all["local_task"] = known(found.local_task);
  return all;
}

}  // namespace

void bind_options(py::module_& into) {
  py::class_<client_options>(into, "Options")
      .def(py::init<std::string>())
      .def_static("from_environment", &client_options::from_environment, py::arg("address"))
      .def_readwrite("address", &client_options::address)
      .def_readwrite("task", &client_options::task)
      .def_readwrite("recoverable", &client_options::recoverable)
      .def_readwrite("num_tasks", &client_options::num_tasks)
      .def_readwrite("job", &client_options::job)
      .def_readwrite("attempt", &client_options::attempt)
      .def_readwrite("token", &client_options::token)
      .def_readwrite("label", &client_options::label)
      .def_readwrite("incarnation", &client_options::incarnation)
      .def_property(
          "connect_timeout",
          [](client_options const& o) {
            return std::chrono::duration<double>{o.connect_timeout}.count();
          },
          [](client_options& o, timeout time) { o.connect_timeout = time.value; })
      .def_property("fence_after", fence_of,
                    [](client_options& o, timeout time) { o.fence_after = time.value; })
      .def("use_tls", [](client_options& o, std::string authorities, std::string certificate,
                         std::string key, std::string peer_uri_prefix) {
        o.tls.authorities_file = std::move(authorities);
        o.tls.certificate_file = std::move(certificate);
        o.tls.key_file = std::move(key);
        o.tls.peer_uri_prefix = std::move(peer_uri_prefix);
      });
  into.def("detect", detected);
}

}  // namespace coxswain::python
