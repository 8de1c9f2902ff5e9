#pragma once
// Each operation is defined once, as a function that makes of Python's arguments what is to run on
// the client's thread, and is offered twice: `name(arguments)` blocks, and
// `begin_name(mailbox, number, arguments)` returns at once.

#include "python/native/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace coxswain::python {

using session_class = py::class_<session, std::shared_ptr<session>>;

// An argument that is taken as it is: 3.5 is no whole number, whatever its type.
template <class>
py::arg exact() {
  return py::arg().noconvert();
}

template <class Make, class Start, class... Arguments>
void offer_as(session_class& of, char const* name, Make make, Start (Make::*)(Arguments...) const) {
  of.def(
      name,
      [make](session& self, Arguments... arguments) {
        return self.ask(make(std::move(arguments)...));
      },
      exact<Arguments>()...);
  auto const begin = "begin_" + std::string{name};
  of.def(
      begin.c_str(),
      [make](session& self, std::shared_ptr<mailbox> to, std::uint64_t number,
             Arguments... arguments) {
        return self.begin(make(std::move(arguments)...), std::move(to), number);
      },
      py::arg(), py::arg(), exact<Arguments>()...);
}

// `make` is a lambda.
template <class Make>
void offer(session_class& of, char const* name, Make make) {
  offer_as(of, name, make, &Make::operator());
}

}  // namespace coxswain::python
