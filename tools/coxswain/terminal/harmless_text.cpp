#include "terminal/harmless_text.hpp"

#include "coxswain/core/kernel/text.hpp"

namespace coxswain::tools {
namespace {

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

// Has no width, or changes the direction or the line of what follows: a name with it looks like
// another one.
bool is_deceptive(char32_t code) {
  return code == 0xad || code == 0x61c || code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
         (code >= 0xfe00 && code <= 0xfe0f) || code == 0xfeff ||
         (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe0fff);
}

}  // namespace

letter first_letter(std::string_view text) {
  auto const lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  std::size_t const bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  auto code = static_cast<char32_t>(lead & (0xff >> (bytes + 1)));
  for (std::size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return {code, bytes};
}

std::string harmless_line(std::string_view text) {
  bool const is_utf8 = core::is_utf8(text);
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    auto const one =
        is_utf8 ? first_letter(text.substr(at)) : letter{static_cast<unsigned char>(text[at]), 1};
    bool const is_shown =
        !is_control(one.code) && !is_deceptive(one.code) && (is_utf8 || one.code < 0x80);
    if (is_shown) {
      all.append(text, at, one.bytes);
    } else {
      all += one.code == '\n' || one.code == '\t' ? ' ' : '?';
    }
    at += one.bytes;
  }
  return all;
}

std::string harmless_lines(std::string_view text) {
  std::string all;
  for (;;) {
    auto const end = text.find('\n');
    all += harmless_line(text.substr(0, end));
    if (end == std::string_view::npos) return all;
    all += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace coxswain::tools
