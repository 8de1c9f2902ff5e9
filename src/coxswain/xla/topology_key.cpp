#include "coxswain/xla/topology_key.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/field_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace coxswain::xla {
namespace {

constexpr std::string_view local = "local_topology/";
constexpr std::string_view global = "global_topology/";

// Fields of the topology of one process, and of that of all, which has those of all processes.
constexpr std::uint64_t boot_id = 2;
constexpr std::uint64_t devices = 3;
constexpr std::uint64_t nodes = 1;
constexpr std::uint64_t none = 0;

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

bool is_global(std::string_view key) noexcept {
  return skip_past(key, ':') && key.starts_with(global);
}

// Takes the next field but those of this number. None: `from` is what cannot be read, if anything.
std::optional<wire::field> take_but(std::uint64_t number, std::string_view& from) noexcept {
  for (;;) {
    auto rest = from;
    auto const taken = wire::take_field(rest);
    if (!taken) return std::nullopt;
    from = rest;
    if (taken->number != number) return taken;
  }
}

// The same fields but those of number `ignored`, with contents that are the same by `are_same`.
template <class Compare>
bool have_same_fields(std::string_view one, std::string_view other, std::uint64_t ignored,
                      Compare are_same) noexcept {
  for (;;) {
    auto const a = take_but(ignored, one);
    auto const b = take_but(ignored, other);
    if (!a || !b) return !a && !b && one == other;
    if (a->number != b->number || a->value != b->value || !are_same(*a, *b)) return false;
  }
}

bool is_same_process(std::string_view one, std::string_view other) noexcept {
  return have_same_fields(one, other, boot_id,
                          [](auto const& a, auto const& b) { return a.content == b.content; });
}

std::size_t count_devices_of_process(std::string_view value) noexcept {
  std::size_t count = 0;
  while (auto const taken = wire::take_field(value)) count += taken->number == devices ? 1 : 0;
  return count;
}

std::size_t count_devices(std::string_view key, std::string_view value) noexcept {
  if (!is_global(key)) return count_devices_of_process(value);
  std::size_t count = 0;
  while (auto const taken = wire::take_field(value)) {
    if (taken->number == nodes) count += count_devices_of_process(taken->content);
  }
  return count;
}

}  // namespace

bool is_topology_key(std::string_view name) noexcept {
  if (!skip_past(name, ':')) return false;
  if (name.starts_with(global)) {
    name.remove_prefix(global.size());
    return !name.empty() && name.find('/') == name.npos;
  }
  if (!name.starts_with(local)) return false;
  name.remove_prefix(local.size());
  return skip_past(name, '/') && is_number(name);
}

bool have_same_devices(std::string_view key, std::string_view one,
                       std::string_view other) noexcept {
  if (!is_global(key)) return is_same_process(one, other);
  return have_same_fields(one, other, none, [](auto const& a, auto const& b) {
    return a.number == nodes ? is_same_process(a.content, b.content) : a.content == b.content;
  });
}

std::string other_devices(std::string_view key, std::string_view before, std::string_view now) {
  return "key " + core::shortened(key, 900) + " already exists. The process before this one had " +
         "other devices: " + std::to_string(count_devices(key, before)) + ", this one has " +
         std::to_string(count_devices(key, now)) +
         ". Start it with the same devices, or the whole job with a new coordinator.";
}

}  // namespace coxswain::xla
