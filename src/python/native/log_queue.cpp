#include "python/native/log_queue.hpp"

#include <string>
#include <utility>

namespace coxswain::python {
namespace {

constexpr std::size_t kept_max = 100;

// Python's level numbers.
int level_of(core::severity level) {
  if (level == core::severity::error) return 40;
  return level == core::severity::warning ? 30 : 20;
}

py::str text_of(std::string const& text) {
  auto* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!made) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

}  // namespace

bool log_queue::put(client_event const& what) {
  std::lock_guard const lock{mutex_};
  if (all_.size() == kept_max) all_.pop_front();
  all_.push_back(what);
  return empty_.exchange(false);
}

bool log_queue::log() {
  if (empty_) return true;
  std::deque<client_event> taken;
  {
    std::lock_guard const lock{mutex_};
    taken = std::exchange(all_, {});
    empty_ = true;
  }
  try {
    auto const log = py::module_::import("logging").attr("getLogger")("coxswain").attr("log");
    for (auto const& line : taken) log(level_of(line.level), "%s", text_of(line.text()));
  } catch (py::error_already_set& problem) {
    bool const is_failure = problem.matches(PyExc_Exception);
    problem.restore();
    if (!is_failure) return false;
    PyErr_WriteUnraisable(Py_None);
  }
  return true;
}

}  // namespace coxswain::python
