#pragma once
// What the load says to a kind of server, and how it judges what comes back. The load itself does
// not know with whom it talks. Not here: sockets and clocks (load).

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace coxswain::bench {

// In each, every task sends one frame and is sent one frame; but a bye is not answered.
enum class exchange { hello, join, arrive, leave, bye };

// "a hello's answer", "a release": what a task waits for.
[[nodiscard]] std::string_view awaited(exchange what) noexcept;

enum class verdict {
  answer,   // the frame that the task waited for
  push,     // something else that needs nothing
  respond,  // something else: send a heartbeat
};

class peer {
 public:
  virtual ~peer() = default;

  // Whether the server knows this exchange at all; else it is left out.
  [[nodiscard]] virtual bool knows(exchange what) const noexcept = 0;

  // Makes the frames of all tasks for the next exchange, before the clock runs.
  virtual void prepare(exchange what) = 0;

  // The frame of a task in the prepared exchange, with its length prefix.
  [[nodiscard]] virtual std::string_view frame(std::size_t task) const = 0;

  // Judges a frame without its length prefix. Throws bench_error if it is a refusal or nonsense.
  [[nodiscard]] virtual verdict judge(std::string_view payload) = 0;

  // Every task has the answer of the prepared exchange.
  virtual void settle() = 0;

  // What a task sends as a sign of life, and after how long a silence; zero if it need not.
  [[nodiscard]] virtual std::string_view heartbeat() const noexcept = 0;
  [[nodiscard]] virtual duration heartbeat_period() const noexcept = 0;
};

// Speaks the protocol of Coxswain, as one session for each of `tasks` tasks of one job.
[[nodiscard]] std::unique_ptr<peer> make_coxswain_peer(std::uint32_t tasks);

// Speaks to the floor, with arrivals and releases of the very sizes that the other peer's have.
[[nodiscard]] std::unique_ptr<peer> make_floor_peer(std::uint32_t tasks);

}  // namespace coxswain::bench
