#pragma once
// The agent's texts for times and calls.

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <string>

namespace coxswain::detail {

// "300 s", "1.5 s", "20 ms", "no limit".
[[nodiscard]] std::string text_of(duration time);

// "barrier 'epoch-7'", "get of key 'addr/3'", "join". Long names are cut.
[[nodiscard]] std::string text_of(core::request const& what);

}  // namespace coxswain::detail
