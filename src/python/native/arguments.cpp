#include "python/native/arguments.hpp"

#include "coxswain/base/error.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace coxswain::python {
namespace {

// Longer times are unlimited: a duration holds 292 years.
constexpr double seconds_max = 9.0e9;

duration of_seconds(double seconds) {
  if (std::isnan(seconds)) throw py::value_error("a timeout that is not a number");
  if (seconds >= seconds_max) return without_limit;
  if (seconds <= 0) return {};
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds});
}

std::string type_of(py::handle passed) { return Py_TYPE(passed.ptr())->tp_name; }

// An integer of any type; null if it is none.
py::object index_of(py::handle passed) {
  if (!PyIndex_Check(passed.ptr())) return {};
  auto number = py::reinterpret_steal<py::object>(PyNumber_Index(passed.ptr()));
  if (!number) throw py::error_already_set();
  return number;
}

[[noreturn]] void out_of_range(place at, py::handle passed, std::string const& least,
                               std::string const& most) {
  std::string number = py::str(passed);
  if (number.size() > 30) number = "one of " + std::to_string(number.size()) + " digits";
  auto const where = at.number == 0 ? at.name : at.name + "()";
  throw error{{errc::invalid_argument, where + ": a whole number from " + least + " to " + most +
                                           " is wanted, not " + number}};
}

std::string copy_of(char const* begin, Py_ssize_t size) {
  return {begin, static_cast<std::size_t>(size)};
}

std::string text_in(py::handle passed) {
  Py_ssize_t size = 0;
  char const* const begin = PyUnicode_AsUTF8AndSize(passed.ptr(), &size);
  if (begin == nullptr) throw py::error_already_set();
  return copy_of(begin, size);
}

}  // namespace

void place::refuse(char const* what, py::handle passed) const {
  auto const where = number == 0 ? name : name + "(): argument " + std::to_string(number);
  throw py::type_error(where + " is " + what + ", not " + type_of(passed));
}

std::string text_of(place at, py::handle passed) {
  if (PyUnicode_Check(passed.ptr())) return text_in(passed);
  if (PyBytes_Check(passed.ptr())) {
    return copy_of(PyBytes_AS_STRING(passed.ptr()), PyBytes_GET_SIZE(passed.ptr()));
  }
  at.refuse("str", passed);
}

content content_of(place at, py::handle passed) {
  if (PyUnicode_Check(passed.ptr())) return {text_in(passed)};
  if (PyObject_CheckBuffer(passed.ptr()) == 0) at.refuse("str, bytes or a buffer", passed);
  Py_buffer view;
  if (PyObject_GetBuffer(passed.ptr(), &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  content copied{copy_of(static_cast<char const*>(view.buf), view.len)};
  PyBuffer_Release(&view);
  return copied;
}

bool flag_of(place at, py::handle passed) {
  bool const is_numpys = type_of(passed).starts_with("numpy.bool");
  if (!PyBool_Check(passed.ptr()) && !is_numpys) at.refuse("a bool", passed);
  return PyObject_IsTrue(passed.ptr()) == 1;
}

double real_of(place at, py::handle passed) {
  if (!PyFloat_Check(passed.ptr())) at.refuse("a float", passed);
  return PyFloat_AS_DOUBLE(passed.ptr());
}

std::int64_t whole_number_of(place at, py::handle passed, std::int64_t least, std::int64_t most) {
  auto const number = index_of(passed);
  if (!number) at.refuse("a whole number", passed);
  int overflow = 0;
  std::int64_t const value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || value < least || value > most) {
    out_of_range(at, number, std::to_string(least), std::to_string(most));
  }
  return value;
}

std::uint64_t whole_number_of(place at, py::handle passed, std::uint64_t most) {
  auto const number = index_of(passed);
  if (!number) at.refuse("a whole number", passed);
  std::uint64_t const value = PyLong_AsUnsignedLongLong(number.ptr());
  bool const failed = PyErr_Occurred() != nullptr;
  if (failed) PyErr_Clear();  // negative, or too large
  if (failed || value > most) out_of_range(at, number, "0", std::to_string(most));
  return value;
}

duration duration_of(py::handle given) {
  if (given.is_none()) return without_limit;
  if (PyFloat_Check(given.ptr()) || PyLong_Check(given.ptr()) || PyIndex_Check(given.ptr())) {
    double const seconds = PyFloat_AsDouble(given.ptr());
    if (seconds == -1.0 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
      PyErr_Clear();
      return given > py::int_{0} ? without_limit : duration{};
    }
    return of_seconds(seconds);
  }
  if (py::hasattr(given, "total_seconds")) {
    return of_seconds(py::cast<double>(given.attr("total_seconds")()));
  }
  if (py::hasattr(given, "__float__"))
    return of_seconds(py::cast<double>(given.attr("__float__")()));
  throw py::type_error("a timeout is a number of seconds, a timedelta or None, not " +
                       py::cast<std::string>(py::repr(given)));
}

task_ids tasks_of(py::handle given) {
  task_ids tasks;
  if (given.is_none()) return tasks;
  for (py::handle const item : given) {
    if (!PyIndex_Check(item.ptr())) {
      throw py::type_error("a task is a whole number, not " +
                           py::cast<std::string>(py::repr(item)));
    }
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    Py_ssize_t const number = PyNumber_AsSsize_t(item.ptr(), nullptr);  // clamped
    if (number < 0 || number > Py_ssize_t{most}) {
      throw error{{errc::invalid_argument, "there is no task " +
                                               py::cast<std::string>(py::repr(item)) +
                                               ": tasks are numbered from 0"}};
    }
    tasks.push_back(task_id{static_cast<std::uint32_t>(number)});
  }
  return tasks;
}

}  // namespace coxswain::python
