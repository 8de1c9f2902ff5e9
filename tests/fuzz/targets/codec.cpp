// The payload of a frame, for the decoders of both directions.

#include "tests/fuzz/targets/target.hpp"
#include "tests/fuzz/wire_checks.hpp"

#include <google/protobuf/stubs/logging.h>

#include <string>

namespace coxswain::test {

void try_input(std::string_view input) {
  // Protobuf reports wrong UTF-8 on stderr, which is of no interest here.
  static auto* const loud = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(loud);
  wire::survives_in_some_direction(std::string{input});
}

}  // namespace coxswain::test
