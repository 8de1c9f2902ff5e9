#pragma once
// The descriptor of a socket and its owner. A forked child does not keep it: its copies would hold
// the connections of a parent that was killed open, so that no peer saw them end, and its listening
// ports taken. Not here: reading and writing (byte_stream), other descriptors (descriptor).

#include "coxswain/net/descriptor.hpp"

#include <utility>

namespace coxswain::net {

// From now on fork() replaces the child's copy of this descriptor by one that leads nowhere, until
// `keep_on_fork`, due before the descriptor is closed. The number stays taken in the child,
// so that whatever the child does with its copies of the parent's objects reaches no descriptor of
// its own. Descriptors from 2^20 on are not replaced. vfork and posix_spawn change nothing: what
// they start begins with exec. Any thread may call both functions.
void close_on_fork(int descriptor) noexcept;
void keep_on_fork(int descriptor) noexcept;

class socket {
 public:
  socket() = default;
  // Takes it over; negative: there is none.
  explicit socket(int value) noexcept : descriptor_{value} {
    if (descriptor_) close_on_fork(value);
  }
  socket(socket&&) noexcept = default;
  socket& operator=(socket&& other) noexcept {
    if (this == &other) return *this;
    close();
    descriptor_ = std::move(other.descriptor_);
    return *this;
  }
  ~socket() { close(); }

  [[nodiscard]] int value() const noexcept { return descriptor_.value(); }
  explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }

  void close() noexcept {
    if (descriptor_) keep_on_fork(descriptor_.value());
    descriptor_.close();
  }

 private:
  descriptor descriptor_;
};

}  // namespace coxswain::net
