#pragma once
// What the coordinator tells its log: state changes, as they happen.

#include <cstdint>
#include <string>

namespace coxswain::core {

enum class severity : std::uint8_t { info, warning, error };

struct event {
  severity level{severity::info};
  std::string text;
};

}  // namespace coxswain::core
