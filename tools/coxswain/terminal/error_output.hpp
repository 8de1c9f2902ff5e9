#pragma once
// Texts on standard error, and those on standard output that only report what was done. What cannot
// be written, as on a full disk or without a reader, is dropped: it never ends a program or changes
// its exit code. Not here: output that a command exists for.

#include <fmt/format.h>

#include <string>
#include <utility>

namespace coxswain::tools {

void write_error(std::string const& text) noexcept;

template <class... Values>
void print_error(fmt::format_string<Values...> format, Values&&... values) {
  write_error(fmt::format(format, std::forward<Values>(values)...));
}

// On standard output. The first text that is lost is mentioned on standard error.
void write_report(std::string const& text) noexcept;

template <class... Values>
void print_report(fmt::format_string<Values...> format, Values&&... values) {
  write_report(fmt::format(format, std::forward<Values>(values)...));
}

// Before any descriptor is opened: standard input, output and error that are closed become
// /dev/null, or the next files and sockets would get their numbers. They cannot be read or written,
// as when they were closed.
void open_standard_descriptors() noexcept;

}  // namespace coxswain::tools
