#include "load/crowd.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// This few connections at once fit any listener's queue, and each sends its Hello in time.
constexpr std::size_t connect_batch = 128;

// So many trunks at once, which send their Hello late, are fewer than the strangers that a server
// lets in from one host. Then so many routes of each trunk, since they are in no queue.
constexpr std::size_t trunk_batch = 8'192;
constexpr std::size_t route_batch = 64;

}  // namespace

crowd::crowd(address server, std::unique_ptr<peer> speaks, extent size, ways how)
    : sessions_{size.connections},
      tasks_{size.tasks},
      trunks_{how.trunks},
      wires_{std::move(server), std::move(speaks), std::move(how)},
      asked_(sessions_) {}

void crowd::connect(std::function<void(std::uint64_t)> const& progress) {
  speaks().expect({hello_answer(tasks_)});
  while (wires_.size() < sessions_) {
    auto const first = wires_.size();
    auto const end = std::min(sessions_, first + batch_after(first));
    while (wires_.size() < end) {
      speaks().open(wires_.size());
      wires_.open();
    }
    introduce(first, end);
    if (says_all() && speaks().has_hello()) greet(first, end);
    progress(end);
  }
}

std::size_t crowd::batch_after(std::size_t opened) const noexcept {
  if (trunks_ == 0) return connect_batch;
  return opened < trunks_ ? trunk_batch : route_batch * trunks_;
}

void crowd::introduce(std::size_t first, std::size_t end) {
  std::string words;
  for (auto session = first; session < end; ++session) {
    words.clear();
    auto const answers = speaks().introduce(words, session);
    asked_[session] += static_cast<std::uint32_t>(answers);
    waiting_ += answers;
    wires_.send(session, words);
  }
  await("an answer to their first words");
}

void crowd::greet(std::size_t first, std::size_t end) {
  for (auto session = first; session < end; ++session) {
    ask(session, std::nullopt, hello(), 0, true);
  }
  run("the answer to its hello");
}

void crowd::join() {
  if (tasks_ == 0 || !says_all()) return;
  speaks().expect({join_answer()});
  ask_all([this](task_id) { return core::join_args{incarnation{random_()}}; });
  run("the end of the join");
  wires_.send_background_calls();
}

void crowd::leave() {
  if (!says_all()) return;
  if (tasks_ > 0) {
    speaks().expect({core::answer{}});
    ask_all([](task_id) { return core::leave_args{}; });
    run("the end of the leave");
  }
  for (std::size_t session = 0; session < sessions_; ++session) {
    tell(session, core::bye_args{});
  }
  send();
}

void crowd::beat() {
  std::string frame;
  for (std::size_t session = 0; session < sessions_; ++session) {
    frame.clear();
    speaks().ask(frame, {session, std::nullopt}, std::monostate{});
    wires_.send(session, frame);
  }
}

void crowd::beat_and_await() {
  speaks().expect({core::answer{}});
  for (std::size_t session = 0; session < sessions_; ++session) {
    tell(session, std::monostate{});
    ask(session, std::nullopt, std::monostate{}, 0, true);
  }
  counts_beats_ = true;
  run("the answer to a heartbeat");
  counts_beats_ = false;
}

std::size_t crowd::session_of(std::uint32_t task) const noexcept {
  return std::size_t{task} * sessions_ / tasks_;
}

void crowd::ask(std::size_t session, std::optional<task_id> task, core::request what,
                std::size_t model, bool is_alone) {
  speaks().ask(prepared_.open(), {session, task, asked_[session], model, is_alone},
               std::move(what));
  prepared_.close(session);
  ++asked_[session];
}

void crowd::tell(std::size_t session, core::request what) {
  asking how{session, std::nullopt, asked_[session]};
  how.is_silent = true;
  speaks().ask(prepared_.open(), how, std::move(what));
  prepared_.close(session);
  ++untold_;
}

void crowd::ask_all(std::function<core::request(task_id)> const& make) {
  for (std::uint32_t task = 0; task < tasks_; ++task) {
    ask(session_of(task), task_id{task}, make(task_id{task}));
  }
}

volley_time crowd::run(std::string_view awaited, arrivals how) {
  volley_time t;
  t.first_sent = now();
  t.last_sent = send(how);
  t.answered = await(awaited);
  return t;
}

