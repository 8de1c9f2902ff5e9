#pragma once
// Text in columns, as wide as their longest cell.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {

enum class align : std::uint8_t { left, right };

class table {
 public:
  struct column {
    std::string title;
    align side{align::left};
  };

  table(std::initializer_list<column> columns) : columns_{columns} {}

  // Before there are rows.
  void add_column(column one) { columns_.push_back(std::move(one)); }

  // As many cells as there are columns; they are made harmless (harmless_text).
  void add(std::vector<std::string> cells);

  // One line for the titles and one for each row, each after `indent`, none with space at its end.
  [[nodiscard]] std::string text(std::string const& indent = {}) const;

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace coxswain::tools
