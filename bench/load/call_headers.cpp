#include "load/call_headers.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace coxswain::bench {
namespace {

// Entries of the table that HTTP/2 begins with, and the newest one of the dynamic table.
constexpr std::string_view method_is_post_scheme_is_http = "\x83\x86";
constexpr std::uint8_t authority = 1;
constexpr std::uint8_t path_name = 4;
constexpr std::uint8_t content_type = 31;
constexpr std::ptrdiff_t newest = 62;

constexpr std::uint8_t indexed = 0x80;
constexpr std::uint8_t literal_to_keep = 0x40;

void append_text(std::string& block, std::string_view text) {
  assert(text.size() < 127);
  block += static_cast<char>(text.size());
  block += text;
}

}  // namespace

void call_headers::append(std::string& block, std::string_view path) {
  block += method_is_post_scheme_is_http;
  append_field(block, path_name, ":path", path);
  append_field(block, authority, ":authority", "localhost");
  append_field(block, 0, "te", "trailers");
  append_field(block, content_type, "content-type", "application/grpc");
  append_field(block, 0, "grpc-accept-encoding", "identity,gzip");
}

void call_headers::append_field(std::string& block, std::uint8_t name_index, std::string_view name,
                                std::string_view value) {
  auto const known = std::find_if(table_.begin(), table_.end(), [&](auto const& one) {
    return one.first == name && one.second == value;
  });
  if (known != table_.end()) {
    block += static_cast<char>(indexed | (newest + (table_.end() - known - 1)));
    return;
  }
  table_.emplace_back(name, value);
  block += static_cast<char>(literal_to_keep | name_index);
  if (name_index == 0) append_text(block, name);
  append_text(block, value);
}

}  // namespace coxswain::bench
