#include "servers/machine.hpp"

#include "bench_error.hpp"
#include "report/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

namespace coxswain::bench {
namespace {

std::string processor() {
  std::ifstream file{"/proc/cpuinfo"};
  for (std::string line; std::getline(file, line);) {
    auto const colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string machine() {
  constexpr double gib = 1024.0 * 1024 * 1024;
  auto const bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  utsname system{};
  uname(&system);
  return fmt::format("{}, {}, {:.0f} GiB, {} {}", processor(),
                     counted(static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)), "CPU"),
                     std::round(bytes / gib), static_cast<char const*>(system.sysname),
                     static_cast<char const*>(system.release));
}

std::string program() {
#ifdef NDEBUG
  constexpr std::string_view purpose = "release";
#else
  constexpr std::string_view purpose = "debugging: it is slow";
#endif
#ifdef __clang__
  constexpr std::string_view compiler = "";  // its version begins with its name
#else
  constexpr std::string_view compiler = "g++ ";
#endif
  return fmt::format("coxswain-bench {}, built by {}{} for {}", COXSWAIN_VERSION, compiler,
                     __VERSION__, purpose);
}

}  // namespace

void need_descriptors(std::size_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) throw system_failure("cannot read the file limit");
  auto const wanted = static_cast<rlim_t>(needed);
  if (limit.rlim_cur >= wanted) return;

  auto const hard = limit.rlim_max;
  limit.rlim_cur = std::max(hard, wanted);
  limit.rlim_max = std::max(hard, wanted);
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  limit.rlim_cur = std::min(hard, limit.rlim_cur);
  limit.rlim_max = hard;
  if (hard < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw bench_error{
        fmt::format("this run needs {} open files in each of its processes, but the hard limit of "
                    "open files is {}: use fewer --tasks, or raise the limit as root ('ulimit -Hn "
                    "{}' before the run, or 'nofile' in /etc/security/limits.conf)",
                    needed, hard, needed)};
  }
}

cpu_plan plan_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return {};
  cpu_plan plan;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) continue;
    if (!plan.server) plan.server = cpu;
    plan.load = cpu;
  }
  return plan;
}

std::string cpu_plan::text() const {
  if (!server) return "one CPU for all";
  return fmt::format("servers on CPU {}, load on CPU {}", *server, *load);
}

void pin_to(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(cpu), &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0) {
    throw system_failure(fmt::format("cannot bind a process to CPU {}", cpu));
  }
}

duration cpu_time_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (auto const problem = clock_getcpuclockid(process, &clock); problem != 0)
    errno = problem;
  else if (clock_gettime(clock, &used) == 0) {
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
  }
  throw system_failure(fmt::format("cannot read the CPU time of process {}", process));
}

duration cpu_time_of_ended_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  auto const whole = [](timeval const& t) {
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
  };
  return whole(used.ru_utime) + whole(used.ru_stime);
}

std::optional<memory_use> memory_of(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/status", process)};
  memory_use found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    std::string what;
    std::uint64_t kib = 0;
    words >> what >> kib;
    if (what == "VmHWM:") found.peak_bytes = kib * 1024;
    if (what == "VmRSS:") found.now_bytes = kib * 1024;
  }
  if (found.now_bytes == 0) return std::nullopt;
  return found;
}

void forget_peak(pid_t process) {
  std::ofstream file{fmt::format("/proc/{}/clear_refs", process)};
  file << "5\n";
}

duration wait_time_of(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/schedstat", process)};
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  file >> ran >> waited;
  return file ? duration{waited} : duration{};
}

machine_time read_machine_time() {
  // user nice system idle iowait irq softirq steal; the guests' time is part of user and nice.
  std::ifstream file{"/proc/stat"};
  std::string name;
  std::array<std::int64_t, 8> ticks{};
  file >> name;
  for (auto& t : ticks) file >> t;
  if (!file || name != "cpu") return {};

  auto const tick = duration{1s} / sysconf(_SC_CLK_TCK);
  machine_time now;
  now.busy = tick * (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]);
  now.stolen = tick * ticks[7];
  now.total = now.busy + now.stolen + tick * (ticks[3] + ticks[4]);
  return now;
}

bool disturbance::is_too_much() const { return others > 0.03 || stolen > 0.02 || waiting > 0.03; }

std::string disturbance::warning() const {
  return fmt::format(
      "WARNING: the machine was busy: other processes used {:.0f} % of its CPUs, the hypervisor "
      "took {:.0f} %,\nand ours waited for a CPU {:.0f} % of their time. Only the ratios are "
      "worth something; repeat when it is quiet.",
      100 * others, 100 * stolen, 100 * waiting);
}

disturbance disturbance_between(machine_time const& before, usage const& ours_before,
                                machine_time const& after, usage const& ours_after) {
  auto const share = [](duration part, duration whole) {
    auto const d = [](duration t) { return static_cast<double>(t.count()); };
    return whole > 0ns ? std::clamp(d(part) / d(whole), 0.0, 1.0) : 0.0;
  };
  auto const total = after.total - before.total;
  auto const used = ours_after.used - ours_before.used;
  auto const waited = ours_after.waited - ours_before.waited;
  return {share(after.busy - before.busy - used, total), share(after.stolen - before.stolen, total),
          share(waited, used + waited)};
}

origin here() {
  return {machine(), program(), fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))};
}

progress::progress() : is_live_{::isatty(STDERR_FILENO) != 0} {}

progress::~progress() { show({}); }

void progress::show(std::string const& text) const {
  if (!is_live_) return;
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace coxswain::bench
