#pragma once
// Decodes the header blocks of one direction of a connection, in order: nghttp2's HPACK decoder.
// Not here: which headers are valid (request_rules).

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace coxswain::http2 {

class header_decoder {
 public:
  // Throws std::bad_alloc, also from `next`; after that no block can be decoded.
  header_decoder();
  ~header_decoder();
  header_decoder(header_decoder const&) = delete;
  header_decoder& operator=(header_decoder const&) = delete;

  struct field {
    std::string_view name;
    std::string_view value;
  };

  // The next field, taken from the beginning of a whole block; valid until the next call. Nothing:
  // it has no more, or is damaged. All of a block must be taken.
  [[nodiscard]] std::optional<field> next(std::string_view& block);

  // A block was damaged: no others can be decoded.
  [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct engine;

  std::unique_ptr<engine> engine_;
  bool is_damaged_{};
};

}  // namespace coxswain::http2
