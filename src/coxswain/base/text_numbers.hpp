#pragma once
// Splits a text into its words and its numbers, since most texts for people differ from an earlier
// one only in numbers. Numbers are encoded as varints: seven bits per byte, the lowest first.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain {

void append_number(std::string& to, std::uint64_t number);

// Takes a number from the front; none if it is incomplete.
[[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& from) noexcept;

// Replaces `words` by the words of the text, with a mark for each number, and appends the numbers.
// Zeros before a number are words.
void take_numbers_out(std::string_view text, std::string& words, std::string& numbers);

// Rebuilds the text from its words and from the numbers at the front, which are removed. None if
// there are too few.
[[nodiscard]] std::optional<std::string> put_numbers_in(std::string_view words,
                                                        std::string_view& numbers);

}  // namespace coxswain
