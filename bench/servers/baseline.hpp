#pragma once
// The baseline: the minimum that a server on epoll can do for a job. No Protobuf, no Asio, no
// sessions, no timers, no checks: it counts requests, and answers each after a given number of
// them.
//
// A frame is a length in four bytes, big-endian, and a payload. The first four bytes of a request's
// payload are the length of its answer's payload; the rest is opaque. So the load transfers exactly
// as many bytes as with the coordinator.

#include "load/address.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace coxswain::bench {

// A request may ask for an immediate answer.
inline constexpr std::size_t baseline_answer_at_once = 0x8000'0000;

// The minimum payload of a request: the length of its answer.
inline constexpr std::size_t baseline_request_bytes_min = 4;

// Serves until the process is killed. `together` requests are answered together, in their order; 1
// is request and reply. `listening` is called once with the address that can be connected to.
// Throws bench_error.
[[noreturn]] void serve_baseline(address at, std::size_t together,
                                 std::function<void(std::string const&)> const& listening);

}  // namespace coxswain::bench
