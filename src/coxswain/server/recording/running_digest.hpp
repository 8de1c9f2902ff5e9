#pragma once
// A running digest of a core's output, for recordings: a replay with the same digest had the same
// output (recorder, replay). It covers the kinds of all messages and events, in order, their
// recipients and tasks, and their codes, numbers and names. It does not cover texts for people,
// values (only their size), secrets, versions of the program and bytes of memory: these can differ
// between equivalent programs, or are not in a recording.

#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <vector>

namespace coxswain::server {

class running_digest {
 public:
  // Each returns sixteen bits of the digest so far.
  std::uint16_t add(core::outgoing const& message);
  std::uint16_t add(core::event const& what);

  // The message added last may no longer exist, and its address may be reused.
  void forget() noexcept { last_ = nullptr; }

 private:
  std::uint64_t state_{1};
  core::answer const* last_{};  // one answer may go to many
  std::uint64_t of_last_{};
};

}  // namespace coxswain::server
