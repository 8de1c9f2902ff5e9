#pragma once
// How much of the core's memory each session and each kind of session may hold in parked requests,
// kept replies and open rounds, so that observers of a job cannot take what its tasks need. Not
// here: the total (memory_meter).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace coxswain::core {

// Which share a session belongs to.
enum class share_kind : std::uint8_t {
  reader,    // of that role
  observer,  // of another role, but it acts for no task
  task       // it acts for tasks
};

inline constexpr std::size_t share_kinds = 3;

// What one session holds.
struct share {
  std::size_t held{};
  share_kind kind{share_kind::observer};
};

class shares {
 public:
  void add(share& of, std::size_t bytes) noexcept {
    of.held += bytes;
    held_[static_cast<std::size_t>(of.kind)] += bytes;
  }
  void subtract(share& of, std::size_t bytes) noexcept {
    of.held -= bytes;
    held_[static_cast<std::size_t>(of.kind)] -= bytes;
  }
  void move(share& of, share_kind to) noexcept {
    held_[static_cast<std::size_t>(of.kind)] -= of.held;
    of.kind = to;
    held_[static_cast<std::size_t>(to)] += of.held;
  }

  // The bytes that all sessions of a kind hold.
  [[nodiscard]] std::size_t held_by(share_kind kind) const noexcept {
    return held_[static_cast<std::size_t>(kind)];
  }

  // RESOURCE_EXHAUSTED: with this many more bytes the session would exceed its limit; one item is
  // always allowed. `memory` is the core's.
  [[nodiscard]] static status own_room(share const& of, std::size_t more,
                                       memory_meter const& memory);

  // RESOURCE_EXHAUSTED: the same for all sessions of its kind together.
  [[nodiscard]] status common_room(share const& of, std::size_t more,
                                   memory_meter const& memory) const;

 private:
  std::array<std::size_t, share_kinds> held_{};
};

}  // namespace coxswain::core
