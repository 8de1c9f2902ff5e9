// The payload of a frame, for the decoders of both directions.

#include "tests/fuzz/targets/target.hpp"
#include "tests/fuzz/wire_checks.hpp"
#include "tests/wire/quiet_protobuf.hpp"

#include <string>

namespace coxswain::test {

void try_input(std::string_view input) {
  static quiet_protobuf const quiet;
  wire::survives_in_some_direction(std::string{input});
  wire::survives_as_routed(input);
}

}  // namespace coxswain::test
