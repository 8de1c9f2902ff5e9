// A session of HTTP/2, whose peer and whose owner the bytes are.

#include "tests/fuzz/http2_world.hpp"
#include "tests/fuzz/targets/target.hpp"

namespace coxswain::test {

void try_input(std::string_view input) {
  random_source rng{input};
  constexpr std::size_t steps_max = 1'000;
  if (rng.one_in(2)) {
    http2::try_server(rng, steps_max);
  } else {
    http2::try_client(rng, steps_max);
  }
}

}  // namespace coxswain::test
