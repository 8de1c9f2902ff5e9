#pragma once
// A string that is usually empty, and then takes only a pointer.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace coxswain::core {

class rare_string {
 public:
  rare_string() = default;
  rare_string(std::string text)
      : text_{text.empty() ? nullptr : std::make_unique<std::string>(std::move(text))} {}

  [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }
  // Valid as long as this.
  [[nodiscard]] std::string const& get() const noexcept {
    static std::string const none;
    return text_ ? *text_ : none;
  }
  // Its memory without the object itself.
  [[nodiscard]] std::size_t cost() const noexcept {
    return text_ ? sizeof(std::string) + text_->size() + 32 : 0;
  }

  static void fields(auto& a, auto& s) { a(1, s.text_); }

 private:
  std::unique_ptr<std::string> text_;
};

}  // namespace coxswain::core
