#pragma once
// A running digest of what a core says, for recordings: a replay that comes to the same one says
// the same (recorder, replay). It is made of the kinds of all messages and events, in their order,
// of whom they are for or about, and of their codes, numbers and names. Not of texts for people,
// of values (of these the size), secrets, versions of the program and bytes of memory: these may
// differ between two programs that do the same, or are not in a recording.

#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <vector>

namespace coxswain::server {

class running_digest {
 public:
  // Each returns sixteen bits of the digest of all that was added so far.
  std::uint16_t add(core::outgoing const& message);
  std::uint16_t add(core::event const& what);

  // The message that was last added may exist no longer: another one may lie in its place.
  void forget() noexcept { last_ = nullptr; }

 private:
  std::uint64_t state_{1};
  core::answer const* last_{};  // one answer may go to many
  std::uint64_t of_last_{};
};

}  // namespace coxswain::server
