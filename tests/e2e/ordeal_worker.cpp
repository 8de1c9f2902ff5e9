// The same task as ordeal_worker.py, by the C++ client.

#include "coxswain/client/blocking_client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace coxswain;

namespace {

class worker {
 public:
  worker(char const* log, std::string name, std::string resources)
      : log_{open(log, O_WRONLY | O_CREAT | O_APPEND, 0600)},
        name_{std::move(name)},
        resources_{std::move(resources)} {}

  template <class... Rest>
  void note(char const* verb, Rest const&... rest) {
    std::ostringstream line;
    line << std::chrono::steady_clock::now().time_since_epoch().count() << ' ' << verb;
    ((line << ' ' << rest), ...);
    line << '\n';
    auto const text = line.str();
    if (write(log_, text.data(), text.size()) < 0) throw std::runtime_error{"cannot write the log"};
  }

  void live(blocking_client& job) {
    me_ = job.task().value().value;
    auto const id = std::to_string(me_);
    auto const all = job.num_tasks();
    std::vector<std::uint32_t> steady;
    for (std::uint32_t task = 0; task < all; ++task)
      if (task % 4 != 0) steady.push_back(task);
    check(!job.try_get("alive/" + id), "an ephemeral key outlived its task");
    job.put("alive/" + id, name_, key_lifetime::ephemeral);
    auto mine = std::stoll(job.try_get("own/" + id).value_or("0"));
    std::uint64_t version{};
    for (auto const& one : job.list("swap/" + id)) version = one.version;
    std::int64_t met{};
    for (std::uint64_t step = 0;; ++step) {
      std::int64_t const stop = job.try_get("stop") ? 1 : 0;
      note("arrive");
      auto const both = job.reduce("round", stop << 40 | (met ? met + 1 : 0), reduction::max);
      auto round = both & ((1LL << 40) - 1);
      if (round == 0) round = 1;
      check(met == 0 || round == met + 1, "round", met, round);
      met = round;
      note("released", round);
      if (both >> 40) return;
      if (me_ % 4 != 0) {
        barrier_options who;
        who.participants = task_list{steady}.ids();
        note("steady", job.barrier("steady", who));
      }

      note("count?");
      note("count", job.increment("count"));
      auto const own = job.increment("own/" + id);
      check(own == ++mine, "own count", own, mine);

      auto const element = name_ + ":" + std::to_string(step);
      note("push?", element);
      job.push("queue/" + std::to_string(me_ % 8), element);
      note("push", element);
      note("pop?");
      auto const item = job.pop("queue/" + std::to_string((me_ + 1) % 8));
      note("pop", item.value, item.number);

      note("swap?", me_, step);
      auto const expected = version == 0 ? expectation::absent() : expectation::version(version);
      auto const swap = job.compare_and_set("swap/" + id + "/x", std::to_string(step), expected);
      check(swap && swap.version > version, "swap", version, swap.version);
      version = swap.version;
      note("swap", me_, version);

      guarded(job, "lock-" + std::to_string(me_ % 4));
      check(job.try_get("alive/" + id) == name_, "my ephemeral key is gone");
      auto const next = std::to_string((me_ + 1) % all);
      if (!job.try_get("alive/" + next)) note("absent", next);
    }
  }

 private:
  template <class... What>
  void check(bool is_right, What const&... what) {
    if (is_right) return;
    note("wrong", what...);
    throw std::runtime_error{"wrong, see the log"};
  }

  void guarded(blocking_client& job, std::string const& lock) {
    note("guarded?", lock);
    auto const token = job.lock(lock);
    auto const file = resources_ + "/" + lock;
    auto const before = token_in(file);
    check(before < token, "token", lock, before, token);
    auto const aside = file + "." + name_;  // a killed task must not leave half of it
    std::ofstream{aside} << token;
    std::filesystem::rename(aside, file);
    auto const count = std::stoll(job.try_get("guarded/" + lock).value_or("0")) + 1;
    job.put("guarded/" + lock, std::to_string(count), put_mode::overwrite);
    check(token_in(file) == token, "two owners", lock, token);
    note("guarded", lock, token, count);
    job.unlock(lock, token);
  }

  static std::uint64_t token_in(std::string const& file) {
    std::uint64_t token{};
    std::ifstream{file} >> token;
    return token;
  }

  int log_;
  std::string name_;
  std::string resources_;
  std::uint32_t me_{};
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::invalid_argument{"usage: coxswain-e2e-ordeal LOG ID RESOURCES"};
  worker one{argv[1], argv[2], argv[3]};
  auto options = client_options::from_environment();
  options.recoverable = options.task && options.task->value % 4 == 0;
  blocking_client job{std::move(options)};
  job.join();
  one.note("joined", job.incarnation());
  one.live(job);
  job.leave();
  one.note("left");
} catch (std::exception const& problem) {
  std::cerr << problem.what() << '\n';
  return 1;
}
