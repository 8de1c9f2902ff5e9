#pragma once
// Each operation is defined once, as a function of the client and of Python's arguments, and is
// offered twice: `name(arguments)` blocks, with `within=seconds` at most so long, and
// `begin_name(mailbox, number, arguments)` returns at once. The arguments are converted at once;
// the client's thread calls the function.

#include "coxswain/client/asking.hpp"
#include "python/native/arguments.hpp"
#include "python/native/grant.hpp"
#include "python/native/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coxswain::python {

using session_class = py::class_<session, std::shared_ptr<session>>;

// `call` with Python's arguments, for a client that is still to be given.
template <class... Arguments, class Call>
auto prepared(std::string const& name, py::args const& given, Call call) {
  return with_arguments<Arguments...>(name, given, [&](auto... each) {
    std::tuple<std::remove_cvref_t<Arguments>...> kept{std::move(each)...};
    return [call, kept = std::move(kept)](auto& c) {
      return std::apply([&](auto const&... all) { return call(c, all...); }, kept);
    };
  });
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

template <class Call, class Result, class On, class... Arguments>
void offer_as(session_class& of, char const* name, Call call,
              Result (Call::*)(On&, Arguments...) const) {
  auto const prepare = [call, name = std::string{name}](py::args const& given) {
    if constexpr (std::is_same_v<On, client>) {
      return prepared<Arguments...>(name, given, call);
    } else {
      auto const count = static_cast<Py_ssize_t>(given.size());
      auto const rest = py::reinterpret_steal<py::args>(PyTuple_GetSlice(given.ptr(), 1, count));
      return claimed(prepared<Arguments...>(name, rest, call), py::cast<grant const&>(given[0]));
    }
  };
  of.def(name, [prepare, name = std::string{name}](session& self, py::args const& given,
                                                   py::kwargs const& how) {
    auto const limit = how.empty() ? without_limit : duration_of(py::object{how["within"]});
    return self.ask(prepare(given), name, limit);
  });
  auto const begin = "begin_" + std::string{name};
  of.def(begin.c_str(), [prepare](session& self, std::shared_ptr<mailbox> to, std::uint64_t number,
                                  py::args const& given) {
    return self.begin(prepare(given), std::move(to), number);
  });
}

// `call` is a lambda (client&, Arguments...). For an operation that hands over a lock or an item it
// is a lambda (detail::client_calls const&, Arguments...), and Python's first argument is a Grant.
template <class Call>
void offer(session_class& of, char const* name, Call call) {
  offer_as(of, name, call, &Call::operator());
}

}  // namespace coxswain::python
