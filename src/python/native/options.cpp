// The options of a client, and the values from a launcher's environment.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include "coxswain/client/options.hpp"
#include "coxswain/client/process_environment.hpp"
#include "coxswain/launch/detection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::python {
namespace {

// The value if present and valid; else None.
template <class Value>
py::object known(launch::sourced_value<Value> const& found) {
  if (!found.problem().ok() || !found.value()) return py::none();
  return py::cast(*found.value());
}

py::dict detected(std::string const& launcher) {
  auto const found = launch::detect(process_environment(), launcher);
  py::dict all;
  all["launcher"] = found.launcher;
  all["address"] = known(found.address);
  all["job"] = known(found.job);
  all["attempt"] = known(found.attempt);
  all["task"] = known(found.task);
  all["num_tasks"] = known(found.num_tasks);
  all["local_task"] = known(found.local_task);
  py::dict missing;
  auto const note = [&](char const* name, std::string const& why) {
    if (!why.empty()) missing[name] = why;
  };
  note("address", found.address.why_missing());
  note("task", found.task.why_missing());
  note("num_tasks", found.num_tasks.why_missing());
  all["missing"] = missing;
  return all;
}

}  // namespace

void bind_options(py::module_& into) {
  py::class_<client_options> options_class{into, "Options"};
  auto const address_in = [](py::object const& passed) {
    return argument<std::string>({"address", 0}, passed);
  };
  options_class.def(py::init([=](py::object const& at) { return client_options{address_in(at)}; }))
      .def_static(
          "from_environment",
          [=](py::object const& at) { return client_options::from_environment(address_in(at)); })
      .def_property_readonly("num_tasks", [](client_options const& o) { return o.num_tasks; })
      .def_property_readonly("task", [](client_options const& o) { return o.task; });
  using o = client_options;
  setting(
      options_class, "address", [](o& of, std::string value) { of.address = std::move(value); },
      [](o const& of) { return of.address; });
  setting(
      options_class, "task", [](o& of, std::optional<task_id> value) { of.task = value; },
      [](o const& of) { return of.task; });
  setting(options_class, "recoverable",
          [](o& of, std::optional<bool> value) { of.recoverable = value; });
  setting(options_class, "num_tasks",
          [](o& of, std::optional<std::uint32_t> value) { of.num_tasks = value; });
  setting(options_class, "job", [](o& of, std::string value) { of.job = std::move(value); });
  setting(options_class, "attempt",
          [](o& of, std::optional<std::uint64_t> value) { of.attempt = value; });
  setting(options_class, "token", [](o& of, std::string value) { of.token = std::move(value); });
  setting(
      options_class, "any", [](o& of, bool value) { of.any = value; },
      [](o const& of) { return of.any; });
  setting(options_class, "member", [](o& of, std::string value) { of.member = std::move(value); });
  setting(options_class, "placement",
          [](o& of, std::vector<std::string> value) { of.placement = std::move(value); });
  setting(options_class, "label", [](o& of, std::string value) { of.label = std::move(value); });
  setting(options_class, "incarnation",
          [](o& of, std::optional<incarnation> value) { of.incarnation = value; });
  setting(options_class, "connect_timeout",
          [](o& of, timeout value) { of.connect_timeout = value.value; });
  setting(options_class, "fence_after", [](o& of, timeout value) { of.fence_after = value.value; });
  setting(options_class, "spin", [](o& of, timeout value) { of.spin = value.value; });
  define(options_class, "use_tls",
         [](o& of, std::string authorities, std::string certificate, std::string key,
            std::string peer_uri_prefix) {
           of.tls.ca = std::move(authorities);
           of.tls.cert = std::move(certificate);
           of.tls.key = std::move(key);
           of.tls.peer_uri_prefix = std::move(peer_uri_prefix);
         });
  into.def("detect", [](py::object const& launcher) {
    return detected(argument<std::string>({"launcher", 0}, launcher));
  });
}

}  // namespace coxswain::python
