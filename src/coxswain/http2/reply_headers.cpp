#include "coxswain/http2/reply_headers.hpp"

#include <utility>

namespace coxswain::http2 {
namespace {

// The first bytes of the representations, and how many of their bits are part of a number.
constexpr std::uint8_t indexed = 0x80;
constexpr std::uint8_t literal_to_keep = 0x40;
constexpr std::uint8_t literal = 0x00;
constexpr std::uint8_t table_size = 0x20;
constexpr int bits_of_index = 7;
constexpr int bits_of_kept_index = 6;
constexpr int bits_of_size = 5;
constexpr int bits_of_length = 7;

// Entries of the table that HTTP/2 begins with, and the first one of the peer's table.
constexpr std::uint32_t status_200 = 8;
constexpr std::uint32_t content_type = 31;
constexpr std::uint32_t newest = 62;

constexpr std::string_view grpc_type = "application/grpc";
constexpr std::string_view grpc_status = "grpc-status";
constexpr std::string_view success = "0";

// Both entries, as HPACK counts them.
constexpr std::size_t entry_overhead = 32;
constexpr std::size_t entries_bytes = std::string_view{"content-type"}.size() + grpc_type.size() +
                                      grpc_status.size() + success.size() + 2 * entry_overhead;

void append_number(std::string& block, std::uint8_t first, int bits, std::size_t value) {
  auto const most = (std::size_t{1} << bits) - 1;
  if (value < most) {
    block += static_cast<char>(first | value);
    return;
  }
  block += static_cast<char>(first | most);
  for (value -= most; value >= 0x80; value >>= 7) {
    block += static_cast<char>(0x80 | (value & 0x7f));
  }
  block += static_cast<char>(value);
}

void append_text(std::string& block, std::string_view text) {
  append_number(block, 0, bits_of_length, text.size());
  block += text;
}

}  // namespace

void reply_headers::limit_table(std::uint32_t bytes) noexcept {
  if (bytes >= table_bytes_) return;
  table_bytes_ = bytes < entries_bytes ? 0 : bytes;
  has_new_size_ = true;
}

void reply_headers::append_size(std::string& block) {
  if (!std::exchange(has_new_size_, false)) return;
  append_number(block, table_size, bits_of_size, table_bytes_);
  if (table_bytes_ == 0) has_type_ = has_success_ = false;
}

void reply_headers::append_beginning(std::string& block) {
  append_size(block);
  append_number(block, indexed, bits_of_index, status_200);
  if (has_type_) {
    append_number(block, indexed, bits_of_index, has_success_ ? newest + 1 : newest);
    return;
  }
  if (table_bytes_ == 0) return append_field(block, "content-type", grpc_type);
  append_number(block, literal_to_keep, bits_of_kept_index, content_type);
  append_text(block, grpc_type);
  has_type_ = true;
}

void reply_headers::append_success(std::string& block) {
  append_size(block);
  if (has_success_) return append_number(block, indexed, bits_of_index, newest);
  if (table_bytes_ == 0) return append_field(block, grpc_status, success);
  append_number(block, literal_to_keep, bits_of_kept_index, 0);
  append_text(block, grpc_status);
  append_text(block, success);
  has_success_ = true;
}

void append_field(std::string& block, std::string_view name, std::string_view value) {
  block += static_cast<char>(literal);
  append_text(block, name);
  append_text(block, value);
}

}  // namespace coxswain::http2
