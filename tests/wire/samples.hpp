#pragma once
// Messages of every type: one with the default of each field, and several random ones, the same in
// each run.

#include "coxswain/wire/codec.hpp"

#include <vector>

namespace coxswain::test {

[[nodiscard]] std::vector<core::client_message> sample_requests();
[[nodiscard]] std::vector<wire::server_message> sample_answers();

// The frame's payload, without its four length bytes.
[[nodiscard]] std::string payload_of(core::client_message const& message);
[[nodiscard]] std::string payload_of(wire::server_message const& message);

}  // namespace coxswain::test
