#include "tests/hostile/undisturbed.hpp"

#include "coxswain/client/blocking_client.hpp"
#include "tests/hostile/quiet_job.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace coxswain::hostile {
namespace {

constexpr int attempts = 10;  // other load of the machine disturbs the job, too
constexpr duration livez_max = 100ms;
constexpr duration livez_period = 20ms;
constexpr duration termination_max = 5s;
constexpr double too_long_max = 0.01;  // of all iterations

// Eight quanta plus the most expensive request: examining 65,536 changes for a watch.
constexpr double steps_max = 2'048 + 4'100;

// Sends GET /livez repeatedly on its own thread.
class livez_watch {
 public:
  explicit livez_watch(coordinator_process const& of) : thread_{[this, &of] { run(of); }} {}
  ~livez_watch() { stop(); }
  livez_watch(livez_watch const&) = delete;
  livez_watch& operator=(livez_watch const&) = delete;

  // Ends the thread; returns the longest response time.
  duration stop() {
    {
      std::lock_guard const lock{mutex_};
      stopped_ = true;
    }
    stops_.notify_one();
    if (thread_.joinable()) thread_.join();
    return longest_;
  }

 private:
  void run(coordinator_process const& of) {
    try {
      std::unique_lock lock{mutex_};
      do {
        lock.unlock();
        longest_ = std::max(longest_, of.ask_livez());
        lock.lock();
      } while (!stops_.wait_for(lock, livez_period, [this] { return stopped_; }));
    } catch (std::exception const&) {
      longest_ = duration::max();
    }
  }

  std::mutex mutex_;
  std::condition_variable stops_;
  bool stopped_{};
  duration longest_{};
  std::thread thread_;
};

// Loop iterations, and how many of them took longer than the target.
struct iterations {
  explicit iterations(coordinator_process const& of)
      : all{of.metric("coxswain_loop_iteration_seconds_count")},
        too_long{all - of.metric("coxswain_loop_iteration_seconds_bucket{le=\"0.005\"}")} {}
  double all;
  double too_long;
};

double in_ms(duration d) { return std::chrono::duration<double, std::milli>{d}.count(); }

}  // namespace

void expect_undisturbed(coordinator_process& coordinator, std::vector<attacker> const& by,
                        duration how_long) {
  std::ostringstream seen;
  bool held = false;
  {
    quiet_job job{coordinator.address(), job_tasks};
    for (int i = 0; i < attempts && !held; ++i) {
      latencies const quiet = job.measure(how_long / 2);
      attack attackers{coordinator.address(), by};
      iterations const before{coordinator};
      livez_watch probes{coordinator};
      latencies const beside = job.measure(how_long);
      duration const livez = probes.stop();
      BOOST_TEST(attackers.goes_on(), "the attackers were cut off");
      iterations const after{coordinator};
      double const all = after.all - before.all;
      double const too_long = after.too_long - before.too_long;
      held =
          beside.p99 < 2 * quiet.p99 + 10ms && livez < livez_max && too_long <= all * too_long_max;
      seen << "\n  in peace p50 " << in_ms(quiet.p50) << " ms, p99 " << in_ms(quiet.p99)
           << " ms; under attack p50 " << in_ms(beside.p50) << " ms, p99 " << in_ms(beside.p99)
           << " ms, longest " << in_ms(beside.max) << " ms of " << beside.count
           << " barriers; /livez " << in_ms(livez) << " ms; " << too_long << " of " << all
           << " iterations took longer than 5 ms";
    }
    BOOST_TEST(job.reconnects() == 0U);
    BOOST_TEST(coordinator.metric("coxswain_worker_wait_iterations_max") <= 2);
    double const steps = coordinator.metric("coxswain_loop_iteration_steps_max");
    BOOST_TEST(steps <= steps_max);
    seen << "\n  the longest iteration of all took "
         << 1000 * coordinator.metric("coxswain_loop_iteration_max_seconds") << " ms, most steps "
         << steps;
  }
  BOOST_TEST(held, "the job is disturbed:" << seen.str());
  BOOST_TEST_MESSAGE(seen.str());
  attack const attackers{coordinator.address(), by};
  BOOST_TEST((coordinator.terminate() < termination_max));
}

void put_keys(std::string const& address, std::string const& directory, std::size_t count,
              std::string const& value) {
  constexpr std::size_t at_once = 1000;
  client_options options{address};
  options.token = "operator";
  blocking_client client{options};
  for (std::size_t i = 0; i < count;) {
    std::vector<std::pair<std::string, std::string>> some;
    for (; i < count && some.size() < at_once; ++i) {
      some.emplace_back(directory + '/' + std::to_string(i), value);
    }
    client.put_all(std::move(some));
  }
}

}  // namespace coxswain::hostile
