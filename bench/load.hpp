#pragma once
// The client side of N tasks, each on a connection of its own: one thread on epoll. It sends what
// its peer makes and measures when the answers are complete.

#include "address.hpp"
#include "peer.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/wire/frame.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace coxswain::bench {

struct round_time {
  std::int64_t release_ns{};  // from the last arrival's send to the last release received
  std::int64_t round_ns{};    // from the first arrival's send to the last release received
};

class load {
 public:
  load(address server, std::uint32_t tasks, std::unique_ptr<peer> speaks);

  // Connects all tasks, says hello and joins. `progress` is told how many are connected. Throws
  // bench_error, as all that follow: the server refuses, closes a connection, or is silent too
  // long.
  void connect(std::function<void(std::uint64_t)> const& progress);

  // Every task arrives, in order, and all are released.
  round_time round();

  // Every task shows that it lives; to be called when the load was idle for `beat_period`, which is
  // zero if the server needs no such thing.
  void beat();
  [[nodiscard]] duration beat_period() const noexcept { return peer_->heartbeat_period(); }

  // Every task leaves the job, and its session ends.
  void leave();

 private:
  struct task {
    descriptor socket;
    wire::frame_decoder frames;
    std::uint64_t answered{};  // the last exchange that it got its answer in
  };

  round_time run(exchange what, std::size_t first, std::size_t end);
  time_point send_all(std::size_t first, std::size_t end);
  time_point await_all(exchange what, std::size_t count);
  void read(std::size_t index);
  void take_frames(std::size_t index, std::string_view input);
  void send(std::size_t index, std::string_view frame);
  [[noreturn]] void fail(std::size_t index, std::string const& why) const;

  connector connector_;
  std::uint32_t count_;
  std::unique_ptr<peer> peer_;
  descriptor epoll_;
  std::vector<task> tasks_;
  std::vector<char> buffer_;
  std::uint64_t exchange_{};  // numbered, to notice a second answer in the same one
  std::size_t waiting_{};     // how many tasks wait for their answer
};

}  // namespace coxswain::bench
