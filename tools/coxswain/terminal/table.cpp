#include "terminal/table.hpp"

#include "terminal/harmless_text.hpp"
#include "terminal/styled_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace coxswain::tools {

void table::add(std::vector<std::string> cells) {
  for (auto& c : cells) c = harmless_line(c);
  rows_.push_back(std::move(cells));
}

std::string table::text(std::string const& indent) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (auto const& c : columns_) {
    widths.push_back(columns_of(c.title));
    titles.push_back(c.title);
  }
  for (auto const& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }

  std::string all;
  auto const add_line = [&](std::vector<std::string> const& cells) {
    auto line = indent;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      line += columns_[i].side == align::right ? fmt::format("{:>{}}", cells[i], widths[i])
                                               : fmt::format("{:<{}}", cells[i], widths[i]);
    }
    all.append(line, 0, line.find_last_not_of(' ') + 1);
    all += '\n';
  };
  add_line(titles);
  for (auto const& row : rows_) add_line(row);
  return all;
}

}  // namespace coxswain::tools
