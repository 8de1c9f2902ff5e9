#include "coxswain/client/agent/agent_text.hpp"

#include "coxswain/core/model/operations.hpp"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace coxswain::detail {
namespace {

constexpr std::size_t name_bytes_max = 256;

std::string quoted(std::string_view what, std::string_view name) {
  std::string text{what};
  text.append(" '").append(name.substr(0, name_bytes_max));
  if (name.size() > name_bytes_max) text += "...";
  return text += "'";
}

std::string counted(std::string_view what, std::size_t keys) {
  return std::string{what} + " of " + std::to_string(keys) + " keys";
}

struct describe {
  template <class Args>
  std::string operator()(Args const& a) const {
    constexpr std::string_view words = core::operation_of<Args>.words;
    if constexpr (requires { a.keys; }) return counted(words, a.keys.size());
    if constexpr (requires { a.entries; }) return counted(words, a.entries.size());
    if constexpr (requires { a.key; }) return quoted(words, a.key);
    if constexpr (requires { a.name; }) return quoted(words, a.name);
    if constexpr (requires { a.directory; }) return quoted(words, a.directory);
    if constexpr (requires { a.queue; }) return quoted(words, a.queue);
    if constexpr (requires { a.platform; }) return quoted(words, a.platform);
    return std::string{words};
  }
};

}  // namespace

std::string text_of(duration time) {
  if (time == without_limit) return "no limit";
  using seconds = std::chrono::duration<double>;
  double const count = std::chrono::duration_cast<seconds>(time).count();
  char text[32];
  if (std::abs(count) < 0.9995) {  // not "1000 ms"
    std::snprintf(text, sizeof text, "%.0f ms", count * 1000);
  } else {
    std::snprintf(text, sizeof text, "%.10g s", std::round(count * 10) / 10);
  }
  return text;
}

std::string text_of(core::request const& what) { return std::visit(describe{}, what); }

}  // namespace coxswain::detail
