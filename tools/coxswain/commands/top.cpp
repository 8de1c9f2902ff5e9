// coxswain top: a job in a terminal, live.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "terminal/job_feed.hpp"
#include "terminal/terminal.hpp"
#include "terminal/top_frame.hpp"

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// The size of a frame written to a file or a pipe.
constexpr std::size_t lines_unless_given = 60;

struct top_command {
  remote_options remote{.takes_newest = true};
  duration interval{500ms};
  bool once{};
  bool without_colours{};
};

// https://no-color.org: any value that is not empty.
bool wants_colours(top_command const& given) {
  auto const* const no_color = std::getenv("NO_COLOR");
  return !given.without_colours && (no_color == nullptr || *no_color == '\0');
}

// The session, the screen and the keys, until the user ends it.
class live_top {
 public:
  live_top(asio::io_context& io, top_command const& given)
      : io_{io},
        colours_{wants_colours(given), has_unicode()},
        feed_{io, given.remote, given.interval, [this] { has_changed(); }},
        interval_{given.interval},
        ends_{io, SIGINT, SIGTERM, SIGHUP},
        resizes_{io, SIGWINCH},
        stops_{io, SIGTSTP},
        keys_{io},
        clock_{io} {}

  // Gives the exit code.
  int run() {
    await_end();
    await_resize();
    await_stop();
    auto ended = [this](std::exception_ptr problem) {
      problem_ = std::move(problem);
      end(0);
    };
    asio::co_spawn(io_, feed_.run(), ended);
    while (!is_over_ && io_.run_one() > 0) continue;
    io_.run_for(session_end_max);
    screen_.leave();
    if (problem_) std::rethrow_exception(problem_);
    return code_;
  }

 private:
  void end(int code) {
    if (std::exchange(is_over_, true)) return;
    code_ = code;
    feed_.stop();
    ends_.cancel();
    ends_.clear();  // restores the default actions
    resizes_.cancel();
    stops_.cancel();
    clock_.cancel();
    if (keys_.is_open()) keys_.release();
    screen_.leave();
  }

  // Errors before the first snapshot need no screen.
  void has_changed() {
    if (is_over_) return;
    if (!std::exchange(is_shown_, true)) {
      screen_.enter();
      await_keys();
      await_tick();
    }
    draw();
  }

  void draw() {
    if (!is_shown_) return;
    std::vector<std::string> lines;
    for (auto const& line :
         top_frame(feed_.view(std::chrono::steady_clock::now()), terminal_size())) {
      lines.push_back(line.ansi(colours_));
    }
    screen_.show(std::move(lines));
  }

  void await_keys() {
    if (screen_.input() < 0) return;
    if (!keys_.is_open()) keys_.assign(screen_.input());
    keys_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this](boost::system::error_code problem) {
                       if (problem || is_over_) return;
                       if (screen_.take_quit()) return end(0);
                       await_keys();
                     });
  }

  // Redrawn even without an update, to show for how long there has been none.
  void await_tick() {
    clock_.expires_after(interval_);
    clock_.async_wait([this](boost::system::error_code problem) {
      if (problem || is_over_) return;
      draw();
      await_tick();
    });
  }

  void await_end() {
    ends_.async_wait([this](boost::system::error_code problem, int number) {
      if (!problem) end(128 + number);
    });
  }

  void await_resize() {
    resizes_.async_wait([this](boost::system::error_code problem, int) {
      if (problem) return;
      screen_.forget();
      draw();
      await_resize();
    });
  }

  // Ctrl-Z: the shell gets its own screen.
  void await_stop() {
    stops_.async_wait([this](boost::system::error_code problem, int) {
      if (problem) return;
      screen_.leave();
      ::raise(SIGSTOP);
      if (is_shown_) screen_.enter();
      draw();
      await_stop();
    });
  }

  asio::io_context& io_;
  palette colours_;
  terminal screen_;
  job_feed feed_;
  duration interval_;
  asio::signal_set ends_;
  asio::signal_set resizes_;
  asio::signal_set stops_;
  asio::posix::stream_descriptor keys_;
  asio::steady_timer clock_;
  bool is_shown_{};
  bool is_over_{};
  int code_{};
  std::exception_ptr problem_;
};

asio::awaitable<void> show_once(client& c, top_command const& given) {
  job_view view;
  view.address = observer(given.remote).address;
  std::optional<std::uint64_t> through;
  co_await refresh(c, view, through);
  bool const is_terminal = ::isatty(STDOUT_FILENO) == 1;
  palette const colours{wants_colours(given), has_unicode()};
  for (auto const& line : top_frame(view, terminal_size(lines_unless_given))) {
    fmt::print("{}\n", is_terminal ? line.ansi(colours) : line.plain());
  }
}

int top(top_command const& as_given) {
  auto given = as_given;
  given.remote = located(std::move(given.remote));
  if (given.once) {
    return converse(given.remote, [&given](client& c) { return show_once(c, given); });
  }
  auto const* const kind = std::getenv("TERM");
  bool const is_simple = kind == nullptr || *kind == '\0' || std::string_view{kind} == "dumb";
  if (::isatty(STDOUT_FILENO) != 1 || is_simple) {
    throw program_error{
        exit_code::usage,
        "standard output is not a terminal; use --once, or coxswain status --json for programs"};
  }
  asio::io_context io{1};
  live_top live{io, given};
  return live.run();
}

constexpr auto top_footer =
    R"(Shows the job and why it has failed; what calls wait for, who is missing and
which waits are STUCK; tasks that have failed, are suspect (connection lost) or
never connected, and a table of a few tasks; stragglers: the tasks that arrive
last at barriers, how often and how late; and the last events. A small screen
drops the last of these. The same for programs: coxswain status, why and
events, each with --json. The page (serve --http) shows more.

q quits; Ctrl-C exits with 130.

It changes nothing: a reader's token is enough. While the coordinator does not reply, the last
picture stays, marked as old, and top keeps retrying until you quit. Large jobs are refreshed less
often than --interval: ten thousand tasks every 5 s.

EXAMPLES
  coxswain run -n 200 -- python train.py      and, in another terminal:
  coxswain top
  coxswain top --address job-host:8476 --token-file token --interval 2s
  coxswain top --once | less

NO_COLOR is honoured.
)";

}  // namespace

void add_top(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "top", "Shows the job live in this terminal: missing tasks, stragglers, failures",
      chosen, top);
  auto& given = command.given;
  command.add_flag("--once", given.once,
                   "Print once and exit; without escapes unless on a terminal");
  add_duration(command, "--interval", given.interval, "Refresh period", {.least = 50ms});
  command.add_flag("--no-color", given.without_colours, "Do not use colours");
  add_remote_options(command, given.remote);
  command.footer(help_end(top_footer));
}

}  // namespace coxswain::tools
