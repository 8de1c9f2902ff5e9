#pragma once
// Frames of HTTP/2, written by hand and read one by one, so that transcripts do not depend on the
// library that they test.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_hd_inflater;

namespace coxswain::http2::test {

enum class frame_type : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  reset = 3,
  settings = 4,
  ping = 6,
  go_away = 7,
  window_update = 8,
  continuation = 9,
};

inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t ack = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;

// The number, big-endian.
[[nodiscard]] std::string number(std::uint64_t value, int bytes);

// The bytes given in hexadecimal digits; other characters are skipped.
[[nodiscard]] std::string hex(std::string_view digits);

[[nodiscard]] std::string frame(frame_type type, std::uint8_t flags, std::uint32_t stream,
                                std::string_view payload = {});

// How a client begins: the preface, and SETTINGS that change nothing.
[[nodiscard]] std::string preface();

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

// A header block of literals without indexing.
[[nodiscard]] std::string header_block(fields const& all);

// The headers of a call as XLA's clients send them.
[[nodiscard]] fields call_fields(std::string_view path);

// One gRPC message.
[[nodiscard]] std::string message(std::string_view content, bool is_compressed = false);

// A whole call: headers, and the message in one frame of DATA.
[[nodiscard]] std::string whole_call(std::uint32_t stream, std::string_view path,
                                     std::string_view content);

struct read_frame {
  frame_type type{};
  std::uint8_t flags{};
  std::uint32_t stream{};
  std::string payload;
};

// All frames of the input; an incomplete frame is a test error.
[[nodiscard]] std::vector<read_frame> read_frames(std::string_view written);

// Decodes the header blocks of one direction of a connection, in order.
class header_reader {
 public:
  header_reader();
  ~header_reader();
  header_reader(header_reader const&) = delete;
  header_reader& operator=(header_reader const&) = delete;

  // As "name: value" and a line feed each.
  [[nodiscard]] std::string read(std::string_view block);

 private:
  nghttp2_hd_inflater* inflater_{};
};

}  // namespace coxswain::http2::test
