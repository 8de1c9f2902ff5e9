#pragma once
// Each operation is defined once, as a function that converts Python's arguments to the work for
// the client's thread, and is offered twice: `name(arguments)` blocks, and `begin_name(mailbox,
// number, arguments)` returns at once.

#include "python/native/arguments.hpp"
#include "python/native/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace coxswain::python {

using session_class = py::class_<session, std::shared_ptr<session>>;

template <class Make, class Start, class... Arguments>
void offer_as(session_class& of, char const* name, Make make, Start (Make::*)(Arguments...) const) {
  of.def(name, [make, name = std::string{name}](session& self, py::args const& given) {
    return self.ask(with_arguments<Arguments...>(name, given, make));
  });
  auto const begin = "begin_" + std::string{name};
  of.def(
      begin.c_str(), [make, name = std::string{name}](session& self, std::shared_ptr<mailbox> to,
                                                      std::uint64_t number, py::args const& given) {
        return self.begin(with_arguments<Arguments...>(name, given, make), std::move(to), number);
      });
}

// `make` is a lambda.
template <class Make>
void offer(session_class& of, char const* name, Make make) {
  offer_as(of, name, make, &Make::operator());
}

}  // namespace coxswain::python
