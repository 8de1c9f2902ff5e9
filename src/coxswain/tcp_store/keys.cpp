#include "coxswain/tcp_store/keys.hpp"

namespace coxswain::tcp_store {
namespace {

// Before the keys that are a TCPStore's own. In other keys a percent sign is the beginning of
// another escape.
constexpr std::string_view own = "%:";
constexpr std::string_view empty = "%";

// Slashes in a key are ordinary characters for torch.
std::string escaped(std::string_view key) {
  std::string made;
  for (char const c : key) {
    if (c == '%') {
      made += "%25";
    } else if (c == '/') {
      made += "%2F";
    } else {
      made += c;
    }
  }
  return made;
}

std::string unescaped(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    bool const is_escape = text.starts_with("%25") || text.starts_with("%2F");
    made += !is_escape ? text.front() : text[2] == '5' ? '%' : '/';
    text.remove_prefix(is_escape ? 3 : 1);
  }
  return made;
}

}  // namespace

std::string path_of(std::string_view key) {
  std::string path{directory};
  path += '/';
  if (!key.starts_with('/')) return path.append(own) + escaped(key);
  key.remove_prefix(1);
  return key.empty() ? path.append(empty) : path + escaped(key);
}

std::string barrier_path_of(std::string_view key) {
  return path_of(key).insert(directory.size(), "-barriers");
}

std::string key_of(std::string_view path) {
  path.remove_prefix(directory.size() + 1);
  if (path.starts_with(own)) return unescaped(path.substr(own.size()));
  return '/' + (path == empty ? std::string{} : unescaped(path));
}

}  // namespace coxswain::tcp_store
