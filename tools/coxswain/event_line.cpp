#include "event_line.hpp"

#include "harmless_text.hpp"

#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <chrono>

namespace coxswain::tools {

std::string event_text(core::events_answer::entry const& e) {
  auto const at = std::chrono::floor<std::chrono::milliseconds>(e.at).count();
  return fmt::format("{:>6}.{:03} {:<8}{}", at / 1000, at % 1000,
                     status_page::name_of(e.what.level), harmless_line(e.what.text));
}

}  // namespace coxswain::tools
