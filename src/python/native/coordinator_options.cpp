#include "python/native/coordinator_options.hpp"

#include "coxswain/host/hosted_coordinator.hpp"
#include "coxswain/server/option_rows.hpp"
#include "coxswain/status/option_rows.hpp"
#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"
#include "python/native/option_values.hpp"

#include <string>
#include <tuple>
#include <utility>

namespace coxswain::python {
namespace {

using options = coordinator_options;

core::role role_of(std::string const& name) {
  if (auto const found = core::role_named(name)) return *found;
  throw py::value_error("a role is 'reader', 'operator' or 'worker', not '" + name + "'");
}

// Calls `use(row, part)` for each option, with the part of all options that has it.
template <class Use>
void each_option(Use use) {
  server::each_option([&](auto const& row, auto part) {
    use(
        row, [part](options & o) -> auto& { return part(o.server); });
  });
  auto const page = [](options& o) -> status_page::options& { return o.page; };
  std::apply([&](auto const&... row) { (use(row, page), ...); }, status_page::option_rows);
}

// From which the dataclass is made.
py::list rows() {
  py::list all;
  options defaults;
  each_option(
      [&](auto const& row, auto part) { all.append(described(row, part(defaults).*row.member)); });
  return all;
}

}  // namespace

std::optional<status_page::options> page_options(coordinator_options const& o) {
  if (o.page.listen.empty()) return std::nullopt;
  auto page = o.page;
  page.credentials = o.server.core.credentials;
  page.insecure = o.server.insecure;
  page.tls = o.server.tls;
  return page;
}

void bind_coordinator_options(py::module_& into) {
  py::class_<options> options_class{into, "CoordinatorOptions"};
  options_class.def(py::init<>())
      .def_static("hosting",
                  [](client_options const& client) {
                    options made;
                    made.server = hosting_options(client);
                    return made;
                  })
      .def_static("rows", &rows);
  define(options_class, "add_token", [](options& o, std::string role, std::string token) {
    o.server.core.credentials.push_back({role_of(role), std::move(token)});
  });
  setting(options_class, "record",
          [](options& o, std::string file) { o.record_file = std::move(file); });
  each_option([&](auto const& row, auto part) { offer_option(options_class, row, part); });
}

}  // namespace coxswain::python
