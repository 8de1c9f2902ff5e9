#include "python/native/errors.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/asio.hpp"
#include "python/native/answers.hpp"

#include <string>
#include <utility>

namespace coxswain::python {
namespace {

// Lives as long as the interpreter; after that there are no exceptions either.
PyObject* factory = nullptr;

py::object made(errc code, std::string const& text, py::object details) {
  if (factory == nullptr) return py::reinterpret_borrow<py::object>(PyExc_RuntimeError)(text);
  return py::reinterpret_borrow<py::object>(factory)(static_cast<int>(code), text,
                                                     std::move(details));
}

py::object exception_of(error const& e) {
  py::object details = py::none();
  if (e.details()) details = given(*e.details());
  return made(e.outcome().code(), e.outcome().message(), std::move(details));
}

void raise(py::object const& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

void translate(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (error const& e) {
    raise(exception_of(e));
  } catch (boost::system::system_error const& e) {
    raise(exception_for(failure));
  }
}

}  // namespace

py::object exception_for(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (error const& e) {
    return exception_of(e);
  } catch (boost::system::system_error const& e) {
    if (e.code() == asio::error::operation_aborted) {
      return made(errc::cancelled, "the call was taken back", py::none());
    }
    return made(errc::unknown, e.what(), py::none());
  } catch (std::exception const& e) {
    return made(errc::internal, e.what(), py::none());
  }
}

void raise_and_throw(py::object const& exception) {
  raise(exception);
  throw py::error_already_set();
}

void bind_errors(py::module_& into) {
  into.def("set_error_factory", [](py::object make) {
    Py_XDECREF(factory);
    factory = make.release().ptr();
  });
  py::register_exception_translator(translate);
}

}  // namespace coxswain::python
