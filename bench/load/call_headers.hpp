#pragma once
// Writes the header blocks of calls as gRPC's own client does: each field is put into HPACK's
// dynamic table (RFC 7541), and is one byte from then on. Assumes a table of 4,096 bytes, in which
// all fields of a load have room, and texts below 127 bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::bench {

class call_headers {
 public:
  // Blocks must be sent in the order in which they were written.
  void append(std::string& block, std::string_view path);

 private:
  // `name_index`: of the name in the table that HTTP/2 begins with; zero: it is not in there.
  void append_field(std::string& block, std::uint8_t name_index, std::string_view name,
                    std::string_view value);

  std::vector<std::pair<std::string, std::string>> table_;  // the oldest first
};

}  // namespace coxswain::bench
