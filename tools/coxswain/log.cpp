#include "log.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <memory>

namespace coxswain::tools {
namespace {

constexpr std::size_t lines_queued_max = 8192;

void write_event(core::event const& e) {
  switch (e.level) {
    case core::severity::info: spdlog::info(e.text); break;
    case core::severity::warning: spdlog::warn(e.text); break;
    case core::severity::error: spdlog::error(e.text); break;
  }
}

}  // namespace

CLI::Option* add_log_level(CLI::App& to, std::string& into) {
  return to.add_option("--log-level", into, "What to log on standard error")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

log::log(std::string const& level, std::string const& pattern) {
  spdlog::init_thread_pool(lines_queued_max, 1);
  auto logger = std::make_shared<spdlog::async_logger>(
      "coxswain", std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  logger->set_pattern(pattern);
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

log::~log() { spdlog::shutdown(); }

std::function<void(core::event const&)> log::sink() const { return write_event; }

}  // namespace coxswain::tools
