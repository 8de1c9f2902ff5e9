#pragma once
// A string that is usually empty, and then takes only a pointer. Copies share its text, on one
// thread.

#include "coxswain/core/snapshot/is_loading.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace coxswain::core {

class rare_string {
 public:
  rare_string() = default;
  rare_string(std::string text) : shared_{text.empty() ? nullptr : new shared{std::move(text)}} {}

  [[nodiscard]] bool empty() const noexcept { return shared_ == nullptr; }
  // Valid as long as this.
  [[nodiscard]] std::string const& get() const noexcept {
    static std::string const none;
    return shared_ ? shared_->text : none;
  }
  // Its memory without the object itself, as if no other shared it.
  [[nodiscard]] std::size_t cost() const noexcept {
    return shared_ ? sizeof(shared) + shared_->text.size() + 32 : 0;
  }

  static void fields(auto& a, auto& s) {
    if constexpr (is_loading<decltype(a)>) {
      std::string text;
      a(1, text);
      s = rare_string{std::move(text)};
    } else {
      a(1, s.get());
    }
  }

 private:
  struct shared : boost::intrusive_ref_counter<shared, boost::thread_unsafe_counter> {
    explicit shared(std::string t) : text{std::move(t)} {}
    std::string const text;
  };

  boost::intrusive_ptr<shared const> shared_;
};

}  // namespace coxswain::core
