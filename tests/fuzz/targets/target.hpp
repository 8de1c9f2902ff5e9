#pragma once
// One thing to be fuzzed. Each target is a program: with libFuzzer (the preset `fuzz`) it looks for
// inputs, and otherwise it tries again those of its corpus.

#include "tests/fuzz/random_source.hpp"

#include <string_view>

namespace coxswain::test {

// Whatever the bytes are, it returns, and nothing is wrong: else it reports.
void try_input(std::string_view input);

}  // namespace coxswain::test
