#pragma once
// All tasks of a job as letters in rows, coloured by state. With more tasks than cells, a cell
// represents several of them and shows the worst state. Not here: their numbers in words.

#include "terminal/styled_line.hpp"

#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <vector>

namespace coxswain::tools {

class task_grid {
 public:
  // A task's state as it is shown, the worst first.
  enum class mark : std::uint8_t {
    failed,
    suspect,
    never_connected,
    returning,
    joining,
    connected,
    left
  };
  static constexpr std::size_t marks = 7;

  [[nodiscard]] static mark mark_of(core::snapshot::task const& t);
  [[nodiscard]] static char letter(mark m);
  [[nodiscard]] static style style_of(mark m);
  [[nodiscard]] static std::string_view name(mark m);

  // As large as fits into `columns` and `rows`, both at least one.
  task_grid(std::size_t tasks, std::size_t columns, std::size_t rows);

  [[nodiscard]] std::size_t tasks_per_cell() const noexcept { return tasks_per_cell_; }
  [[nodiscard]] std::size_t rows() const noexcept;

  // Each row begins with the number of its first task.
  [[nodiscard]] std::vector<styled_line> lines(
      std::vector<core::snapshot::task> const& tasks) const;

 private:
  std::size_t tasks_;
  std::size_t gutter_;
  std::size_t cells_per_row_;
  std::size_t tasks_per_cell_{1};
};

}  // namespace coxswain::tools
