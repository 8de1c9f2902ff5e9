#pragma once
// Shared, immutable bytes: a value that a thousand waiters want is held once. A `memory_meter`
// counts the bytes that live under it, wherever they are referred to from.
// Not thread-safe: meter and bytes belong to one thread.

#include "coxswain/base/prefetch.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
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
      : content_{make(std::move(content), std::move(meter))} {}

  [[nodiscard]] std::string_view view() const noexcept {
    return content_ ? content_->content : std::string_view{};
  }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }

  // Asks for the memory that is needed to let go of them.
  void expect() const noexcept {
    if (content_) prefetch(*content_);
  }

  friend bool operator==(bytes const& a, bytes const& b) noexcept { return a.view() == b.view(); }

 private:
  // A short content lies behind it, so that both are found, and let go, at once.
  struct metered {
    metered(std::string_view of, std::shared_ptr<memory_meter> by)
        : meter{std::move(by)}, content{of} {
      if (meter) meter->add(content.size());
    }
    metered(metered const&) = delete;
    metered& operator=(metered const&) = delete;
    ~metered() {
      if (meter) meter->subtract(content.size());
    }

    friend void intrusive_ptr_add_ref(metered const* m) noexcept { ++m->references; }
    friend void intrusive_ptr_release(metered const* m) noexcept {
      if (--m->references == 0) m->destroy();
    }
    void destroy() const noexcept;

    mutable std::size_t references{};
    std::shared_ptr<memory_meter> meter;
    std::string_view content;
  };
  // A long one is not copied.
  struct long_metered : metered {
    long_metered(std::string&& of, std::shared_ptr<memory_meter> by)
        : metered{of, std::move(by)}, text{std::move(of)} {
      content = text;
    }
    std::string text;
  };
  static constexpr std::size_t short_max = 512;

  static metered const* make(std::string content, std::shared_ptr<memory_meter> meter) {
    if (content.size() > short_max) return new long_metered{std::move(content), std::move(meter)};
    auto* const place = static_cast<char*>(::operator new(sizeof(metered) + content.size()));
    auto* const behind = place + sizeof(metered);
    std::copy(content.begin(), content.end(), behind);
    return new (place) metered{{behind, content.size()}, std::move(meter)};
  }

  boost::intrusive_ptr<metered const> content_;
};

inline void bytes::metered::destroy() const noexcept {
  if (content.size() > short_max) {
    delete static_cast<long_metered const*>(this);
  } else {
    this->~metered();
    ::operator delete(const_cast<metered*>(this));
  }
}

}  // namespace coxswain
