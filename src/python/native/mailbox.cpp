#include "python/native/mailbox.hpp"

#include "python/native/call.hpp"
#include "python/native/errors.hpp"
#include "python/native/log_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <utility>

namespace coxswain::python {

mailbox::mailbox() : descriptor_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (descriptor_ < 0) throw std::runtime_error{"no descriptor for the event loop"};
}

mailbox::~mailbox() { ::close(descriptor_); }

void mailbox::put(std::uint64_t number, std::shared_ptr<call> ended) {
  put(letter{number, std::move(ended), nullptr});
}

void mailbox::put(std::shared_ptr<log_queue> what) { put(letter{0, nullptr, std::move(what)}); }

void mailbox::put(letter entry) {
  std::lock_guard const lock{mutex_};
  letters_.push_back(std::move(entry));
  if (letters_.size() > 1) return;  // already readable
  std::uint64_t const increment = 1;
  static_cast<void>(!::write(descriptor_, &increment, sizeof increment));
}

py::list mailbox::take() {
  std::vector<letter> taken;
  {
    std::lock_guard const lock{mutex_};
    std::uint64_t count{};
    static_cast<void>(!::read(descriptor_, &count, sizeof count));
    taken = std::exchange(letters_, {});
  }
  py::list all;
  for (auto const& item : taken) {
    if (item.to_log) {
      if (!item.to_log->log()) PyErr_WriteUnraisable(Py_None);  // completions must not be lost
      continue;
    }
    try {
      all.append(py::make_tuple(item.number, item.ended->result(), py::none()));
    } catch (py::error_already_set const&) {
      throw;
    } catch (...) {
      all.append(py::make_tuple(item.number, py::none(), exception_for(std::current_exception())));
    }
  }
  return all;
}

}  // namespace coxswain::python
