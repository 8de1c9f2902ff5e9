#pragma once
// How the public calls wait for answers. Not here: the calls (client, client_keys, key_watch).

#include "coxswain/base/error.hpp"
#include "coxswain/client/connection.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <memory>
#include <variant>

namespace coxswain {

using connection_ptr = std::shared_ptr<connection>;

// What the calls without a timeout wait at the most.
inline constexpr duration patience = core::timeout_default;

class client;

// For who passes requests on as they are. Nothing if the client has no session.
connection_ptr const& connection_of(client const& of);

// FAILED_PRECONDITION: there is none.
void need_session(connection_ptr const& at);

asio::awaitable<core::answer> ask(connection_ptr at, question q);

void throw_unless_ok(core::answer const& a);

template <class Value>
Value& value_of(core::answer& a) {
  throw_unless_ok(a);
  if (auto* value = std::get_if<Value>(&a.value)) return *value;
  throw error{status{errc::internal, "the coordinator's answer does not fit the question"}};
}

// Of a question whose answer says nothing but its outcome.
asio::awaitable<void> nothing(asio::awaitable<core::answer> pending);

}  // namespace coxswain
