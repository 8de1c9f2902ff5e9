#include "tests/sim/everything/rules/key_story.hpp"

#include <algorithm>

namespace coxswain::sim {

std::string normal(std::string_view key) {
  std::string path;
  for (char const c : key) {
    if (c != '/' || (!path.empty() && path.back() != '/')) path += c;
  }
  if (path.ends_with('/')) path.pop_back();
  return path;
}

bool is_below(std::string_view key, std::string_view directory) {
  if (directory.empty()) return true;
  return key.size() > directory.size() && key.starts_with(directory) &&
         key[directory.size()] == '/';
}

bool concerns(std::string_view key, std::string_view directory) {
  return key == directory || is_below(key, directory);
}

key_story::key_story(history const& h) : history_{h} {
  for (key_record const& one : h.keys) {
    auto& states = keys_[one.what.key];
    if (states.empty()) states.push_back({});
    states.back().to = one.at;
    std::optional<std::string> value;
    if (one.what.value) value = std::string{one.what.value->view()};
    states.push_back({one.what.version, std::move(value), one.at, h.earliest(one.at)});
    times_.resize(std::max<std::size_t>(times_.size(), one.what.version + 1), one.at);
  }
}

std::vector<key_story::state> const& key_story::states(std::string const& key) const {
  auto const at = keys_.find(key);
  return at == keys_.end() ? unknown_ : at->second;
}

key_story::state const& key_story::at(std::string const& key, std::uint64_t version) const {
  auto const& all = states(key);
  auto const after =
      std::upper_bound(all.begin(), all.end(), version,
                       [](std::uint64_t wanted, state const& s) { return wanted < s.version; });
  return *std::prev(after);
}

key_story::state const* key_story::change(std::string const& key, std::uint64_t version) const {
  state const& s = at(key, version);
  return s.version == version && version != 0 ? &s : nullptr;
}

time_point key_story::time_of(std::uint64_t version) const {
  return version < times_.size() ? times_[version] : time_point::max();
}

}  // namespace coxswain::sim
