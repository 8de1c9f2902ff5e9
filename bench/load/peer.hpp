#pragma once
// The requests to a kind of server, and the checks of its answers: workloads are written in the
// coordinator's terms, independent of the server. Not here: sockets and clocks.

#include "load/frames.hpp"

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

enum class verdict {
  answer,   // to a request
  beat,     // to a heartbeat
  push,     // something else that needs nothing
  respond,  // something else: send a heartbeat, though there may be answers to come
};

// How a request is sent.
struct asking {
  std::size_t connection{};
  std::optional<task_id> task;
  // When it is sent, at most so many of the connection's requests before it have no answer yet.
  std::uint64_t unanswered{};
  // Which of those that are expected the answer will be like.
  std::size_t model{};
  // It is answered at once even by a baseline that answers many requests together.
  bool is_alone{};
};

inline constexpr std::uint64_t all_unanswered = std::numeric_limits<std::uint64_t>::max();

// Whether a request is numbered, and its answer with it: not so handshakes and heartbeats.
[[nodiscard]] bool is_numbered(core::request const& what);

class peer {
 public:
  virtual ~peer() = default;

  // Whether the server knows of sessions and membership, or only of bytes.
  [[nodiscard]] virtual bool has_sessions() const noexcept { return false; }

  // Whether a session begins with a hello.
  [[nodiscard]] virtual bool has_hello() const noexcept { return true; }

  // So many requests of a connection are made before they are sent, at most.
  [[nodiscard]] virtual std::uint64_t prepared_max() const noexcept {
    return std::numeric_limits<std::uint64_t>::max();
  }

  // Whether it stores what is put.
  [[nodiscard]] virtual bool has_keys() const noexcept { return has_sessions(); }

  // A new connection, without a session, under a number that may have been used before.
  virtual void open(std::size_t /*connection*/) {}

  // Finds the server's frames on the connection that was opened last under this number.
  [[nodiscard]] virtual std::shared_ptr<frame_source> reader(std::size_t connection);

  // Appends the first messages of a new connection, and returns the number of answers.
  virtual std::size_t introduce(std::string& /*out*/, std::size_t /*connection*/) { return 0; }

  // Whether clients leave calls open while their tasks live. If so, `watch_tasks_args` must be
  // asked first, once all have joined.
  [[nodiscard]] virtual bool has_background_calls() const noexcept { return false; }

  // Appends those of a connection, and returns the number of answers.
  virtual std::size_t append_background_calls(std::string& /*out*/, std::size_t /*connection*/) {
    return 0;
  }

  // From here on answers are to be such as one of these: of its kind and about its size; or a
  // failure, of its code.
  virtual void expect(std::vector<core::answer> models) = 0;

  // Appends the frame of a request.
  virtual void ask(std::string& out, asking const& how, core::request what) = 0;

  // Judges a frame. Throws bench_error if it is a refusal or nonsense.
  [[nodiscard]] virtual verdict judge(received_frame const& frame) = 0;

  // All requests are answered. Throws bench_error if others were answered than had been asked.
  virtual void settle() {}

  // Send a heartbeat, an empty request, after this long a silence. Zero if the server needs none.
  [[nodiscard]] virtual duration beat_period() const noexcept { return {}; }
};

// Speaks the protocol of Coxswain. `tasks` is how many the job must have; zero: any number.
[[nodiscard]] std::unique_ptr<peer> make_coxswain_peer(std::uint32_t tasks);

// Speaks the protocol of XLA's coordination service to it, by gRPC. That knows no observers: if
// `observes`, the first connection registers as the job's only task.
[[nodiscard]] std::unique_ptr<peer> make_xla_peer(bool observes);

// Speaks to the baseline, with requests and answers of the very sizes that the other peer's have.
[[nodiscard]] std::unique_ptr<peer> make_baseline_peer();

// How Redis is used.
struct redis_plan {
  std::uint32_t tasks{};           // that meet at a barrier; zero: there is none
  std::uint32_t subscribers{};     // the first connections: they wait for what is published
  std::uint64_t gathered_bytes{};  // that each brings to the barrier, for all; zero: none
  bool sums{};                     // all get the sum of what they bring to the barrier
};

// Speaks the protocol of Redis.
[[nodiscard]] std::unique_ptr<peer> make_redis_peer(redis_plan plan);

}  // namespace coxswain::bench
