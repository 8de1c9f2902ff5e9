#pragma once
// Texts sent to many peers, and the memory they take while any still reads them.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace coxswain::status_page {

using text_ptr = std::shared_ptr<std::string const>;

class text_pool {
 public:
  explicit text_pool(std::size_t bytes_max) : bytes_max_{bytes_max} {}

  // Counted until its last holder releases it.
  [[nodiscard]] text_ptr share(std::string text) {
    auto* const kept = new std::string{std::move(text)};
    *bytes_ += kept->size();
    return {kept, [bytes = bytes_](std::string const* gone) {
              *bytes -= gone->size();
              delete gone;
            }};
  }

  // Full: make no further texts until some have been read.
  [[nodiscard]] bool is_full() const noexcept { return *bytes_ >= bytes_max_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return *bytes_; }

 private:
  std::size_t bytes_max_;
  std::shared_ptr<std::size_t> bytes_ = std::make_shared<std::size_t>(0);
};

}  // namespace coxswain::status_page
