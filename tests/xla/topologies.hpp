#pragma once
// Topologies as JAX processes insert them.

#include "coxswain/xla/fields.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace coxswain::xla::test {

inline std::string local_topology(std::uint32_t node, std::string_view boot_id, unsigned devices) {
  std::string made;
  append_number(made, 1, node);
  append_text(made, 2, boot_id);
  for (unsigned i = 0; i < devices; ++i) {
    std::string device;
    append_number(device, 1, i);
    append_text(device, 2, "cpu");
    append_content(made, 3, device);
  }
  return made;
}

inline std::string global_topology(std::initializer_list<std::string> nodes) {
  std::string made;
  for (std::string const& node : nodes) append_content(made, 1, node);
  return made;
}

}  // namespace coxswain::xla::test
