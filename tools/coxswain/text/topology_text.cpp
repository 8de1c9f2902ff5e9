#include "text/topology_text.hpp"

#include "terminal/table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace coxswain::tools {
namespace {

std::string or_dash(std::string const& text) { return text.empty() ? "-" : text; }

std::vector<std::string> row_of(std::size_t task, core::device const& d) {
  return {std::to_string(d.global_id),
          std::to_string(d.partition),
          std::to_string(task),
          std::to_string(d.ordinal),
          or_dash(d.name),
          or_dash(d.kind)};
}

}  // namespace

std::string topology_text(core::global_topology const& whole) {
  std::map<std::uint32_t, std::vector<std::string>> rows;
  for (std::size_t task = 0; task < whole.tasks.size(); ++task) {
    for (auto const& d : whole.tasks[task].devices) rows[d.global_id] = row_of(task, d);
  }
  table shown{{"id", align::right},      {"partition", align::right}, {"task", align::right},
              {"ordinal", align::right}, {"name", align::left},       {"kind", align::left}};
  for (auto& [id, row] : rows) shown.add(std::move(row));
  return shown.text();
}

}  // namespace coxswain::tools
