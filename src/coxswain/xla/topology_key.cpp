#include "coxswain/xla/topology_key.hpp"

#include <algorithm>

namespace coxswain::xla {
namespace {

// Removes the text before the first separator, and that. False: there is none, or no text.
bool skip_past(std::string_view& text, char separator) noexcept {
  auto const at = text.find(separator);
  if (at == 0 || at == text.npos) return false;
  text.remove_prefix(at + 1);
  return true;
}

bool is_number(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_topology_key(std::string_view name) noexcept {
  constexpr std::string_view local = "local_topology/";
  constexpr std::string_view global = "global_topology/";
  if (!skip_past(name, ':')) return false;
  if (name.starts_with(global)) {
    name.remove_prefix(global.size());
    return !name.empty() && name.find('/') == name.npos;
  }
  if (!name.starts_with(local)) return false;
  name.remove_prefix(local.size());
  return skip_past(name, '/') && is_number(name);
}

}  // namespace coxswain::xla
