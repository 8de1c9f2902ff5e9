#include "coxswain/core/model/reasons.hpp"

#include "coxswain/core/kernel/text.hpp"

namespace coxswain::core {

argument::argument(duration value) : text{in_words(value)} {}

std::string formatted(std::string_view text, std::initializer_list<argument> arguments) {
  std::string made;
  for (argument const& argument : arguments) {
    auto const begin = text.find('{');
    auto const literal = text.substr(0, begin);
    made.append(literal);
    made.append(literal.ends_with('\'') ? shortened(argument.text, quoted_bytes_max)
                                        : argument.text);
    text.remove_prefix(text.find('}', begin) + 1);
  }
  return made.append(text);
}

bool gives(std::string_view text, std::string_view reason) noexcept {
  while (!reason.empty()) {
    auto const literal = reason.substr(0, reason.find('{'));
    auto const at = text.find(literal);
    if (at == text.npos) return false;
    text.remove_prefix(at + literal.size());
    reason.remove_prefix(std::min(reason.find('}', literal.size()), reason.size() - 1) + 1);
  }
  return true;
}

}  // namespace coxswain::core
