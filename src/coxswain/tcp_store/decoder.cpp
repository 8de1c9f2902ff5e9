#include "coxswain/tcp_store/decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace coxswain::tcp_store {
namespace {

// The fields of a request.
struct layout {
  std::string_view name;
  std::uint8_t texts{};   // or, if they are counted, how many belong together
  bool is_counted{};      // a number before them says how many there are
  std::uint8_t number{};  // bytes of the number after them
};

constexpr std::array<layout, queries> layouts{{
    {"validate", 0, false, 4},    {"set", 2, false, 0},       {"compare_set", 3, false, 0},
    {"get", 1, false, 0},         {"add", 1, false, 8},       {"check", 1, true, 0},
    {"wait", 1, true, 0},         {"num_keys", 0, false, 0},  {"delete_key", 1, false, 0},
    {"append", 2, false, 0},      {"multi_get", 1, true, 0},  {"multi_set", 2, true, 0},
    {"cancel_wait", 0, false, 0}, {"ping", 0, false, 4},      {"queue_push", 2, false, 0},
    {"queue_pop", 1, false, 0},   {"queue_len", 1, false, 0}, {"list_keys", 0, false, 0},
    {"barrier", 1, false, 8},
}};

layout const& layout_of(query what) { return layouts[static_cast<std::size_t>(what)]; }

constexpr std::size_t length_width = 8;

// Besides its content, in memory.
constexpr std::size_t text_overhead = sizeof(std::string);

}  // namespace

std::string_view name(query what) noexcept { return layout_of(what).name; }

result<std::optional<request>> decoder::next(std::string_view& input) {
  while (!is_whole_) {
    if (next_ == part::text) {
      if (asks_ != 0) return std::nullopt;
      take_text(input);
      if (next_ == part::text && !is_whole_) return std::nullopt;
      continue;
    }
    if (next_ == part::query) {
      if (input.empty()) return std::nullopt;
      char const first = input.front();
      input.remove_prefix(1);
      if (status why = begin(first); !why.ok()) return why;
      continue;
    }
    bool const is_last = next_ == part::number;
    auto const number = take_number(input, is_last ? number_width_ : length_width);
    if (!number) return std::nullopt;
    if (is_last) {
      made_.number = static_cast<std::int64_t>(*number);
      is_whole_ = true;
    } else {
      status why = next_ == part::text_count ? count_texts(*number) : begin_text(*number);
      if (!why.ok()) return why;
    }
  }
  return finish();
}

status decoder::begin(char byte) {
  auto const number = static_cast<std::uint8_t>(byte);
  if (number >= queries) {
    return {errc::invalid_argument,
            "TCPStore request " + std::to_string(number) + " is unknown to this coordinator"};
  }
  made_.what = static_cast<query>(number);
  auto const& of = layout_of(made_.what);
  number_width_ = of.number;
  bytes_ = 1;
  if (of.is_counted) {
    next_ = part::text_count;
  } else {
    texts_left_ = of.texts + std::uint64_t{1};
    end_text();
  }
  return {};
}

status decoder::count_texts(std::uint64_t count) {
  auto const each = layout_of(made_.what).texts;
  // Each of them has at least its length.
  if (count > bytes_max_ / length_width / each) return too_large(count * length_width * each);
  texts_left_ = count * each + 1;
  end_text();
  return {};
}

status decoder::begin_text(std::uint64_t length) {
  std::size_t const more = text_overhead + length;
  if (length > bytes_max_ || bytes_ + more > bytes_max_) return too_large(length);
  length_ = length;
  bytes_ += more;
  made_.texts.emplace_back();
  next_ = part::text;
  if (bytes_ > allowed_) asks_ = bytes_;
  return {};
}

void decoder::allow() noexcept { allowed_ = 2 * std::exchange(asks_, 0); }

void decoder::take_text(std::string_view& input) {
  auto& text = made_.texts.back();
  auto const some = input.substr(0, length_ - text.size());
  if (text.size() + some.size() > text.capacity()) {
    text.reserve(std::min(length_, std::max(text.size() + some.size(), 2 * text.capacity())));
  }
  text += some;
  input.remove_prefix(some.size());
  counted_.count(bytes_ - length_ + text.capacity());
  if (text.size() == length_) end_text();
}

// The next field, after a text or at the beginning.
void decoder::end_text() {
  if (--texts_left_ != 0) {
    next_ = part::text_length;
  } else if (number_width_ != 0) {
    next_ = part::number;
  } else {
    is_whole_ = true;
  }
}

std::optional<std::uint64_t> decoder::take_number(std::string_view& input, std::size_t width) {
  auto const some = input.substr(0, width - partial_.size());
  partial_ += some;
  input.remove_prefix(some.size());
  if (partial_.size() < width) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = width; i > 0; --i) {
    number = number << 8 | static_cast<std::uint8_t>(partial_[i - 1]);
  }
  partial_.clear();
  return number;
}

status decoder::too_large(std::uint64_t bytes) const {
  return {errc::invalid_argument, "a TCPStore request (" + std::string{name(made_.what)} +
                                      ") announces " + std::to_string(bytes) +
                                      " bytes, but the limit is " + std::to_string(bytes_max_)};
}

request decoder::finish() {
  next_ = part::query;
  is_whole_ = false;
  allowed_ = unasked_max_;
  counted_.count(0);
  return std::exchange(made_, {});
}

}  // namespace coxswain::tcp_store
