#pragma once
// Rules for the wire layer's decoders, for any input. Reports violations.

#include "tests/fuzz/random_source.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::wire {

// Decodes the payload as a request and as an answer: memory is proportional to the payload, the
// result survives a round trip, and Protobuf decodes the same. True if either succeeded.
bool survives_in_some_direction(std::string const& payload);

// Decodes the payload as a message about routes; if that succeeds, the result must survive a round
// trip, and its lists end. True if it succeeded.
bool survives_as_routed(std::string_view payload);

// A stream has the same frames in any fragmentation, and no buffer is larger than the input
// justifies.
void check_pieces(test::random_source& rng, std::string_view stream, std::size_t limit);

}  // namespace coxswain::wire
