#include "coxswain/xla/methods.hpp"

#include <algorithm>
#include <array>

namespace coxswain::xla {
namespace {

constexpr std::array<std::string_view, methods> names{
    "RegisterTask", "Heartbeat",      "ShutdownTask",      "WatchTasks",     "InsertKeyValue",
    "GetKeyValue",  "TryGetKeyValue", "IncrementKeyValue", "GetKeyValueDir", "DeleteKeyValue",
    "Barrier",      "CancelBarrier",  "GetAliveTasks",     "PollForError",   "ReportErrorToService",
};

constexpr std::string_view second_service = "/tensorflow.CoordinationService/";
constexpr std::string_view third_service = "/xla.coordination.CoordinationService/";
constexpr std::string_view second_watch = "WatchJobState";

}  // namespace

std::string_view name(method m) noexcept { return names[static_cast<std::size_t>(m)]; }

std::optional<method_path> find_method(std::string_view path) noexcept {
  bool const is_second = path.starts_with(second_service);
  if (!is_second && !path.starts_with(third_service)) return std::nullopt;
  path.remove_prefix(is_second ? second_service.size() : third_service.size());
  auto const of = is_second ? generation::second : generation::third;
  if (is_second && path == second_watch) return method_path{method::watch_tasks, of};
  if (is_second && path == name(method::watch_tasks)) return std::nullopt;
  auto const found = std::find(names.begin(), names.end(), path);
  if (found == names.end()) return std::nullopt;
  return method_path{static_cast<method>(found - names.begin()), of};
}

std::string path_of(method_path which) {
  bool const is_second = which.of == generation::second;
  bool const is_renamed = is_second && which.what == method::watch_tasks;
  std::string path{is_second ? second_service : third_service};
  return path += is_renamed ? second_watch : name(which.what);
}

}  // namespace coxswain::xla
