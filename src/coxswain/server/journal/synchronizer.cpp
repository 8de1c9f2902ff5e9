#include "coxswain/server/journal/synchronizer.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/signals_blocked.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

using std::chrono::steady_clock;

// Zero, or why one of them may not be on the disk. After an error the kernel forgets what it could
// not write, so it must not be tried again.
int synchronize(std::vector<int> const& files) {
  for (int const file : files) {
    if (::fdatasync(file) != 0) return errno;
  }
  return 0;
}

}  // namespace

synchronizer::synchronizer() : ended_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!ended_) {
    throw error{
        {errc::unavailable, "cannot watch the disk: " + std::generic_category().message(errno)}};
  }
  net::signals_blocked const guard;
  try {
    thread_ = std::thread{[this] { work(); }};
  } catch (std::system_error const& e) {
    throw error{{errc::unavailable, std::string{"no thread for the disk: "} + e.what()}};
  }
}

synchronizer::~synchronizer() {
  {
    std::lock_guard const lock{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void synchronizer::start(std::vector<int> files) {
  busy_since_ = steady_clock::now();
  {
    std::lock_guard const lock{mutex_};
    files_ = std::move(files);
  }
  changed_.notify_all();
}

std::optional<synchronizer::outcome> synchronizer::take() {
  std::lock_guard const lock{mutex_};
  if (outcome_) busy_since_.reset();
  return std::exchange(outcome_, std::nullopt);
}

synchronizer::outcome synchronizer::wait() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return outcome_.has_value(); });
  busy_since_.reset();
  return *std::exchange(outcome_, std::nullopt);
}

void synchronizer::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !files_.empty(); });
    if (files_.empty()) return;
    auto const files = std::exchange(files_, {});
    lock.unlock();
    auto const begun = steady_clock::now();
    outcome const made{synchronize(files), steady_clock::now() - begun};
    lock.lock();
    outcome_ = made;
    changed_.notify_all();
    static_cast<void>(::eventfd_write(ended_.value(), 1));
  }
}

}  // namespace coxswain::server
