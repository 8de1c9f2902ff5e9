// The options of a client, and the values from a launcher's environment.

#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/option_values.hpp"

#include "coxswain/client/option_rows.hpp"
#include "coxswain/client/process_environment.hpp"
#include "coxswain/launch/detection.hpp"

#include <string>
#include <vector>

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
      .def_static("names", [] {
        std::vector<std::string> names;
        each_client_option([&](auto const& row, auto) { names.emplace_back(row.name); });
        return names;
      });
  each_client_option([&](auto const& row, auto part) { offer_option(options_class, row, part); });
  into.def("detect", [](py::object const& launcher) {
    return detected(argument<std::string>({"launcher", 0}, launcher));
  });
}

}  // namespace coxswain::python
