#pragma once
// What a load found in one sample, and the watch it is timed with. Not here: what the operating
// system knows of it (side).

#include "report/figures.hpp"

#include "coxswain/base/time.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <time.h>

namespace coxswain::bench {

// Plain values as bytes, for another process of the same program.
template <class Value>
void append_raw(std::string& out, Value const& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  out.append(reinterpret_cast<char const*>(&value), sizeof value);
}

template <class Value>
[[nodiscard]] std::string raw(Value const& value) {
  std::string bytes;
  append_raw(bytes, value);
  return bytes;
}

// Takes the value off the front of `from`; what is not there is zero.
template <class Value>
[[nodiscard]] Value take_raw(std::string_view& from) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value{};
  if (from.size() < sizeof value) {
    from = {};
    return value;
  }
  std::memcpy(&value, from.data(), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

[[nodiscard]] inline time_point now() { return std::chrono::steady_clock::now(); }

[[nodiscard]] inline duration of_seconds(double seconds) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{seconds});
}

struct tally {
  // A part of the sample, if it has parts that are told apart.
  struct part {
    duration elapsed{};
    duration server_cpu{};  // zero if the server's process is not known
  };

  std::vector<histogram> latencies;  // as many as the workload names, in its order
  std::uint64_t operations{};        // what CPU time is divided by
  duration elapsed{};                // while the clock ran
  duration busy{};                   // the load's own CPU time in it
  std::vector<part> parts;           // as many as the workload names, in its order

  // For another process of the same program.
  [[nodiscard]] std::string to_bytes() const;
  [[nodiscard]] static tally from_bytes(std::string_view from);
};

// Measures what passes between its making and `stop`: time, and CPU time of this process.
class stopwatch {
 public:
  void stop(tally& into) const {
    into.elapsed += now() - begun_;
    into.busy += cpu_time() - cpu_begun_;
  }

 private:
  static duration cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
  }

  duration cpu_begun_{cpu_time()};
  time_point begun_{now()};
};

}  // namespace coxswain::bench
