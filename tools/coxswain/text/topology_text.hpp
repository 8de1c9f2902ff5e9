#pragma once
// Devices as a file lists them, and the topology of a job for people or for programs.

#include "coxswain/core/model/topology.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// A JSON array of objects whose fields are named as those of core::device. Throws program_error
// (usage): it is malformed; the text names `file`.
[[nodiscard]] std::vector<core::device> devices_in(std::string_view content,
                                                   std::string const& file);

// A table of devices in the order of their ids.
[[nodiscard]] std::string topology_text(core::global_topology const& whole);

// On one line, without its end.
[[nodiscard]] std::string topology_json(core::global_topology const& whole);

}  // namespace coxswain::tools
