#pragma once
// A running digest of a core's output, for recordings: a replay with the same digest had the same
// output (recorder, replay). It covers the kinds of all messages and events, in order, their
// recipients and tasks, and every field of their records but texts, values (only their size),
// secrets and bytes of memory: these can differ between equivalent programs, or are not in a
// recording. It is the same on every machine and by every compiler.

#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/recording/hmac_sha256.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace coxswain::server {

class running_digest {
 public:
  using value = std::array<unsigned char, 16>;

  void add(core::outgoing const& message);
  void add(core::event const& what);

  // Whether nothing was added since the last `take`.
  [[nodiscard]] bool empty() const noexcept { return added_.size() == value{}.size(); }
  // Covers all that was ever added.
  [[nodiscard]] value take();

 private:
  hmac_sha256 hash_{"coxswain"};
  std::string added_ = std::string(value{}.size(), '\0');  // the last digest, and what came since
  std::string content_;                                    // of one answer
  core::answer_ptr last_;                                  // one answer may go to many
  std::uint64_t of_last_{};
};

}  // namespace coxswain::server
