#include "process/log.hpp"

#include "options/command_line.hpp"
#include "options/exit_code.hpp"
#include "terminal/harmless_text.hpp"
#include "text/json.hpp"

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <semaphore>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t lines_queued_max = 8192;

CLI::Validator is_level() { return one_of({"info", "warning", "error", "off"}); }

// How long to wait for a reader at the end.
constexpr std::chrono::milliseconds drain_time_max{1000};
constexpr int poll_milliseconds = 50;

// The logger of events, whose JSON text is a complete line.
constexpr auto events_name = "coxswain events";

spdlog::level::level_enum level_of(core::severity s) {
  switch (s) {
    case core::severity::info: return spdlog::level::info;
    case core::severity::warning: return spdlog::level::warn;
    case core::severity::error: break;
  }
  return spdlog::level::err;
}

// {"time":"2026-01-02T03:04:05.678Z","level":"info", and the rest of the payload.
class json_formatter : public spdlog::formatter {
 public:
  void format(spdlog::details::log_msg const& line, spdlog::memory_buf_t& into) override {
    begin_.format(line, into);
    std::string_view const payload{line.payload.data(), line.payload.size()};
    auto const text =
        std::string_view{line.logger_name.data(), line.logger_name.size()} == events_name
            ? std::string{payload}
            : log_json(std::string{payload});
    into.append(text.data() + 1, text.data() + text.size());
    into.push_back('\n');
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<json_formatter>();
  }

 private:
  spdlog::pattern_formatter begin_{R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",)",
                                   spdlog::pattern_time_type::utc, ""};
};

std::unique_ptr<spdlog::formatter> formatter_for(log_options const& how,
                                                 std::string const& pattern) {
  if (how.format == "json") return std::make_unique<json_formatter>();
  return std::make_unique<spdlog::pattern_formatter>(pattern);
}

}  // namespace

// Standard error, from the log's thread. It waits for a reader, but not for ever at the end.
class log::output : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit output(std::unique_ptr<spdlog::formatter> how) : base_sink{std::move(how)} {}

  void end() { is_ending_ = true; }

  // True once flush_ has been called since the last time.
  bool await_flush() { return flushed_.try_acquire_for(drain_time_max); }
  void forget_flush() { static_cast<void>(flushed_.try_acquire()); }

 private:
  void sink_it_(spdlog::details::log_msg const& line) override {
    spdlog::memory_buf_t bytes;
    formatter_->format(line, bytes);
    std::string_view left{bytes.data(), bytes.size()};
    while (!left.empty() && wait_writable()) {
      // A writable pipe takes this much without blocking.
      auto const count =
          ::write(STDERR_FILENO, left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
      if (count < 0 && errno != EINTR && errno != EAGAIN) return;
      if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void flush_() override {
    forget_flush();  // at most one
    flushed_.release();
  }

  // False: there is no reader, and we should end.
  bool wait_writable() {
    while (waited_ < drain_time_max) {
      pollfd waited{STDERR_FILENO, POLLOUT, 0};
      if (::poll(&waited, 1, poll_milliseconds) != 0) {
        waited_ = {};
        return true;
      }
      if (is_ending_) waited_ += std::chrono::milliseconds{poll_milliseconds};
    }
    return false;
  }

  std::binary_semaphore flushed_{0};
  std::atomic<bool> is_ending_{};
  std::chrono::milliseconds waited_{};  // without a reader, since we are to end
};

void add_log_options(CLI::App& to, log_options& into) {
  to.add_option("--log-level", into.level, "What to log on standard error")
      ->type_name("LEVEL")
      ->check(is_level())
      ->capture_default_str();
  to.add_option("--log-format", into.format, "Lines for people, or one JSON object on each")
      ->type_name("FORMAT")
      ->check(one_of({"human", "json"}))
      ->capture_default_str();
}

void check_log_level(std::string const& level) {
  auto const problem = is_level()(level);
  if (!problem.empty()) throw program_error{exit_code::usage, "--log-level: " + problem};
}

std::string log_json(std::string const& text) { return serialized(json::object{{"text", text}}); }

// In the words of `coxswain events --json`.
std::string log_json(core::event const& e) { return serialized(status_page::object_of(e)); }

log::log(log_options const& how, std::string const& pattern)
    : is_json_{how.format == "json"},
      output_{std::make_shared<output>(formatter_for(how, pattern))} {
  spdlog::init_thread_pool(lines_queued_max, 1);
  auto const made = [&](char const* name) {
    auto logger = std::make_shared<spdlog::async_logger>(
        name, output_, spdlog::thread_pool(), spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(spdlog::level::from_str(how.level));
    return logger;
  };
  events_ = made(events_name);
  spdlog::register_logger(events_);
  spdlog::set_default_logger(made("coxswain"));
}

// Of all loggers that are registered.
void log::set_level(std::string const& level) { spdlog::set_level(spdlog::level::from_str(level)); }

log::~log() {
  output_->end();
  spdlog::shutdown();
}

void log::drain() const {
  output_->forget_flush();
  events_->flush();  // queued behind the lines of all loggers
  static_cast<void>(output_->await_flush());
}

std::function<void(core::event const&)> log::sink() const {
  return [events = events_, is_json = is_json_](core::event const& e) {
    auto const level = level_of(e.level);
    if (!events->should_log(level)) return;
    events->log(level, is_json ? log_json(e) : harmless_line(e.text));
  };
}

}  // namespace coxswain::tools
