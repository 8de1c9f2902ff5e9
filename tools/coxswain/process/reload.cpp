#include "process/reload.hpp"

#include "child/ending_signals.hpp"
#include "options/subcommand.hpp"
#include "options/token.hpp"
#include "process/log.hpp"
#include "process/machine.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// What was read: all of it is right.
struct readings {
  std::optional<std::vector<core::credential>> credentials;
  std::optional<std::string> log_level;
};

readings reread(coordinator_options const& given) {
  readings all;
  if (!given.token_file.empty()) all.credentials = read_credentials(given.token_file);
  all.log_level = given.command->reread("--log-level");
  if (all.log_level) check_log_level(*all.log_level);
  return all;
}

void report(coordinator_options const& given, readings const& now) {
  if (now.log_level) log::set_level(*now.log_level);
  if (auto const why = exposure_of(given.token_file); !why.empty()) spdlog::warn(why);
  spdlog::info("SIGHUP: {}; {}",
               given.token_file.empty() ? "there is no --token-file"
                                        : fmt::format("read '{}' again", given.token_file),
               now.log_level ? fmt::format("log level {}", *now.log_level)
                             : "the log level is unchanged (no --config file sets it)");
}

void report(std::exception const& problem) {
  spdlog::error("SIGHUP: nothing was changed: {}", problem.what());
}

}  // namespace

std::optional<std::vector<core::credential>> reload(coordinator_options const& given,
                                                    server::server& coordinator,
                                                    status_page::page* page,
                                                    job_registration& registered) try {
  auto now = reread(given);
  coordinator.reload_certificates();
  if (page != nullptr) page->reload_certificates();
  if (now.credentials) {
    status const done = coordinator.put_in(core::credentials_replaced{*now.credentials});
    if (!done.ok()) throw error{done};
    if (page != nullptr) page->replace_credentials(*now.credentials);
    registered.replace_token(core::worker_token(*now.credentials));
  }
  report(given, now);
  return std::move(now.credentials);
} catch (std::exception const& problem) {
  report(problem);
  return std::nullopt;
}

void reload(coordinator_options& given, server::standby& waiting,
            status_page::standby_page* page) try {
  auto const now = reread(given);
  if (now.credentials) {
    if (status why = core::check(*now.credentials); !why.ok()) throw error{std::move(why)};
  }
  waiting.reload_certificates();
  if (page != nullptr) page->reload_certificates();
  if (now.credentials) {
    given.replace_credentials(*now.credentials);
    waiting.replace_credentials(*now.credentials);
    if (page != nullptr) page->replace_credentials(*now.credentials);
  }
  report(given, now);
} catch (std::exception const& problem) {
  report(problem);
}

hangup::hangup(asio::io_context& io, std::function<void()> reload, std::function<void()> end)
    : had_terminal_{has_terminal()},
      signals_{io},
      reload_{std::move(reload)},
      end_{std::move(end)} {
  if (is_ignored(SIGHUP)) return;
  signals_.add(SIGHUP);
  await();
}

void hangup::await() {
  signals_.async_wait([this](boost::system::error_code problem, int) {
    if (problem) return;
    bool const terminal_is_gone = had_terminal_ && !has_terminal();
    terminal_is_gone ? end_() : reload_();
    await();
  });
}

}  // namespace coxswain::tools
