#include "history_load.hpp"

#include "stopwatch.hpp"
#include "stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace coxswain::bench {

history_load::history_load(address server, std::unique_ptr<peer> speaks,
                           history_options const& given)
    : given_{given},
      few_{given.keys_at_first, given.bytes},
      many_{given.keys, given.bytes},
      all_{std::move(server), std::move(speaks), given.tasks, given.tasks} {}

void history_load::connect(std::function<void(std::uint64_t)> const& progress) {
  all_.connect(progress);
  all_.join();
  few_.store(all_);
}

tally history_load::measure(std::uint64_t steps) {
  tally found;
  found.latencies.resize(1);
  switch (act_) {
    case barriers: run_barriers(steps, found); break;
    case first_gets:
    case gets:
    case puts: run_requests(steps, found); break;
    case use_ids: use(steps); break;
    case store_keys: many_.store(all_); there_ = &many_;
  }
  return found;
}

core::barrier_args history_load::next_barrier() {
  core::barrier_args arrival;
  arrival.name = fmt::format("step-{:09}", ++used_);
  return arrival;
}

// The first round of each id.
void history_load::expect_release() {
  core::answer release;
  release.value = core::barrier_answer{round_number{1}, {}};
  all_.speaks().expect({std::move(release)});
}

void history_load::run_barriers(std::uint64_t rounds, tally& found) {
  expect_release();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    auto const arrival = next_barrier();
    all_.ask_all([&arrival](task_id) { return arrival; });
    stopwatch const watch;
    auto const t = all_.run("the release");
    watch.stop(found);
    found.latencies[0].add((t.answered - t.last_sent).count());
  }
  found.operations = rounds * all_.tasks();
}

void history_load::run_requests(std::uint64_t requests, tally& found) {
  auto const version = std::uint64_t{given_.keys} + used_;
  all_.speaks().expect({many_.put_answer(version), many_.get_answer(version)});
  auto const& keys = act_ == first_gets ? few_ : *there_;
  std::uniform_int_distribution<std::uint32_t> any{0, keys.size() - 1};
  stream lines{all_.wires(), all_.speaks(), 1};
  auto const next = [&]() -> stream::question {
    auto const key = any(random_);
    if (act_ == puts) return {keys.put(key), 0};
    core::get_args get;
    get.key = keys.name(key);
    return {std::move(get), 1};
  };
  lines.run(requests, next, found);
}

void history_load::use(std::uint64_t ids) {
  constexpr std::uint64_t at_once = 8;  // for each task
  expect_release();
  for (std::uint64_t used = 0; used < ids;) {
    auto const end = std::min(ids, used + at_once * all_.tasks());
    for (auto const first = used; used < end; ++used) {
      auto const task =
          task_id{static_cast<std::uint32_t>((used - first) * all_.tasks() / (end - first))};
      auto arrival = next_barrier();
      arrival.participants = {task};
      all_.ask(all_.session_of(task.value), task, std::move(arrival));
    }
    all_.run("the release of its own barrier");
  }
}

}  // namespace coxswain::bench
