#pragma once
// One worker of the quickstart, in a process of its own.

#include "coxswain/net/asio.hpp"

#include <cstdint>

namespace coxswain::tools {

// The barrier that all rounds use; the coordinator shows its number.
inline constexpr auto rounds_barrier = "quickstart/round";

// Joins the job of the environment, learns all workers' devices, exchanges data with its
// neighbours, waits at barriers, leaves its report in a key, and leaves. Throws coxswain::error,
// and program_error when it gets other data than the others sent.
asio::awaitable<void> work(std::uint32_t rounds);

}  // namespace coxswain::tools
