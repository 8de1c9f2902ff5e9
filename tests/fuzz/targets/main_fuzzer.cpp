// The entry of a target that libFuzzer drives.

#include "tests/fuzz/targets/target.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coxswain::test::try_input({reinterpret_cast<char const*>(data), size});
  return 0;
}
