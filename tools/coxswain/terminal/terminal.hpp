#pragma once
// The terminal that standard output is: its alternate screen, drawn line by line, and the key that
// ends it, without an echo. Restores the previous state when destroyed.
//
// The keys come from /dev/tty, opened again: non-blocking, which must not affect other users of the
// same terminal.

#include "terminal/job_view.hpp"

#include "coxswain/net/descriptor.hpp"

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// Whether q was pressed. An escape sequence, of an arrow or such, is none.
[[nodiscard]] bool has_quit(std::string_view bytes);

// The size of standard output if it is a terminal; else COLUMNS and LINES, or 80 by `lines`.
[[nodiscard]] screen_size terminal_size(std::size_t lines = 24);

// Whether the locale's letters are UTF-8.
[[nodiscard]] bool has_unicode();

class terminal {
 public:
  terminal();
  ~terminal();
  terminal(terminal const&) = delete;
  terminal& operator=(terminal const&) = delete;

  // Shows the alternate screen, or the previous one. Idempotent.
  void enter();
  void leave();

  // Draws from the top of the screen. Unchanged lines are not written again.
  void show(std::vector<std::string> lines);

  // The screen was changed by others: all is written again next time.
  void forget();

  // Where keys come from, -1: there are none. Whether q was pressed meanwhile; never blocks.
  [[nodiscard]] int input() const noexcept { return input_.value(); }
  [[nodiscard]] bool take_quit();

 private:
  net::descriptor input_;
  std::optional<termios> before_;
  bool is_entered_{};
  std::optional<std::vector<std::string>> shown_;
};

}  // namespace coxswain::tools
