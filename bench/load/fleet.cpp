#include "load/fleet.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// This few connections at once fit any listener's queue, and each sends its Hello in time.
constexpr std::size_t connect_batch = 128;

}  // namespace

fleet::fleet(address server, std::unique_ptr<peer> speaks, extent size)
    : sessions_{size.connections},
      tasks_{size.tasks},
      wires_{std::move(server), std::move(speaks)},
      asked_(sessions_) {}

void fleet::connect(std::function<void(std::uint64_t)> const& progress) {
  speaks().expect({hello_answer(tasks_)});
  while (wires_.size() < sessions_) {
    auto const first = wires_.size();
    auto const end = std::min(sessions_, first + connect_batch);
    while (wires_.size() < end) {
      speaks().open(wires_.size());
      wires_.open();
    }
    introduce(first, end);
    if (speaks().has_sessions() && speaks().has_hello()) greet(first, end);
    progress(end);
  }
}

void fleet::introduce(std::size_t first, std::size_t end) {
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

void fleet::greet(std::size_t first, std::size_t end) {
  for (auto session = first; session < end; ++session) {
    ask(session, std::nullopt, hello(), 0, true);
  }
  run("the answer to its hello");
}

void fleet::join() {
  if (tasks_ == 0 || !speaks().has_sessions()) return;
  speaks().expect({join_answer()});
  ask_all([this](task_id) { return core::join_args{incarnation{random_()}}; });
  run("the end of the join");
  wires_.send_background_calls();
}

void fleet::leave() {
  if (!speaks().has_sessions()) return;
  if (tasks_ > 0) {
    speaks().expect({core::answer{}});
    ask_all([](task_id) { return core::leave_args{}; });
    run("the end of the leave");
  }
  std::string bye;
  for (std::size_t session = 0; session < sessions_; ++session) {
    bye.clear();
    speaks().ask(bye, {session, std::nullopt, asked_[session]}, core::bye_args{});
    wires_.send(session, bye);
  }
}

void fleet::beat() {
  std::string frame;
  for (std::size_t session = 0; session < sessions_; ++session) {
    frame.clear();
    speaks().ask(frame, {session, std::nullopt}, std::monostate{});
    wires_.send(session, frame);
  }
}

std::size_t fleet::session_of(std::uint32_t task) const noexcept {
  return std::size_t{task} * sessions_ / tasks_;
}

void fleet::ask(std::size_t session, std::optional<task_id> task, core::request what,
                std::size_t model, bool is_alone) {
  speaks().ask(prepared_.open(), {session, task, asked_[session], model, is_alone},
               std::move(what));
  prepared_.close(session);
  ++asked_[session];
}

void fleet::ask_all(std::function<core::request(task_id)> const& make) {
  for (std::uint32_t task = 0; task < tasks_; ++task) {
    ask(session_of(task), task_id{task}, make(task_id{task}));
  }
}

volley_time fleet::run(std::string_view awaited) {
  volley_time t;
  t.first_sent = now();
  t.last_sent = send();
  t.answered = await(awaited);
  return t;
}

// Those of one session with one call.
time_point fleet::send() {
  waiting_ += prepared_.size();
  for (std::size_t i = 0; i < prepared_.size();) {
    auto end = i + 1;
    while (end < prepared_.size() && prepared_.connection(end) == prepared_.connection(i)) ++end;
    if (end == prepared_.size()) last_sent_ = now();
    wires_.send(prepared_.connection(i), prepared_.slice(i, end));
    i = end;
  }
  prepared_.clear();
  return last_sent_;
}

time_point fleet::await(std::string_view awaited, std::size_t left) {
  wires_.await(waiting_, left, *this, fmt::format("requests did not get {}", awaited));
  auto const answered = now();
  if (waiting_ == 0) speaks().settle();
  return answered;
}

void fleet::arrived(std::size_t connection, received_frame const& frame) {
  auto const found = wires_.judge(connection, frame);
  if (found != verdict::answer) return;
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

void key_set::store(fleet& by) const {
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

void key_set::remove(fleet& by) const {
  if (!by.speaks().has_sessions()) return;
  by.speaks().expect({core::answer{{}, core::removed_answer{count_}}});
  core::remove_tree_args all;
  all.directory = directory_;
  by.ask(0, std::nullopt, std::move(all));
  by.run("the end of the removal");
}

}  // namespace coxswain::bench
