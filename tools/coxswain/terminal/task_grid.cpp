#include "terminal/task_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace coxswain::tools {
namespace {

struct appearance {
  char letter;
  style how;
  std::string_view name;
};

// By mark.
constexpr std::array<appearance, task_grid::marks> appearances{
    {{'X', style::alarm, "failed"},
     {'?', style::warning, "suspect"},
     {'.', style::dim, "never connected"},
     {'<', style::busy, "returning"},
     {'+', style::busy, "joining"},
     {'o', style::good, "connected"},
     {'-', style::dim, "left"}}};

appearance const& appearance_of(task_grid::mark m) {
  return appearances[static_cast<std::size_t>(m)];
}

// 2, 5, 10, 20, 50, ...: numbers that people multiply by.
std::size_t next_round_number(std::size_t n) {
  std::size_t power = 1;
  while (power * 10 <= n) power *= 10;
  return n < 2 * power ? 2 * power : n < 5 * power ? 5 * power : 10 * power;
}

std::size_t parts(std::size_t of, std::size_t each) { return (of + each - 1) / each; }

}  // namespace

task_grid::mark task_grid::mark_of(core::snapshot::task const& t) {
  switch (t.state) {
    case task_state::failed: return mark::failed;
    case task_state::never_connected: return mark::never_connected;
    case task_state::left: return mark::left;
    case task_state::returning: return mark::returning;
    case task_state::joining: return t.suspect ? mark::suspect : mark::joining;
    case task_state::connected: return t.suspect ? mark::suspect : mark::connected;
  }
  return mark::never_connected;
}

char task_grid::letter(mark m) { return appearance_of(m).letter; }
style task_grid::style_of(mark m) { return appearance_of(m).how; }
std::string_view task_grid::name(mark m) { return appearance_of(m).name; }

task_grid::task_grid(std::size_t tasks, std::size_t columns, std::size_t rows)
    : tasks_{tasks}, gutter_{std::to_string(std::max<std::size_t>(tasks, 1) - 1).size() + 1} {
  auto const room = columns - std::min(columns, gutter_);
  cells_per_row_ = room < 10 ? std::max<std::size_t>(room, 1) : room / 10 * 10;
  while (parts(tasks_, tasks_per_cell_) > cells_per_row_ * rows) {
    tasks_per_cell_ = next_round_number(tasks_per_cell_);
  }
}

std::size_t task_grid::rows() const noexcept {
  return parts(parts(tasks_, tasks_per_cell_), cells_per_row_);
}

std::vector<styled_line> task_grid::lines(std::vector<core::snapshot::task> const& tasks) const {
  std::vector<mark> cells(parts(tasks_, tasks_per_cell_), mark::left);
  for (std::size_t i = 0; i < tasks.size() && i < tasks_; ++i) {
    auto& cell = cells[i / tasks_per_cell_];
    cell = std::min(cell, mark_of(tasks[i]));
  }
  std::vector<styled_line> all;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % cells_per_row_ == 0) {
      all.emplace_back(fmt::format("{:>{}} ", i * tasks_per_cell_, gutter_ - 1), style::dim);
    }
    auto const& shown = appearance_of(cells[i]);
    all.back().add({&shown.letter, 1}, shown.how);
  }
  return all;
}

}  // namespace coxswain::tools
