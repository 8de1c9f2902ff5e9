#pragma once
// What must hold of the wire layer's decoders, whatever bytes come. Reports a violation of what
// does not.

#include "tests/fuzz/chance.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::wire {

// True if the payload is a request that is decoded without Protobuf, which must understand it, too,
// and in the same way.
bool is_understood_quickly(std::string_view payload);

// Decodes the payload as a request, also in the quick way, and as an answer: that takes memory in
// proportion to it, and what was understood survives the way back. True if it was understood as
// either.
bool survives_in_some_direction(std::string const& payload);

// Whatever pieces a stream comes in, the same frames are found in it, and no buffer is larger than
// what has come justifies.
void check_pieces(test::dice& chance, std::string_view stream, std::size_t limit);

}  // namespace coxswain::wire
