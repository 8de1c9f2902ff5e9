// coxswain topology: the devices of the whole job.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "process/machine.hpp"
#include "text/topology_text.hpp"

#include "coxswain/client/host_topology.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::tools {
namespace {

struct topology_command {
  std::string platform;
  std::string devices_file;
  std::optional<std::uint32_t> partition;
  duration timeout{core::timeout_default};
  bool as_json{};
};

core::local_topology own_topology(topology_command const& given) {
  auto mine = local_topology_of_this_host();
  mine.partition_index = given.partition;
  if (given.devices_file.empty()) return mine;
  mine.devices = devices_in(read_file(given.devices_file, "--devices"), given.devices_file);
  return mine;
}

asio::awaitable<void> exchange(client& c, topology_command const& given) {
  auto mine = own_topology(given);
  auto const whole = co_await c.exchange_topology(given.platform, std::move(mine), given.timeout);
  fmt::print("{}", given.as_json ? topology_json(whole) + "\n" : topology_text(whole));
}

constexpr auto topology_footer =
    R"(Adds data about this machine from the kernel and XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES. FILE
is a JSON array of objects; each field is optional:
  [{"ordinal": 0, "name": "gpu-0", "vendor": "v", "kind": "k",
    "compute_capability": "9.0", "core_count": 132, "numa_node": 0,
    "fabric_uuid": "u", "memory_bytes": 85899345920,
    "shared_memory_per_block_bytes": 49152, "text": "t", "debug_text": "d",
    "attributes": {"clock": 1980, "slots": [0, 1]}}]
The result numbers all devices of the job. It does not change: later calls return at once.

EXAMPLE
  coxswain topology gpu --devices gpus.json --json |
      jq '[.[].devices[].global_id] | length'

)";

}  // namespace

void add_topology(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "topology", "Exchanges the devices of all tasks, and prints the global topology",
      chosen, exchange);
  auto& given = command.given;
  command
      .add_option("PLATFORM", given.platform,
                  "Kind of devices, such as gpu; the same for all tasks")
      ->required();
  command
      .add_option("--devices", given.devices_file, "File with this task's devices (default: none)")
      ->type_name("FILE");
  add_number(command, "--partition", given.partition, 0,
             "Partition of the devices; given by all tasks or by none",
             std::numeric_limits<std::uint32_t>::max());
  add_timeout(command, "--timeout", given.timeout);
  command.add_flag("--json", given.as_json, "One JSON array on one line, for programs");
  command.name_variables();
  command.footer(task_help_end(topology_footer));
}

}  // namespace coxswain::tools
