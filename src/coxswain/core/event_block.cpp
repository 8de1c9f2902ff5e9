// An event is the time since the one before it, its severity, the length of what follows, and that:
// kind, task, barrier, the place of the text's words, and the text's numbers. Numbers are of seven
// bits in a byte, the lowest first.

#include "coxswain/core/event_block.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t block_bytes = 4096;

// In the words of a text: here comes a number; and: the next character is one of the text.
constexpr char number_mark = '\0';
constexpr char plain_mark = '\1';

// So many fit into 64 bits, whatever they are.
constexpr std::size_t digits_max = 19;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_mark(char c) noexcept { return c == number_mark || c == plain_mark; }

void append_number(std::string& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
}

// Splits a text into its words, which are returned, and its numbers. Zeros before a number are
// words.
std::string take_numbers_out(std::string_view text, std::string& numbers) {
  std::string words;
  words.reserve(text.size());
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && !is_digit(text[plain]) && !is_mark(text[plain])) ++plain;
    words += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    bool const is_leading_zero = text[0] == '0' && text.size() > 1 && is_digit(text[1]);
    if (is_leading_zero || is_mark(text[0])) {
      if (is_mark(text[0])) words += plain_mark;
      words += text[0];
      text.remove_prefix(1);
      continue;
    }
    std::uint64_t number = 0;
    auto const most = text.substr(0, digits_max);
    auto const rest = std::from_chars(most.data(), most.data() + most.size(), number).ptr;
    append_number(numbers, number);
    words += number_mark;
    text.remove_prefix(static_cast<std::size_t>(rest - most.data()));
  }
  return words;
}

}  // namespace

bool event_block::is_full() const noexcept { return bytes_.size() + words_bytes_ >= block_bytes; }

void event_block::shrink() {
  bytes_.shrink_to_fit();
  words_.shrink_to_fit();
}

void event_block::add(duration at, event const& what) {
  std::string numbers;
  auto words = take_numbers_out(what.text, numbers);
  std::string rest{static_cast<char>(what.kind)};
  append_number(rest, what.task ? std::uint64_t{what.task->value} + 1 : 0);
  append_number(rest, what.barrier.size());
  rest += what.barrier;
  append_number(rest, index_of(std::move(words)));
  rest += numbers;

  append_number(bytes_, static_cast<std::uint64_t>((at - std::exchange(last_at_, at)).count()));
  bytes_ += static_cast<char>(what.level);
  append_number(bytes_, rest.size());
  bytes_ += rest;
  ++next_;
}

std::uint64_t event_block::index_of(std::string&& words) {
  auto const found = std::find(words_.begin(), words_.end(), words);
  auto const index = static_cast<std::uint64_t>(found - words_.begin());
  if (found == words_.end()) {
    words_bytes_ += sizeof(std::string) + words.size();
    words_.push_back(std::move(words));
  }
  return index;
}

std::optional<events_answer::entry> event_block::reader::next(std::uint64_t after,
                                                              severity at_least) {
  while (number_ != block_.next_) {
    std::uint64_t const number = number_++;
    time_ += duration{static_cast<std::int64_t>(take_number())};
    auto const level = static_cast<severity>(block_.bytes_[at_++]);
    auto const size = static_cast<std::size_t>(take_number());
    if (number > after && level >= at_least)
      return events_answer::entry{number, time_, take_event(level)};
    at_ += size;
  }
  return std::nullopt;
}

event event_block::reader::take_event(severity level) {
  event what;
  what.level = level;
  what.kind = static_cast<event_kind>(block_.bytes_[at_++]);
  if (auto const task = take_number(); task != 0) {
    what.task = task_id{static_cast<std::uint32_t>(task - 1)};
  }
  auto const barrier_bytes = static_cast<std::size_t>(take_number());
  what.barrier = block_.bytes_.substr(at_, barrier_bytes);
  at_ += barrier_bytes;
  what.text = take_text();
  return what;
}

std::string event_block::reader::take_text() {
  std::string_view words = block_.words_[static_cast<std::size_t>(take_number())];
  std::string text;
  while (!words.empty()) {
    if (words[0] == number_mark) {
      text += std::to_string(take_number());
    } else {
      if (words[0] == plain_mark) words.remove_prefix(1);
      text += words[0];
    }
    words.remove_prefix(1);
  }
  return text;
}

std::uint64_t event_block::reader::take_number() noexcept {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    auto const byte = static_cast<unsigned char>(block_.bytes_[at_++]);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
}

}  // namespace coxswain::core
