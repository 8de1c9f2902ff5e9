#pragma once
// Synchronizes files with the disk on a thread of its own, since that takes milliseconds.

#include "coxswain/base/time.hpp"
#include "coxswain/net/descriptor.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace coxswain::server {

class synchronizer {
 public:
  struct outcome {
    int problem{};  // an errno; zero: everything is on the disk
    duration took{};
  };

  // Throws coxswain::error: UNAVAILABLE, there is no thread or descriptor for it.
  synchronizer();
  // Waits until the files are synchronized.
  ~synchronizer();
  synchronizer(synchronizer const&) = delete;
  synchronizer& operator=(synchronizer const&) = delete;

  // Becomes readable with an edge whenever a synchronization has ended. It is never read.
  [[nodiscard]] int descriptor() const noexcept { return ended_.value(); }

  // Synchronizes these files, in this order, which stay open until then. Not while it is busy.
  void start(std::vector<int> files);

  // Since when files are being synchronized; none: no outcome is to be expected.
  [[nodiscard]] std::optional<time_point> busy_since() const noexcept { return busy_since_; }

  // The outcome, once, if it has ended.
  [[nodiscard]] std::optional<outcome> take();

  // Waits for the outcome. Only while it is busy.
  [[nodiscard]] outcome wait();

 private:
  void work();

  net::descriptor ended_;
  std::optional<time_point> busy_since_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<int> files_;
  std::optional<outcome> outcome_;
  bool ends_{};

  std::thread thread_;
};

}  // namespace coxswain::server
