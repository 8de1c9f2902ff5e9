#pragma once
// The service for JAX processes with a real core, and clients that make valid and invalid calls
// over connections that come and go.

#include "tests/fuzz/random_source.hpp"

#include <string>

namespace coxswain::xla {

// One run of some hundred steps, chosen by `rng`. Reports a violation of these rules: core and
// xla_service are consistent after each step; each call has one reply, and none that was cancelled
// or lost its connection; an error fits into trailers; once all connections are closed, nothing is
// left and no memory is counted. Returns xla_service's output.
std::string run_xla_service_world(test::random_source rng);

}  // namespace coxswain::xla
