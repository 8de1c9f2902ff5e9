#pragma once
// Random numbers from the kernel, for secrets. The core draws none itself, so that the simulation
// can choose them.

#include "coxswain/base/ids.hpp"
#include "coxswain/core/model/messages.hpp"

namespace coxswain::server {

// Both throw coxswain::error: INTERNAL, the kernel gives no random numbers.
[[nodiscard]] core::session_secret draw_secret();
[[nodiscard]] incarnation draw_incarnation();

}  // namespace coxswain::server
