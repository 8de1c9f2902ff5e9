#pragma once
// The completed calls of one event loop. The client's thread puts them here and makes a descriptor
// readable, which the loop watches; so no thread waits, and the client's thread never for Python.

#include "python/native/python.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace coxswain::python {

class call;
class log_queue;

class mailbox {
 public:
  // Throws std::runtime_error if no descriptor is available.
  mailbox();
  ~mailbox();
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  // From any thread.
  void put(std::uint64_t number, std::shared_ptr<call> ended);

  // From any thread. Queues these for the log.
  void put(std::shared_ptr<log_queue> what);

  // Readable while anything is queued.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // With the GIL: a list of (number, value, None) or (number, None, exception). Writes the queued
  // log.
  py::list take();

 private:
  struct letter {
    std::uint64_t number{};
    std::shared_ptr<call> ended;
    std::shared_ptr<log_queue> to_log;  // a log entry, not a call
  };

  void put(letter entry);

  int descriptor_;
  std::mutex mutex_;
  std::vector<letter> letters_;
};

}  // namespace coxswain::python
