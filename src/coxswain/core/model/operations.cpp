#include "coxswain/core/model/operations.hpp"

#include "coxswain/core/observe/statistics.hpp"

#include <array>
#include <string_view>
#include <type_traits>

namespace coxswain::core {
namespace {

template <class Args>
constexpr operation_row named() {
  static_assert(operation_of<Args>.doc.ends_with('.'));
  operation_row row = operation_of<Args>;
  if constexpr (std::is_same_v<Args, std::monostate>) {
    row.name = row.words;
  } else if (row.name.empty()) {
    row.name = record_of<Args>.name;
  }
  return row;
}

template <class... Args>
constexpr std::array<operation_row, sizeof...(Args)> all(
    std::type_identity<std::variant<Args...>>) {
  return {named<Args>()...};
}

constexpr auto rows = all(std::type_identity<request>{});

}  // namespace

operation_row const& row_of(request const& what) noexcept { return rows[what.index()]; }
operation_row const& row_at(std::size_t index) noexcept { return rows[index]; }

std::string_view name(operation what) noexcept {
  return what == unknown_operation ? "unknown" : rows[what.value].name;
}

}  // namespace coxswain::core
