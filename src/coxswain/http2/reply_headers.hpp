#pragma once
// Writes the header blocks of replies: HPACK (RFC 7541) with two entries in the table of the peer,
// "content-type: application/grpc" and "grpc-status: 0". All other fields are written as they are.
// Blocks must be sent in the order in which they were written.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::http2 {

class reply_headers {
 public:
  // The peer's table has up to this many bytes.
  void limit_table(std::uint32_t bytes) noexcept;

  // Appends ":status: 200" and "content-type: application/grpc".
  void append_beginning(std::string& block);

  // Appends "grpc-status: 0", to begin a block.
  void append_success(std::string& block);

 private:
  void append_size(std::string& block);

  std::uint32_t table_bytes_{4'096};  // as HTTP/2 begins
  bool has_new_size_{};               // which the peer does not know
  bool has_type_{};                   // in the table
  bool has_success_{};
};

// Appends a field that is in no table.
void append_field(std::string& block, std::string_view name, std::string_view value);

}  // namespace coxswain::http2
