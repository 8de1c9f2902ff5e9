#pragma once
// A file descriptor and its owner.

#include <unistd.h>

#include <utility>

namespace coxswain::net {

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int value) noexcept : value_{value} {}
  descriptor(descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      close();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  ~descriptor() { close(); }

  [[nodiscard]] int value() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }

  // The caller owns it from now on.
  [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }

  void close() noexcept {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_{-1};
};

}  // namespace coxswain::net
