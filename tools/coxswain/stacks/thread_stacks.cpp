#include "stacks/thread_stacks.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t threads_max = 64;
constexpr std::size_t frames_max = 100;
constexpr std::size_t line_bytes_max = 200;

std::string_view without_space(std::string_view text) {
  auto const is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    take(line);
  }
}

std::string cut(std::string_view text) { return std::string{text.substr(0, line_bytes_max)}; }

class collector {
 public:
  void thread(std::string_view name) {
    is_full_ = all_.size() == threads_max;
    if (!is_full_) all_.push_back({cut(name), {}});
  }
  void frame(std::string_view text) {
    if (all_.empty()) thread({});
    if (!is_full_ && all_.back().frames.size() < frames_max && !text.empty() && text != "??") {
      all_.back().frames.push_back(cut(text));
    }
  }
  // `is_main` chooses the main thread; without one it is the first.
  template <class IsMain>
  std::vector<thread_stack> finish(IsMain is_main) {
    std::erase_if(all_, [](thread_stack const& one) { return one.frames.empty(); });
    auto const main = std::find_if(all_.begin(), all_.end(), is_main);
    if (main != all_.end()) std::rotate(all_.begin(), main, main + 1);
    return std::move(all_);
  }

 private:
  std::vector<thread_stack> all_;
  bool is_full_{};
};

std::string_view without_address(std::string_view text) {
  if (!text.starts_with("0x")) return text;
  auto const end = text.find(' ');
  return end == text.npos ? std::string_view{} : without_space(text.substr(end));
}

// "0x00007f12ab in read () from /lib/libc.so.6" and "main (argc=1) at main.c:3" without addresses
// and arguments.
std::string c_frame(std::string_view text) {
  text = without_address(text);
  if (text.starts_with("in ")) text = without_space(text.substr(3));
  auto const arguments = text.find(" (");
  auto const end = arguments == text.npos ? text.npos : text.find(')', arguments);
  if (end == text.npos) return std::string{text};
  std::string made{text.substr(0, arguments)};
  auto const where = text.rfind(" at ");
  if (where != text.npos && where >= end) {
    auto const path = text.substr(where + 4);
    made.append(" (").append(path.substr(path.rfind('/') + 1)).append(")");
  }
  return made;
}

// "#3  " and what follows it; empty: the line is no frame.
std::string_view after_number(std::string_view line) {
  line = without_space(line);
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  auto const digits = std::find_if(line.begin(), line.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) == 0;
  });
  if (digits == line.begin()) return {};
  return without_space(line.substr(static_cast<std::size_t>(digits - line.begin())));
}

}  // namespace

// Thread 3391 (idle): "MainThread"
//     load (train.py:31)
std::vector<thread_stack> py_spy_stacks(std::string_view output) {
  collector all;
  bool has_begun = false;
  each_line(output, [&](std::string_view line) {
    if (line.starts_with("Thread ")) {
      has_begun = true;
      auto const begin = line.find('"');
      auto const end = line.rfind('"');
      bool const is_named = begin != line.npos && end > begin;
      all.thread(is_named ? line.substr(begin + 1, end - begin - 1) : std::string_view{});
    } else if (has_begun && line.starts_with("    ")) {
      all.frame(without_space(line));
    }
  });
  return all.finish([](thread_stack const& one) { return one.name == "MainThread"; });
}

// TID 3391:
// #0  0x00007f12ab clock_nanosleep
std::vector<thread_stack> eu_stacks(std::string_view output) {
  collector all;
  each_line(output, [&](std::string_view line) {
    if (line.starts_with("TID ")) return all.thread({});
    auto const name = without_address(after_number(line));
    all.frame(name.substr(0, name.find('@')));  // without its version
  });
  return all.finish([](thread_stack const&) { return true; });
}

// Thread 2 (Thread 0x7f12ab (LWP 3392) "worker"):
// #0  0x00007f12ab in clock_nanosleep () from /lib/libc.so.6
// The main thread is number 1, which comes last.
std::vector<thread_stack> gdb_stacks(std::string_view output) {
  collector all;
  each_line(output, [&](std::string_view line) {
    if (line.starts_with("Thread ")) {
      return all.thread(line.starts_with("Thread 1 ") ? "main" : "");
    }
    all.frame(c_frame(after_number(line)));
  });
  return all.finish([](thread_stack const& one) { return one.name == "main"; });
}

}  // namespace coxswain::tools
