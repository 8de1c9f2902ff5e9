#include "stacks/process_state.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::size_t proc_bytes_max = 64 * 1024;
constexpr std::size_t kernel_frames_max = 32;

std::string content_of(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string content(proc_bytes_max, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (content.ends_with('\n')) content.pop_back();
  return content;
}

std::string path_of(pid_t pid, std::string_view file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    auto const end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

struct named_call {
  long number;
  std::string_view name;
  bool takes_descriptor;  // as its first argument
};

constexpr auto calls = std::to_array<named_call>({
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_pread64, "pread", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_openat, "open", false},
    {SYS_close, "close", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_fstat, "fstat", true},
    {SYS_newfstatat, "stat", false},
    {SYS_statx, "stat", false},
    {SYS_getdents64, "reading a directory", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_futex, "futex", false},
    {SYS_ppoll, "poll", false},
    {SYS_pselect6, "select", false},
    {SYS_epoll_pwait, "epoll_wait", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_connect, "connect", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept", true},
    {SYS_recvfrom, "recv", true},
    {SYS_recvmsg, "recv", true},
    {SYS_sendto, "send", true},
    {SYS_sendmsg, "send", true},
    {SYS_wait4, "wait", false},
    {SYS_waitid, "wait", false},
    {SYS_rt_sigtimedwait, "sigwait", false},
    {SYS_kill, "kill", false},
    {SYS_restart_syscall, "a call that was interrupted", false},
#ifdef SYS_poll
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_epoll_wait, "epoll_wait", false},
    {SYS_open, "open", false},
    {SYS_stat, "stat", false},
    {SYS_pause, "pause", false},
#endif
});

named_call const* call_of(long number) {
  auto const* const at = std::find_if(calls.begin(), calls.end(),
                                      [number](auto const& one) { return one.number == number; });
  return at == calls.end() ? nullptr : at;
}

std::string file_of_descriptor(pid_t pid, std::uint64_t descriptor) {
  std::error_code problem;
  auto const file =
      std::filesystem::read_symlink(path_of(pid, fmt::format("fd/{}", descriptor)), problem);
  return problem ? std::string{} : file.string();
}

}  // namespace

std::optional<process_entry> parse_stat(std::string_view line) {
  auto const open = line.find('(');
  auto const close = line.rfind(')');  // a name may have parentheses, too
  if (open == line.npos || close == line.npos || close < open) return std::nullopt;
  auto const before = words_of(line.substr(0, open));
  auto const after = words_of(line.substr(close + 1));
  constexpr std::size_t resident = 21;
  if (before.size() != 1 || after.size() <= resident || after[0].size() != 1) return std::nullopt;
  auto const pid = number_in<pid_t>(before[0]);
  auto const parent = number_in<pid_t>(after[1]);
  auto const pages = number_in<std::int64_t>(after[resident]);
  if (!pid || !parent || !pages) return std::nullopt;
  return process_entry{*pid, *parent, after[0][0],
                       std::string{line.substr(open + 1, close - open - 1)},
                       static_cast<std::uint64_t>(std::max<std::int64_t>(*pages, 0))};
}

// But this one.
std::vector<process_entry> other_processes() {
  std::vector<process_entry> all;
  std::error_code problem;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc", problem}) {
    auto const pid = number_in<pid_t>(entry.path().filename().string());
    if (!pid || *pid == ::getpid()) continue;
    if (auto found = parse_stat(content_of((entry.path() / "stat").string()))) {
      all.push_back(*std::move(found));
    }
  }
  return all;
}

std::optional<process_entry> chosen_process(std::vector<process_entry> const& all, pid_t root,
                                            std::string_view client) {
  std::multimap<pid_t, process_entry const*> children;
  std::vector<process_entry const*> tree;
  for (auto const& one : all) {
    children.emplace(one.parent, &one);
    if (one.pid == root) tree.push_back(&one);
  }
  // Each has one parent, so it is met once.
  for (std::size_t i = 0; i < tree.size() && tree.size() <= all.size(); ++i) {
    auto const [begin, end] = children.equal_range(tree[i]->pid);
    for (auto at = begin; at != end; ++at) tree.push_back(at->second);
  }
  if (tree.empty()) return std::nullopt;
  auto const named = number_in<pid_t>(client.substr(client.rfind(':') + 1));
  for (auto const* one : tree) {
    if (named == one->pid) return *one;
  }
  auto const smaller = [](auto const* a, auto const* b) {
    return a->resident_pages < b->resident_pages;
  };
  return **std::max_element(tree.begin(), tree.end(), smaller);
}

std::string syscall_name(long number) {
  auto const* const known = call_of(number);
  return known ? std::string{known->name} : fmt::format("system call {}", number);
}

std::string syscall_text(std::string_view line,
                         std::function<std::string(std::uint64_t)> const& file_of) {
  auto const words = words_of(line);
  if (words.size() < 2) return {};
  auto const number = number_in<long>(words[0]);
  if (!number || *number < 0) return {};
  auto text = syscall_name(*number);
  auto const* const known = call_of(*number);
  if (!known || !known->takes_descriptor || !words[1].starts_with("0x")) return text;
  auto const descriptor = number_in<std::uint64_t>(words[1].substr(2), 16);
  auto const file = descriptor ? file_of(*descriptor) : std::string{};
  return file.empty() ? text : text + " of " + file;
}

std::string state_text(char state) {
  switch (state) {
    case 'R': return "running";
    case 'S': return "sleeping";
    case 'D': return "waiting for a device or file system";
    case 'T': return "stopped (SIGSTOP or Ctrl-Z)";
    case 't': return "stopped by a debugger";
    case 'Z': return "ended, and its parent does not notice";
    case 'I': return "idle";
    default: return fmt::format("in state {}", state);
  }
}

std::string activity_of(process_entry const& process) {
  auto const text = state_text(process.state);
  auto const call = syscall_text(
      content_of(path_of(process.pid, "syscall")),
      [&](std::uint64_t descriptor) { return file_of_descriptor(process.pid, descriptor); });
  if (!call.empty()) return text + " in " + call;
  auto const channel = content_of(path_of(process.pid, "wchan"));
  return channel.empty() || channel == "0" ? text : text + " in the kernel's " + channel;
}

// Lines such as "[<0>] hrtimer_nanosleep+0x99/0x120".
std::vector<std::string> kernel_frames(pid_t pid) {
  std::vector<std::string> frames;
  auto const content = content_of(path_of(pid, "stack"));
  std::string_view rest = content;
  while (!rest.empty() && frames.size() < kernel_frames_max) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line.remove_prefix(
        std::min(line.find("] ") == line.npos ? 0 : line.find("] ") + 2, line.size()));
    line = line.substr(0, line.find('+'));
    if (!line.empty()) frames.emplace_back(line);
  }
  return frames;
}

}  // namespace coxswain::tools
