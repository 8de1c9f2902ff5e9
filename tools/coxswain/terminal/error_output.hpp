#pragma once
// Texts on standard error. What cannot be written there, as on a full disk, is dropped: it never
// ends a program or changes its exit code.

#include <fmt/format.h>

#include <string>
#include <utility>

namespace coxswain::tools {

void write_error(std::string const& text) noexcept;

template <class... Values>
void print_error(fmt::format_string<Values...> format, Values&&... values) {
  write_error(fmt::format(format, std::forward<Values>(values)...));
}

// Before any descriptor is opened: standard input, output and error that are closed become
// /dev/null, or the next files and sockets would get their numbers.
void open_standard_descriptors() noexcept;

}  // namespace coxswain::tools
