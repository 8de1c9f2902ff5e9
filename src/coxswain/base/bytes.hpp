#pragma once
// Shared, immutable bytes: a value that a thousand waiters want is stored once. A `memory_meter`
// counts them, for the coordinator's core as long as it owns them, else for the server while they
// are in transit. Not thread-safe: meter and bytes belong to one thread.

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain {

// The kinds of holders that are counted.
enum class holder : std::uint8_t {
  core,    // owns it: only this affects the core's replies
  transit  // the server sends or receives it: affects only pausing and closing connections
};

// The memory limit of a coordinator and its use. The core may own up to three quarters; messages in
// transit may use whatever the core leaves. Counting past the limit is possible: check `fits` or
// `fits_in_transit` first.
class memory_meter final
    : public boost::intrusive_ref_counter<memory_meter, boost::thread_unsafe_counter> {
 public:
  explicit memory_meter(std::size_t limit) : limit_{limit}, owned_max_{limit - limit / 4} {}

  [[nodiscard]] bool fits(std::size_t more) const noexcept {
    return used_ <= owned_max_ && more <= owned_max_ - used_;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t owned_max() const noexcept { return owned_max_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

  void add(std::size_t count) noexcept { used_ += count; }
  void subtract(std::size_t count) noexcept { used_ -= count; }

  [[nodiscard]] bool fits_in_transit(std::size_t more) const noexcept {
    std::size_t const all = used_ + transit_;
    return all <= limit_ && more <= limit_ - all;
  }
  [[nodiscard]] std::size_t transit() const noexcept { return transit_; }

  void add_transit(std::size_t count) noexcept { transit_ += count; }
  void subtract_transit(std::size_t count) noexcept { transit_ -= count; }

 private:
  std::size_t limit_;
  std::size_t owned_max_;
  std::size_t used_{};     // by the core
  std::size_t transit_{};  // and not owned by the core
};

using meter_ptr = boost::intrusive_ptr<memory_meter>;

[[nodiscard]] inline meter_ptr make_meter(std::size_t limit) {
  return meter_ptr{new memory_meter{limit}};
}

// Counts bytes as in transit for its lifetime. Without a meter they are not counted.
class transit_bytes {
 public:
  explicit transit_bytes(memory_meter* meter) noexcept : meter_{meter} {}
  transit_bytes(transit_bytes&& other) noexcept
      : meter_{other.meter_}, count_{std::exchange(other.count_, 0)} {}
  transit_bytes& operator=(transit_bytes&& other) noexcept {
    std::swap(meter_, other.meter_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~transit_bytes() { count(0); }

  void count(std::size_t bytes) noexcept {
    if (meter_ == nullptr) return;
    meter_->add_transit(bytes);
    meter_->subtract_transit(std::exchange(count_, bytes));
  }

 private:
  memory_meter* meter_;
  std::size_t count_{};
};

// The number of holders of an object. A copy of the object starts with none.
class holders {
 public:
  holders() = default;
  holders(holders const&) noexcept {}
  holders& operator=(holders const&) noexcept { return *this; }

  // Adds or removes one holder of an object of this size.
  void add(holder who, std::size_t size, memory_meter* meter) noexcept {
    if (who == holder::core) {
      if (owners_++ != 0 || !meter) return;
      meter->add(size);
      if (carriers_ != 0) meter->subtract_transit(size);
    } else if (carriers_++ == 0 && owners_ == 0 && meter) {
      meter->add_transit(size);
    }
  }
  void remove(holder who, std::size_t size, memory_meter* meter) noexcept {
    if (who == holder::core) {
      if (--owners_ != 0 || !meter) return;
      meter->subtract(size);
      if (carriers_ != 0) meter->add_transit(size);
    } else if (--carriers_ == 0 && owners_ == 0 && meter) {
      meter->subtract_transit(size);
    }
  }

  [[nodiscard]] std::uint32_t of(holder who) const noexcept {
    return who == holder::core ? owners_ : carriers_;
  }

  // Holders do not affect equality.
  friend bool operator==(holders const&, holders const&) noexcept { return true; }

 private:
  std::uint32_t owners_{};
  std::uint32_t carriers_{};
};

class bytes {
 public:
  bytes() = default;

  // Not counted by any meter.
  explicit bytes(std::string content) : bytes{std::move(content), nullptr} {}

  // Counted by `meter` while they have a holder; a reference alone is not counted. Short content is
  // copied, so that the caller can use its memory again.
  bytes(std::string&& content, meter_ptr meter)
      : content_{make(std::move(content), std::move(meter))} {}

  [[nodiscard]] std::string_view view() const noexcept {
    return content_ ? content_->content : std::string_view{};
  }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }

  // Adds or removes one holder: `held_bytes` does both.
  void hold(holder who) const noexcept {
    if (content_) content_->held.add(who, size(), content_->meter.get());
  }
  void let_go(holder who) const noexcept {
    if (content_) content_->held.remove(who, size(), content_->meter.get());
  }

  // The number of bytes that holding them would add to the meter.
  [[nodiscard]] std::size_t uncounted() const noexcept {
    return content_ && content_->held.of(holder::core) + content_->held.of(holder::transit) == 0
               ? size()
               : 0;
  }

  // The content that copies share; null if there is none. Whether there are no copies; there must
  // be content. Whether a meter counts it.
  [[nodiscard]] void const* identity() const noexcept { return content_.get(); }
  [[nodiscard]] bool is_sole() const noexcept { return content_->references == 1; }
  [[nodiscard]] bool is_metered() const noexcept { return content_ && content_->meter; }

  friend bool operator==(bytes const& a, bytes const& b) noexcept { return a.view() == b.view(); }

 private:
  // Short content is stored right behind it, in the same allocation.
  struct metered {
    metered(std::string_view of, meter_ptr by) : meter{std::move(by)}, content{of} {}
    metered(metered const&) = delete;
    metered& operator=(metered const&) = delete;

    friend void intrusive_ptr_add_ref(metered const* m) noexcept { ++m->references; }
    friend void intrusive_ptr_release(metered const* m) noexcept {
      if (--m->references == 0) m->destroy();
    }
    void destroy() const noexcept;

    mutable std::uint32_t references{};
    mutable holders held;
    meter_ptr meter;
    std::string_view content;
  };
  // Long content is not copied.
  struct long_metered : metered {
    long_metered(std::string&& of, meter_ptr by) : metered{of, std::move(by)}, text{std::move(of)} {
      content = text;
    }
    std::string text;
  };
  static constexpr std::size_t short_max = 512;

  static metered const* make(std::string&& content, meter_ptr meter) {
    if (content.size() > short_max) return new long_metered{std::move(content), std::move(meter)};
    auto* const place = static_cast<char*>(::operator new(sizeof(metered) + content.size()));
    auto* const behind = place + sizeof(metered);
    std::copy(content.begin(), content.end(), behind);
    return new (place) metered{{behind, content.size()}, std::move(meter)};
  }

  boost::intrusive_ptr<metered const> content_;
};

// A reference that counts.
template <holder Who>
class held_bytes {
 public:
  held_bytes() = default;
  held_bytes(bytes of) noexcept : of_{std::move(of)} { of_.hold(Who); }
  held_bytes(held_bytes const& other) noexcept : held_bytes{other.of_} {}
  held_bytes(held_bytes&& other) noexcept : of_{std::move(other.of_)} {}
  held_bytes& operator=(held_bytes other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~held_bytes() { of_.let_go(Who); }

  operator bytes const&() const noexcept { return of_; }
  [[nodiscard]] std::string_view view() const noexcept { return of_.view(); }
  [[nodiscard]] std::size_t size() const noexcept { return of_.size(); }

 private:
  bytes of_;
};

using owned_bytes = held_bytes<holder::core>;
using carried_bytes = held_bytes<holder::transit>;

inline void bytes::metered::destroy() const noexcept {
  if (content.size() > short_max) {
    delete static_cast<long_metered const*>(this);
  } else {
    this->~metered();
    ::operator delete(const_cast<metered*>(this));
  }
}

}  // namespace coxswain
