#pragma once
// Each operation is defined once, as a function that converts Python's arguments to the work for
// the client's thread, and is offered twice: `name(arguments)` blocks, with `within=seconds` at
// most so long, and `begin_name(mailbox, number, arguments)` returns at once.

#include "coxswain/client/asking.hpp"
#include "python/native/arguments.hpp"
#include "python/native/grant.hpp"
#include "python/native/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace coxswain::python {

using session_class = py::class_<session, std::shared_ptr<session>>;

template <class Make, class Start, class... Arguments>
void offer_as(session_class& of, char const* name, Make make, Start (Make::*)(Arguments...) const) {
  of.def(name, [make, name = std::string{name}](session& self, py::args const& given,
                                                py::kwargs const& how) {
    auto const limit = how.empty() ? without_limit : duration_of(py::object{how["within"]});
    return self.ask(with_arguments<Arguments...>(name, given, make), name, limit);
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

// Starts a call whose result is given back unless the claim is settled.
template <class Call>
auto claimed(Call call, grant const& by) {
  return [call = std::move(call), claim = by.claim()](client& c) {
    detail::client_calls const calls{detail::connection_of(c)};
    auto started = call(calls);
    started->claim_with(claim);
    return detail::initiation{calls.at()->executor(), nullptr}.awaited(std::move(started));
  };
}

template <class Make, class Call, class... Arguments>
void offer_grant_as(session_class& of, char const* name, Make make,
                    Call (Make::*)(Arguments...) const) {
  of.def(name,
         [make, name = std::string{name}](session& self, grant const& by, py::args const& given) {
           return self.ask(claimed(with_arguments<Arguments...>(name, given, make), by), name);
         });
  auto const begin = "begin_" + std::string{name};
  of.def(begin.c_str(), [make, name = std::string{name}](session& self, std::shared_ptr<mailbox> to,
                                                         std::uint64_t number, grant const& by,
                                                         py::args const& given) {
    return self.begin(claimed(with_arguments<Arguments...>(name, given, make), by), std::move(to),
                      number);
  });
}

// The same for an operation that hands over a lock or an item: its first argument is a Grant. What
// `make` returns takes the client's calls.
template <class Make>
void offer_grant(session_class& of, char const* name, Make make) {
  offer_grant_as(of, name, make, &Make::operator());
}

}  // namespace coxswain::python
