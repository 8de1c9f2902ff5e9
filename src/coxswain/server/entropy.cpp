#include "coxswain/server/entropy.hpp"

#include "coxswain/base/error.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace coxswain::server {
namespace {

// Up to 256 bytes are given whole.
void draw(void* into, std::size_t count) {
  while (::getrandom(into, count, 0) != static_cast<ssize_t>(count)) {
    if (errno == EINTR) continue;
    throw error{{errc::internal,
                 std::string{"No random numbers from the kernel: "} + std::strerror(errno)}};
  }
}

}  // namespace

core::session_secret draw_secret() {
  core::session_secret secret;
  draw(secret.data(), secret.size());
  return secret;
}

incarnation draw_incarnation() {
  incarnation drawn;
  while (drawn.value == 0) draw(&drawn.value, sizeof(drawn.value));
  return drawn;
}

}  // namespace coxswain::server
