#include "load/resp.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::string_view line_end = "\r\n";

std::int64_t number_in(std::string_view line) {
  std::int64_t number = 0;
  auto const* const end = line.data() + line.size();
  auto const read = std::from_chars(line.data() + 1, end, number);
  if (read.ec == std::errc{} && read.ptr == end) return number;
  throw bench_error{fmt::format("it sent nonsense: '{}' has no length", line)};
}

}  // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", words.size());
  for (auto const word : words) {
    fmt::format_to(std::back_inserter(out), "${}\r\n", word.size());
    out.append(word).append(line_end);
  }
}

std::optional<received_frame> resp_reader::next(std::string_view& input) {
  if (is_taken_) {
    kept_.clear();
    is_taken_ = false;
  }
  std::size_t used = 0;
  while (values_ > 0) {
    if (body_bytes_ > 0) {
      auto const taken = std::min(body_bytes_, input.size() - used);
      used += taken;
      body_bytes_ -= taken;
      if (body_bytes_ > 0) break;
      --values_;
    } else if (!take_line(input.substr(used), used)) {
      break;
    }
  }
  auto const taken = input.substr(0, used);
  input.remove_prefix(used);
  bytes_ += used;
  if (values_ > 0) {
    keep(taken);
    return std::nullopt;
  }
  values_ = 1;
  auto const bytes = std::exchange(bytes_, 0);
  if (bytes == used) return received_frame{taken, bytes};
  keep(taken);
  is_taken_ = true;
  return received_frame{kept_, bytes};
}

// False if its end has not arrived yet.
bool resp_reader::take_line(std::string_view rest, std::size_t& used) {
  auto const end = rest.find('\n');
  if (end == std::string_view::npos) {
    line_ += rest;
    used += rest.size();
    return false;
  }
  used += end + 1;
  if (line_.empty()) {
    begin_value(rest.substr(0, end + 1));
  } else {
    line_ += rest.substr(0, end + 1);
    begin_value(line_);
    line_.clear();
  }
  return true;
}

void resp_reader::begin_value(std::string_view line) {
  if (line.size() <= line_end.size() || !line.ends_with(line_end)) {
    throw bench_error{"it sent nonsense: a line without a proper end"};
  }
  line.remove_suffix(line_end.size());
  switch (line.front()) {
    case '$':
    case '=':
      if (auto const size = number_in(line); size >= 0) {
        body_bytes_ = static_cast<std::size_t>(size) + line_end.size();
        return;
      }
      break;
    case '*':
    case '>':
    case '~':
      values_ += static_cast<std::uint64_t>(std::max<std::int64_t>(number_in(line), 0));
      break;
    case '%': values_ += static_cast<std::uint64_t>(2 * number_in(line)); break;
    default: break;
  }
  --values_;
}

void resp_reader::keep(std::string_view bytes) {
  kept_ += bytes.substr(0, kept_bytes_max - std::min(kept_bytes_max, kept_.size()));
}

}  // namespace coxswain::bench
