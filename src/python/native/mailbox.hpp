#pragma once
// The calls of one event loop that have ended. The client's thread puts them here and makes a
// descriptor readable, which the loop watches; so no thread waits, and the client's never for
// Python.

#include "python/native/python.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace coxswain::python {

class call;
class news;

class mailbox {
 public:
  // Throws std::runtime_error: no descriptor is to be had.
  mailbox();
  ~mailbox();
  mailbox(mailbox const&) = delete;
  mailbox& operator=(mailbox const&) = delete;

  // From any thread.
  void put(std::uint64_t number, std::shared_ptr<call> ended);

  // From any thread: these are to be logged.
  void put(std::shared_ptr<news> what);

  // Readable while there is something to take.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // With the GIL: a list of (number, value, None) or (number, None, exception). Logs the news.
  py::list take();

 private:
  struct letter {
    std::uint64_t number{};
    std::shared_ptr<call> ended;
    std::shared_ptr<news> to_log;  // then it is no call
  };

  void put(letter news_or_call);

  int descriptor_;
  std::mutex mutex_;
  std::vector<letter> letters_;
};

}  // namespace coxswain::python
