// A stream of bytes and the pieces in which it comes, for the frame decoder.

#include "tests/fuzz/targets/target.hpp"
#include "tests/fuzz/wire_checks.hpp"

namespace coxswain::test {

void try_input(std::string_view input) {
  // The first bytes say how the others are cut up.
  auto const cuts = input.substr(0, input.size() / 4);
  random_source rng{cuts};
  auto const limit = rng.upto(2'000);
  wire::check_pieces(rng, input.substr(cuts.size()), limit);
}

}  // namespace coxswain::test
