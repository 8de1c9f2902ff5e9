#include "coxswain/launch/variables.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace coxswain::launch {
namespace {

bool is_port(std::string_view text) {
  std::uint16_t port{};
  auto const* const end = text.data() + text.size();
  auto const parsed = std::from_chars(text.data(), end, port);
  return parsed.ec == std::errc{} && parsed.ptr == end && port > 0;
}

}  // namespace

std::string variables::operator[](std::string const& name) const {
  return of_.variable(name).value_or("");
}

std::string variables::file(std::string const& path) const {
  return of_.file ? of_.file(path).value_or("") : std::string{};
}

sourced_value<std::string> variables::text(std::string const& name) const {
  auto value = (*this)[name];
  if (value.empty()) return {};
  return {std::move(value), name};
}

sourced_value<std::uint64_t> variables::wide_number(std::string const& name, std::uint64_t least,
                                                    std::uint64_t most) const {
  auto const text = (*this)[name];
  if (text.empty()) return {};
  std::uint64_t value{};
  auto const* const end = text.data() + text.size();
  auto const parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value < least || value > most) {
    return sourced_value<std::uint64_t>::wrong(
        refusal(name, text,
                "a whole number from " + std::to_string(least) + " to " + std::to_string(most)),
        name);
  }
  return {value, name};
}

sourced_value<std::string> variables::address(std::string text, std::string const& name,
                                              std::string const& value) {
  auto const colon = text.rfind(':');
  if (colon == 0 || colon == text.npos || !is_port(std::string_view{text}.substr(colon + 1))) {
    return sourced_value<std::string>::wrong(refusal(name, value, "host:port or [v6]:port"), name);
  }
  return {std::move(text), name};
}

sourced_value<std::string> variables::address_at(std::string const& host, std::uint16_t port,
                                                 std::string const& from) const {
  bool const is_v6 = host.find(':') != host.npos;
  auto const shown = is_v6 ? "[" + host + "]" : host;
  auto const found = number<std::uint16_t>("JAX_COORDINATOR_PORT", 1);
  if (!found.problem().ok()) {
    return sourced_value<std::string>::wrong(found.problem().message(), found.from());
  }
  auto const chosen = found.value().value_or(port);
  return {shown + ":" + std::to_string(chosen),
          found.is_there() ? from + " and " + found.from() : from};
}

std::string refusal(std::string const& name, std::string const& value, std::string const& allowed) {
  return name + " is '" + value + "'; expected " + allowed + ".";
}

std::string host_of(std::string const& address) {
  auto host = address.substr(0, address.find(']'));
  if (host.starts_with('[')) return host.substr(1);
  return address.substr(0, address.rfind(':'));
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    auto const comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == list.npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace coxswain::launch
