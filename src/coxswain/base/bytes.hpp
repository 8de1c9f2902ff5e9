#pragma once
// Shared, immutable bytes: a value that a thousand waiters want is held once. A `memory_meter`
// counts the bytes that live under it, wherever they are referred to from.
// Not thread-safe: meter and bytes belong to one thread.

#include "coxswain/base/prefetch.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain {

// Counts bytes against a limit. Counting past the limit is allowed: who adds must ask `fits`.
class memory_meter {
 public:
  explicit memory_meter(std::size_t limit) : limit_{limit} {}

  [[nodiscard]] bool fits(std::size_t more) const noexcept {
    return used_ <= limit_ && more <= limit_ - used_;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

  void add(std::size_t count) noexcept { used_ += count; }
  void subtract(std::size_t count) noexcept { used_ -= count; }

 private:
  std::size_t limit_;
  std::size_t used_{};
};

class bytes {
 public:
  bytes() = default;

  // Not counted by any meter.
  explicit bytes(std::string content) : bytes{std::move(content), nullptr} {}

  // Counted by `meter` until the last reference is gone.
  bytes(std::string content, std::shared_ptr<memory_meter> meter)
      : content_{new metered{std::move(content), std::move(meter)}} {}

  [[nodiscard]] std::string_view view() const noexcept {
    return content_ ? std::string_view{content_->text} : std::string_view{};
  }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }

  // Asks for the memory that is needed to let go of them.
  void expect() const noexcept {
    if (content_) prefetch(*content_);
  }

  friend bool operator==(bytes const& a, bytes const& b) noexcept { return a.view() == b.view(); }

 private:
  struct metered : boost::intrusive_ref_counter<metered, boost::thread_unsafe_counter> {
    metered(std::string content, std::shared_ptr<memory_meter> by)
        : text{std::move(content)}, meter{std::move(by)} {
      if (meter) meter->add(text.size());
    }
    metered(metered const&) = delete;
    metered& operator=(metered const&) = delete;
    ~metered() {
      if (meter) meter->subtract(text.size());
    }

    std::string text;
    std::shared_ptr<memory_meter> meter;
  };

  boost::intrusive_ptr<metered const> content_;
};

}  // namespace coxswain
