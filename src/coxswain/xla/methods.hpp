#pragma once
// The methods of XLA's coordination service, and the paths by which gRPC names them. Two
// generations of clients are served at once: jaxlib 0.4.36 to 0.9.2 uses the package `tensorflow`,
// 0.10 and later `xla.coordination`, with other field numbers. Not here: the bytes (codec).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::xla {

enum class generation : std::uint8_t { second = 2, third = 3 };

enum class method : std::uint8_t {
  register_task,
  heartbeat,
  shutdown_task,
  watch_tasks,  // WatchJobState of the second generation
  insert_key_value,
  get_key_value,
  try_get_key_value,
  increment_key_value,
  get_key_value_dir,
  delete_key_value,
  barrier,
  cancel_barrier,
  get_alive_tasks,
  poll_for_error,
  report_error,
};
inline constexpr std::size_t methods = static_cast<std::size_t>(method::report_error) + 1;

[[nodiscard]] constexpr bool is_about_keys(method m) noexcept {
  return m >= method::insert_key_value && m <= method::delete_key_value;
}

// The key that JAX's preemption manager waits for as long as the job runs. That wait blocks no
// task.
inline constexpr std::string_view preemption_key = "RECEIVED_PREEMPTION_NOTICE";

// At which JAX's preemption managers agree on a step.
inline constexpr std::string_view preemption_barrier = "PREEMPTION_SYNC_BARRIER";

// The name of the third generation, such as "RegisterTask".
[[nodiscard]] std::string_view name(method m) noexcept;

struct method_path {
  method what{};
  generation of{};
  friend bool operator==(method_path, method_path) = default;
};

// None: this service has no such method.
[[nodiscard]] std::optional<method_path> find_method(std::string_view path) noexcept;

// The reverse, for tests and benchmarks.
[[nodiscard]] std::string path_of(method_path which);

}  // namespace coxswain::xla
