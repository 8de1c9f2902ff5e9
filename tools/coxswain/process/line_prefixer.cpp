#include "process/line_prefixer.hpp"

namespace coxswain::tools {

void line_prefixer::feed(std::string_view bytes, std::string& lines) {
  while (!bytes.empty()) {
    auto const room = bytes.substr(0, line_bytes_max - begun_.size());
    auto const end = room.find('\n');
    if (end != std::string_view::npos) {
      end_line(room.substr(0, end), lines);
      bytes.remove_prefix(end + 1);
    } else if (room.size() < bytes.size()) {
      end_line(room, lines);
      bytes.remove_prefix(room.size());
    } else {
      begun_ += room;
      return;
    }
  }
}

void line_prefixer::finish(std::string& lines) {
  if (!begun_.empty()) end_line({}, lines);
}

void line_prefixer::end_line(std::string_view rest, std::string& lines) {
  lines.append(prefix_).append(begun_).append(rest) += '\n';
  begun_.clear();
}

}  // namespace coxswain::tools
