#pragma once
// Encodes answers, and each one that goes to many only once. Not here: sending (outbox).

#include "coxswain/core/model/messages.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace coxswain::server {

// A reply's bytes after its id, in up to three consecutive pieces: small ones are copied, large
// ones are shared.
struct encoded_reply {
  std::string copied;
  bytes shared;  // a large body, such as a listing; `copied` is empty then
  bytes tail;    // a large value (wire::encode)

  [[nodiscard]] std::size_t size() const noexcept {
    return copied.size() + shared.size() + tail.size();
  }
};

class encoder {
 public:
  // From this size on, bodies are referred to instead of copied.
  static constexpr std::size_t shared_bytes_min = 4 * 1024;

  // Large bodies are counted by `memory` while they are in transit.
  explicit encoder(meter_ptr memory) : memory_{std::move(memory)} {}

  // Valid until the next call of anything here.
  [[nodiscard]] encoded_reply const& encode(core::answer_ptr const& what);

  // Releases cached answers, so that none lives longer because of them.
  void forget() {
    if (next_ != 0) forget_all();
  }

 private:
  struct remembered {
    core::answer_ptr what;
    encoded_reply reply;  // whose small memory is kept for the next
  };

  void forget_all();

  meter_ptr memory_;
  std::array<remembered, 4> last_;  // of one iteration, so few different ones come mixed
  std::size_t next_{};
};

}  // namespace coxswain::server
