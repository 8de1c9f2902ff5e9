#pragma once
// The descriptor of a socket and its owner. A forked child does not keep it: its copies would keep
// the connections of a killed parent open, so that no peer would see them end, and its listening
// ports in use. Not here: reading and writing (byte_stream), other descriptors (descriptor).

#include "coxswain/net/descriptor.hpp"

#include <utility>

namespace coxswain::net {

// From now on fork() replaces the child's copy of this descriptor by one without a connection,
// until `keep_on_fork`, required before the descriptor is closed. The number stays in use in the
// child, so that the child's copies of the parent's objects never reach a descriptor of its own.
// Descriptors from 2^20 on are not replaced. vfork and posix_spawn are not affected, since exec
// follows. Any thread may call both functions.
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
