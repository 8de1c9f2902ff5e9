#include "python/native/arguments.hpp"

#include "coxswain/base/error.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace coxswain::python {
namespace {

// What is longer is for ever: 292 years are the end of our time.
constexpr double seconds_max = 9.0e9;

duration of_seconds(double seconds) {
  if (std::isnan(seconds)) throw py::value_error("a timeout that is not a number");
  if (seconds >= seconds_max) return without_limit;
  if (seconds <= 0) return {};
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds});
}

}  // namespace

duration duration_of(py::handle said) {
  if (said.is_none()) return without_limit;
  if (PyFloat_Check(said.ptr()) || PyLong_Check(said.ptr()) || PyIndex_Check(said.ptr())) {
    double const seconds = PyFloat_AsDouble(said.ptr());
    if (seconds == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return of_seconds(seconds);
  }
  if (py::hasattr(said, "total_seconds")) {
    return of_seconds(py::cast<double>(said.attr("total_seconds")()));
  }
  if (py::hasattr(said, "__float__")) return of_seconds(py::cast<double>(said.attr("__float__")()));
  throw py::type_error("a timeout is a number of seconds, a timedelta or None, not " +
                       py::cast<std::string>(py::repr(said)));
}

std::vector<task_id> tasks_of(py::handle said) {
  std::vector<task_id> tasks;
  if (said.is_none()) return tasks;
  for (py::handle const one : said) {
    if (!PyIndex_Check(one.ptr())) {
      throw py::type_error("a task is a whole number, not " + py::cast<std::string>(py::repr(one)));
    }
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    Py_ssize_t const number = PyNumber_AsSsize_t(one.ptr(), nullptr);  // the nearest that there is
    if (number < 0 || number > Py_ssize_t{most}) {
      throw error{{errc::invalid_argument, "there is no task " +
                                               py::cast<std::string>(py::repr(one)) +
                                               ": tasks are numbered from 0"}};
    }
    tasks.push_back(task_id{static_cast<std::uint32_t>(number)});
  }
  return tasks;
}

}  // namespace coxswain::python
