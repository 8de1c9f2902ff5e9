#include "terminal/terminal.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace coxswain::tools {
namespace {

// The alternate screen, no cursor, and lines that are too long end at the edge; and all that back.
constexpr std::string_view enter_sequence{"\033[?1049h\033[?25l\033[?7l\033[2J"};
constexpr std::string_view leave_sequence{"\033[?7h\033[?25h\033[?1049l"};
constexpr std::string_view clear_sequence{"\033[2J"};

std::size_t number_in(char const* variable) {
  auto const* const text = std::getenv(variable);
  std::size_t number{};
  if (text == nullptr) return 0;
  std::string_view const all{text};
  auto const parsed = std::from_chars(all.data(), all.data() + all.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == all.data() + all.size() ? number : 0;
}

// Errors are ignored: the terminal is gone.
void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    auto const count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd waited{STDOUT_FILENO, POLLOUT, 0};
      if (::poll(&waited, 1, -1) < 0 && errno != EINTR) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

bool has_quit(std::string_view bytes) {
  return !bytes.starts_with('\033') && bytes.find_first_of("qQ\x03") != bytes.npos;
}

screen_size terminal_size(std::size_t lines) {
  screen_size size{80, lines};
  winsize given{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &given) == 0 && given.ws_col > 0 && given.ws_row > 0) {
    return {given.ws_col, given.ws_row};
  }
  if (auto const columns = number_in("COLUMNS"); columns > 0) size.columns = columns;
  if (auto const given_lines = number_in("LINES"); given_lines > 0) size.lines = given_lines;
  return size;
}

bool has_unicode() {
  auto* const locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  bool const is_utf8 = std::string_view{::nl_langinfo_l(CODESET, locale)} == "UTF-8";
  ::freelocale(locale);
  return is_utf8;
}

terminal::terminal() : input_{::open("/dev/tty", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)} {}

terminal::~terminal() { leave(); }

void terminal::enter() {
  if (std::exchange(is_entered_, true)) return;
  if (termios mode{}; input_ && ::tcgetattr(input_.value(), &mode) == 0) {
    before_ = mode;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    ::tcsetattr(input_.value(), TCSADRAIN, &mode);
  }
  write_all(enter_sequence);
  shown_.emplace();
}

void terminal::leave() {
  if (!std::exchange(is_entered_, false)) return;
  write_all(leave_sequence);
  // Unread key presses must not reach the next reader.
  if (before_) ::tcsetattr(input_.value(), TCSAFLUSH, &*before_);
}

void terminal::show(std::vector<std::string> lines) {
  if (!is_entered_) return;
  std::string bytes;
  if (!shown_) bytes += clear_sequence;
  auto const before = shown_.value_or(std::vector<std::string>{});
  for (std::size_t i = 0; i < std::max(lines.size(), before.size()); ++i) {
    if (i < lines.size() && i < before.size() && lines[i] == before[i]) continue;
    bytes += fmt::format("\033[{};1H{}\033[K", i + 1, i < lines.size() ? lines[i] : "");
  }
  write_all(bytes);
  shown_ = std::move(lines);
}

void terminal::forget() { shown_.reset(); }

bool terminal::take_quit() {
  std::array<char, 256> bytes{};
  auto const count = ::read(input_.value(), bytes.data(), bytes.size());
  return count > 0 && has_quit({bytes.data(), static_cast<std::size_t>(count)});
}

}  // namespace coxswain::tools
