#include "tests/fuzz/any_request.hpp"

#include "coxswain/core/model/operations.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coxswain::core {
namespace {

using test::random_source;

// The inputs of a random request.
struct maker {
  random_source& rng;
  std::uint32_t num_tasks;
  task_id home;
  std::optional<task_id> speaker;  // the task that the request is for

  std::uint64_t upto(std::uint64_t last) { return rng.upto(last); }
  bool one_in(std::uint64_t n) { return rng.one_in(n); }
  task_id task() { return any_task(rng, num_tasks); }
  duration timeout() {
    return rng.one_of(std::vector<duration>{0s, 1ms, 50ms, 1s, 5s, 60s, without_limit});
  }
  std::string odd_name() {
    return rng.one_of(std::vector<std::string>{"a", "b", "c", "d", "d/e", "/d//f", "",
                                               std::string(41, 'n'), std::string("x\0y", 3),
                                               "\xff"});
  }
  std::string name() {
    return one_in(8) ? odd_name() : rng.one_of(std::vector<std::string>{"a", "b", "c", "d/e"});
  }
  std::string directory() { return one_in(2) ? "" : odd_name(); }
  std::string value() { return std::string(upto(upto(3100)), 'v'); }
  // Mostly one that may exist now.
  std::optional<std::uint64_t> version() {
    if (one_in(3)) return std::nullopt;
    return upto(one_in(10) ? 100'000 : 40);
  }
  // Any task, mostly with its usual incarnation.
  incarnation self() {
    speaker = task();
    return incarnation{one_in(6) ? upto(9) : speaker->value};
  }
};

join_args any_join(maker& m) {
  join_args args{m.self(), m.timeout()};
  if (m.one_in(2)) args.recoverable = m.one_in(2);
  args.take_over = m.one_in(8);
  args.any = m.one_in(3);
  args.with_hello = m.one_in(8);
  args.is_jax = m.one_in(4);
  if (m.one_in(2)) args.member = std::string(1, m.rng.one_of(std::string{"abc"}));
  if (m.one_in(4)) args.placement = {"pod", std::string(1, m.rng.one_of(std::string{"xy"}))};
  return args;
}

void reduce_anything(maker& m, barrier_args& args) {
  if (!m.one_in(3)) {
    // A value that all callers can share.
    args.name = "sum";
    args.participants.clear();
    args.gather = false;
    args.reduce = reduction::sum_int64;
    args.fail_when_lost = false;
    args.data = std::string(8, m.rng.one_of(std::string{"\x01\x7f"}));
    return;
  }
  args.gather = m.one_in(20);
  args.reduce = m.rng.one_of(std::vector<reduction>{
      reduction::sum_int64, reduction::min_int64, reduction::max_double, reduction::bit_and,
      reduction::bit_or, reduction::all_equal, reduction::unknown});
  std::size_t const size = m.one_in(10) ? m.upto(9) : 8;
  args.data = std::string(size, m.rng.one_of(std::string{"\x01\x7f"}));
}

barrier_args any_barrier(maker& m) {
  barrier_args args{.name = m.name(), .timeout = m.timeout()};
  if (m.one_in(4)) {
    for (auto i = m.upto(2); i > 0; --i) args.participants.push_back(m.task());
    args.participants.push_back(m.speaker.value_or(m.home));
  }
  args.gather = m.one_in(4);
  if (args.gather || m.one_in(20)) args.data = std::string(m.upto(45), 'g');
  if (m.one_in(4)) args.progress_every = m.rng.one_of(short_times);
  args.fail_when_lost = m.one_in(8);
  args.of_jax_tasks = m.one_in(8);
  if (m.one_in(6)) reduce_anything(m, args);
  return args;
}

// Mostly neither: after a stop nothing is left to do, and after a drain little.
end_job_args any_end_job(maker& m) {
  auto const how = m.one_in(40) ? job_end::stop : m.one_in(20) ? job_end::drain : job_end::unknown;
  return {how, m.one_in(2) ? m.odd_name() : std::string{}};
}

cancel_barrier_args any_cancel_barrier(maker& m) {
  cancel_barrier_args args{.name = m.name()};
  if (m.one_in(2)) args.round = round_number{m.upto(5)};
  return args;
}

expected_value any_expectation(maker& m) {
  switch (m.upto(3)) {
    case 0: return absent_value{};
    case 1: return std::string{"v"};
    case 2: return m.upto(20);
    default: return {};
  }
}

put_all_args any_put_all(maker& m) {
  put_all_args args;
  for (auto i = m.upto(3); i > 0; --i) args.entries.push_back({m.name(), m.value()});
  args.overwrite = m.one_in(2);
  return args;
}

get_all_args any_get_all(maker& m) {
  get_all_args args;
  for (auto i = m.upto(3); i > 0; --i) args.keys.push_back(m.name());
  args.timeout = m.timeout();
  args.without_values = m.one_in(4);
  return args;
}

watch_keys_args any_watch_keys(maker& m) {
  watch_keys_args args{.directory = m.directory()};
  if (!m.one_in(4)) args.after = m.upto(m.one_in(2) ? 300 : 20);
  args.timeout = m.timeout();
  return args;
}

exchange_topology_args any_exchange(maker& m) {
  exchange_topology_args args{m.name(), {}, m.timeout()};
  args.mine.boot_id = m.one_in(10) ? "moved" : "here";
  args.mine.devices.resize(m.one_in(10) ? m.upto(200) : 1);
  if (m.one_in(10)) args.mine.partition_index = 0;
  return args;
}

report_error_args any_error(maker& m) {
  return {status{m.one_in(5) ? errc::ok : errc::internal, std::string(m.upto(80), 'e')}};
}

alive_args any_query(maker& m) {
  alive_args args{.timeout = m.timeout()};
  if (m.one_in(2)) args.tasks = {m.task(), m.speaker.value_or(m.home)};
  return args;
}

grant_args any_grant(maker& m) {
  m.speaker = m.home;
  if (m.one_in(6)) return {};
  return {m.one_in(10) ? "short" : secret_of_grants};
}

// The frequency of a request, and its generator.
template <class Make>
struct often {
  std::uint64_t weight;
  Make make;
  using args = std::invoke_result_t<Make, maker&>;
};
template <class Make>
often(int, Make) -> often<Make>;

// Requests that end or replace a task, or the job, which a calm client rarely makes.
constexpr std::tuple disruptive{
    often{6, &any_join},
    often{2,
          [](maker& m) {
            return leave_args{m.timeout(), m.one_in(2)};
          }},
    often{1, [](maker& m) { return reset_args{m.self()}; }},
    often{1, &any_end_job},
    often{1, &any_error},
};

constexpr std::tuple calm{
    often{6, &any_barrier},
    often{2, &any_cancel_barrier},
    often{2,
          [](maker& m) {
            auto const count = static_cast<std::uint32_t>(m.upto(3));
            return count_barrier_args{m.name(), count, m.timeout()};
          }},
    often{2,
          [](maker& m) {
            return put_args{m.name(), m.value(), m.one_in(2), m.one_in(3), m.one_in(3)};
          }},
    often{2,
          [](maker& m) {
            return get_args{m.name(), m.timeout()};
          }},
    often{2, [](maker& m) { return try_get_args{m.name()}; }},
    often{2, [](maker& m) { return list_args{m.directory()}; }},
    often{1,
          [](maker& m) {
            return count_keys_args{m.directory(), m.one_in(2)};
          }},
    often{1, [](maker& m) { return remove_args{m.name()}; }},
    often{1,
          [](maker& m) {
            return remove_tree_args{m.name(), false};
          }},
    often{2,
          [](maker& m) {
            return increment_args{m.name(), static_cast<std::int64_t>(m.upto(9)) - 4};
          }},
    often{1,
          [](maker& m) {
            return compare_and_set_args{m.name(), m.value(), any_expectation(m), m.one_in(3)};
          }},
    often{1,
          [](maker& m) {
            return append_args{m.name(), m.value()};
          }},
    often{1, &any_put_all},
    often{2, &any_get_all},
    often{1, &any_watch_keys},
    often{2,
          [](maker& m) {
            return push_args{"q", std::string(m.upto(30), 'i')};
          }},
    often{2,
          [](maker& m) {
            return pop_args{m.one_in(20) ? m.odd_name() : "q", m.timeout()};
          }},
    often{2,
          [](maker& m) {
            return take_args{m.one_in(20) ? m.odd_name() : "q", m.timeout(), m.timeout()};
          }},
    often{2,
          [](maker& m) {
            auto const change = static_cast<lease_change>(m.upto(3));
            return update_lease_args{m.upto(9), static_cast<std::uint32_t>(m.upto(2)), change,
                                     m.timeout()};
          }},
    often{1,
          [](maker& m) {
            return lock_args{m.name(), m.timeout()};
          }},
    often{1, [](maker& m) { return try_lock_args{m.name()}; }},
    often{1,
          [](maker& m) {
            return unlock_args{m.name(), m.upto(9)};
          }},
    often{1,
          [](maker& m) {
            return frozen_args{m.upto(4), m.upto(9)};
          }},
    often{1,
          [](maker& m) {
            return preempt_args{m.task(), m.timeout()};
          }},
    often{2,
          [](maker& m) {
            return next_epoch_args{m.timeout(), m.upto(3), m.one_in(5)};
          }},
    often{1, [](maker& m) { return epoch_members_args{task_id{m.upto(5)}}; }},
    often{1, [](maker& m) { return resize_args{static_cast<std::uint32_t>(m.upto(5))}; }},
    often{2, &any_query},
    often{1,
          [](maker& m) {
            return watch_tasks_args{m.version(), m.timeout()};
          }},
    often{1,
          [](maker& m) {
            return watch_events_args{m.version(), static_cast<severity>(m.upto(2)), m.timeout()};
          }},
    often{2, &any_exchange},
    often{1, [](maker&) { return inspect_args{}; }},
    often{1, [](maker&) { return why_args{}; }},
    often{1, [](maker& m) { return stacks_args{m.upto(2)}; }},
    often{1,
          [](maker& m) {
            report_stack_args args{m.upto(2), task_id{static_cast<std::uint32_t>(m.upto(3))}};
            args.stack = m.name();
            args.rest = m.name();
            return args;
          }},
    often{1, [](maker& m) { return report_progress_args{m.upto(5)}; }},
    often{4, &any_grant},
};

constexpr std::tuple all = std::tuple_cat(disruptive, calm);

template <class Args, class... Makers>
constexpr bool is_made_once(std::tuple<Makers...> const&) {
  return (0 + ... + (std::is_same_v<typename Makers::args, Args> ? 1 : 0)) == 1;
}
template <class... Args>
constexpr bool are_all_made(std::type_identity<std::variant<Args...>>) {
  return ((is_made_once<Args>(all) == is_numbered<Args>)&&...);
}

// A request without a generator here does not compile.
static_assert(are_all_made(std::type_identity<request>{}));

request any_of(maker& m, auto const& makers) {
  auto const make = [&m](auto const&... each) {
    std::uint64_t left = m.upto((each.weight + ...) - 1);
    request made;
    auto const takes = [&](auto const& one) {
      if (left < one.weight) {
        made = one.make(m);
        return true;
      }
      left -= one.weight;
      return false;
    };
    static_cast<void>((takes(each) || ...));
    return made;
  };
  return std::apply(make, makers);
}

}  // namespace

task_id any_task(random_source& rng, std::uint32_t num_tasks) {
  auto const last = rng.one_in(20) ? num_tasks + 1 : num_tasks - 1;
  return task_id{static_cast<std::uint32_t>(rng.upto(last))};
}

random_request any_request(random_source& rng, std::uint32_t num_tasks, task_id home,
                           bool is_calm) {
  maker m{rng, num_tasks, home, std::nullopt};
  if (!is_calm && !rng.one_in(4)) m.speaker = m.task();
  if (rng.one_in(400)) return {m.speaker, std::monostate{}};  // an unknown kind
  if (rng.one_in(30)) return {m.speaker, increment_args{"counted", 1}, true};
  request what = is_calm && !rng.one_in(30) ? any_of(m, calm) : any_of(m, all);
  return {m.speaker, std::move(what)};
}

}  // namespace coxswain::core
