// An event is the time since the one before it, its severity, the length of what follows, and that:
// kind, task, barrier, the place of the text's words, and the text's numbers. Numbers are as those
// of texts.

#include "coxswain/core/event_block.hpp"

#include "coxswain/base/text_numbers.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t block_bytes = 4096;

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
  std::string_view const words = block_.words_[static_cast<std::size_t>(take_number())];
  auto numbers = rest();
  auto text = put_numbers_in(words, numbers);
  at_ = block_.bytes_.size() - numbers.size();
  return *std::move(text);
}

std::uint64_t event_block::reader::take_number() noexcept {
  auto from = rest();
  auto const number = coxswain::take_number(from);
  at_ = block_.bytes_.size() - from.size();
  return *number;
}

}  // namespace coxswain::core
