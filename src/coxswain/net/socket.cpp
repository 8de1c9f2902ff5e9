#include "coxswain/net/socket.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace coxswain::net {
namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t descriptors_max = 1 << 20;

// A bit for each descriptor. Only atomics, because a fork can happen in the middle of another
// thread's change.
std::array<std::atomic<std::uint64_t>, descriptors_max / word_bits> marked;
std::atomic<std::size_t> words_used{};

// In the child: only async-signal-safe operations.
void replace_marked() noexcept {
  int const error = errno;
  int const nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto const words = words_used.load();
  for (std::size_t i = 0; i < words; ++i) {
    for (auto bits = marked[i].exchange(0); bits != 0; bits &= bits - 1) {
      auto const number = static_cast<int>(i * word_bits) + std::countr_zero(bits);
      if (nowhere < 0 || ::dup3(nowhere, number, O_CLOEXEC) < 0) ::close(number);
    }
  }
  if (nowhere >= 0) ::close(nowhere);
  errno = error;
}

struct place {
  explicit place(int descriptor)
      : word{static_cast<std::size_t>(descriptor) / word_bits},
        bit{std::uint64_t{1} << static_cast<std::size_t>(descriptor) % word_bits} {}

  std::size_t word;
  std::uint64_t bit;
};

bool has_place(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < descriptors_max;
}

}  // namespace

void close_on_fork(int descriptor) noexcept {
  static int const watched = ::pthread_atfork(nullptr, nullptr, replace_marked);
  if (watched != 0 || !has_place(descriptor)) return;
  place const at{descriptor};
  auto used = words_used.load(std::memory_order_relaxed);
  while (used <= at.word && !words_used.compare_exchange_weak(used, at.word + 1)) continue;
  marked[at.word].fetch_or(at.bit);
}

void keep_on_fork(int descriptor) noexcept {
  if (!has_place(descriptor)) return;
  place const at{descriptor};
  marked[at.word].fetch_and(~at.bit);
}

}  // namespace coxswain::net