time_point crowd::send(arrivals how) {
  waiting_ += prepared_.size() - std::exchange(untold_, 0);
  if (how.how == arrivals::pattern::jittered) {
    send_jittered(how.within);
  } else {
    for (std::size_t i = 0; i < prepared_.size();) {
      auto end = i + 1;
      if (how.how == arrivals::pattern::together) {
        while (end < prepared_.size() && prepared_.connection(end) == prepared_.connection(i))
          ++end;
      }
      send_one(i, end);
      i = end;
    }
  }
  prepared_.clear();
  return last_sent_;
}

// The prepared requests of one session, with one call.
void crowd::send_one(std::size_t first, std::size_t end) {
  bool const is_last = end == prepared_.size();
  if (is_last) {
    wires_.flush();
    last_sent_ = now();
  }
  wires_.send(prepared_.connection(first), prepared_.slice(first, end));
  if (is_last) wires_.flush();
}

// The order of a session's requests stays, as their ids must rise.
void crowd::send_jittered(duration within) {
  std::uniform_int_distribution<std::int64_t> moment{0, within.count()};
  std::vector<std::size_t> order(prepared_.size());
  std::vector<std::int64_t> moments(prepared_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto& m : moments) m = moment(random_);
  for (std::size_t i = 0; i < order.size();) {
    auto end = i + 1;
    while (end < order.size() && prepared_.connection(end) == prepared_.connection(i)) ++end;
    std::sort(moments.begin() + static_cast<std::ptrdiff_t>(i),
              moments.begin() + static_cast<std::ptrdiff_t>(end));
    i = end;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return moments[a] < moments[b]; });

  auto const begun = now();
  for (auto const i : order) {
    for (auto const due = begun + duration{moments[i]}; now() < due;) (void)wires_.wait(due, *this);
    last_sent_ = now();
    wires_.send(prepared_.connection(i), prepared_.slice(i, i + 1));
  }
}

time_point crowd::await(std::string_view awaited, std::size_t left) {
  wires_.await(waiting_, left, *this, fmt::format("requests did not get {}", awaited));
  auto const answered = now();
  if (waiting_ == 0) speaks().settle();
  return answered;
}

void crowd::arrived(std::size_t connection, received_frame const& frame) {
  auto const found = wires_.judge(connection, frame);
  bool const is_awaited = found == verdict::answer || (found == verdict::beat && counts_beats_);
  if (!is_awaited) return;
  if (asked_[connection] == 0) throw bench_error{"it answered more often than it was asked"};
  --asked_[connection];
  --waiting_;
}

key_set::key_set(std::uint32_t keys, std::uint64_t value_bytes)
    : directory_{fmt::format("bench-{:07}", ::getpid())}, count_{keys}, value_(value_bytes, 'v') {}

std::string key_set::name(std::uint32_t key) const {
  return fmt::format("{}/{:07}", directory_, key);
}

core::request key_set::put(std::uint32_t key) const {
  core::put_args put;
  put.key = name(key);
  put.value = value_;
  put.overwrite = true;
  return put;
}

core::request key_set::get(std::uint32_t key) const {
  core::get_args get;
  get.key = name(key);
  return get;
}

core::answer key_set::put_answer(std::uint64_t version) const {
  return {{}, core::stored_answer{version}};
}

core::answer key_set::get_answer(std::uint64_t version) const {
  return {{}, core::value_answer{bytes{value_}, version}};
}

core::answer key_set::list_answer() const {
  core::listing_answer listing;
  for (std::uint32_t key = 0; key < count_; ++key) {
    listing.entries.push_back({name(key), bytes{value_}, key + std::uint64_t{1}});
  }
  listing.version = count_;
  return {{}, std::move(listing)};
}

void key_set::store(crowd& by) const {
  constexpr std::uint32_t at_once = 64;
  if (!by.speaks().has_keys()) return;
  by.speaks().expect({put_answer(count_)});
  for (std::uint32_t first = 0; first < count_; first += at_once) {
    for (auto key = first; key < std::min(count_, first + at_once); ++key) {
      by.ask(0, std::nullopt, put(key));
    }
    by.run("the end of its put");
  }
}

void key_set::remove(crowd& by) const {
  if (!by.speaks().has_sessions()) return;
  by.speaks().expect({core::answer{{}, core::removed_answer{count_}}});
  core::remove_tree_args all;
  all.directory = directory_;
  by.ask(0, std::nullopt, std::move(all));
  by.run("the end of the removal");
}

}  // namespace coxswain::bench
