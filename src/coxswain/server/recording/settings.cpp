#include "coxswain/server/recording/settings.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/option_rows.hpp"
#include "coxswain/core/snapshot/encoding.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coxswain::server {
namespace {

// Visits each option with its name, to be read or to be written.
template <class Config, class Visit>
void visit_options(Config& o, Visit visit) {
  visit(std::string{"credentials"}, o.credentials);
  visit(std::string{"version"}, o.version);
  visit(std::string{"term"}, o.term);
  core::each_decisive_option([&](std::uint32_t, char const* name, auto member) {
    constexpr bool is_time = std::is_same_v<decltype(member), time_limit core::config::*>;
    visit(std::string{name} + (is_time ? "_ns" : ""), o.*member);
  });
}

std::string text_of(std::string const& value) { return value; }
std::string text_of(time_limit value) { return std::to_string(value.count()); }
template <class Number>
std::string text_of(std::optional<Number> value) {
  return value ? std::to_string(*value) : "";
}
std::string text_of(std::vector<core::credential> const& value) { return recorded(value); }
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  return std::to_string(static_cast<unsigned>(value));
}
template <class Number>
std::string text_of(Number value) {
  return std::to_string(value);
}

template <class Number>
bool read(std::string const& text, Number& into) {
  auto const end = text.data() + text.size();
  auto const [at, problem] = std::from_chars(text.data(), end, into);
  return problem == std::errc{} && at == end;
}
bool read(std::string const& text, std::string& into) {
  into = text;
  return true;
}
bool read(std::string const& text, std::vector<core::credential>& into) {
  auto all = recorded_credentials(text);
  if (all) into = *std::move(all);
  return all.has_value();
}
bool read(std::string const& text, bool& into) {
  into = text == "1";
  return into || text == "0";
}
template <class Enum>
requires std::is_enum_v<Enum>
bool read(std::string const& text, Enum& into) {
  std::uint8_t number{};
  return read(text, number) && core::decode(number, into);
}
bool read(std::string const& text, time_limit& into) {
  duration::rep count{};
  if (!read(text, count)) return false;
  into = duration{count};
  return true;
}
template <class Number>
bool read(std::string const& text, std::optional<Number>& into) {
  if (text.empty()) return true;
  return read(text, into.emplace());
}

}  // namespace

std::string recorded_token(std::size_t index) { return "token-" + std::to_string(index + 1); }

// "reader token-1, worker token-2"
std::string recorded(std::vector<core::credential> const& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::string{name(all[i].as)} + ' ' + recorded_token(i);
  }
  return text;
}

std::optional<std::vector<core::credential>> recorded_credentials(std::string const& text) {
  std::vector<core::credential> all;
  for (std::string_view rest = text; !rest.empty();) {
    auto const item = rest.substr(0, rest.find(','));
    auto const space = item.find(' ');
    auto const as = core::role_named(item.substr(0, space));
    if (!as || space == std::string_view::npos) return std::nullopt;
    all.push_back({*as, std::string{item.substr(space + 1)}});
    rest.remove_prefix(std::min(rest.size(), item.size() + std::string_view{", "}.size()));
  }
  return all;
}

settings settings_of(core::config const& o) {
  settings all;
  visit_options(o, [&all](std::string name, auto const& value) {
    all.emplace_back(std::move(name), text_of(value));
  });
  return all;
}

core::config config_of(settings const& from) {
  core::config o;
  for (auto const& [given_name, given] : from) {
    visit_options(o, [&given_name = given_name, &given = given](std::string_view name,
                                                                auto& value) {
      if (name != given_name || read(given, value)) return;
      throw error{{errc::invalid_argument, "The option " + given_name + " of the recording is '" +
                                               given + "', which is not a valid value."}};
    });
  }
  return o;
}

core::config config_of(wire::recording_head const& from) {
  auto made = config_of(from.settings);
  made.started = from.started;
  return made;
}

}  // namespace coxswain::server
