// Memory runs out at each allocation of a job: an operation in progress completes or its connection
// ends, in the core too, and all other clients get their replies.

#include "coxswain/server/dispatch.hpp"
#include "tests/memory/scarce_memory.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::server {
namespace {

using test::aside;

constexpr time_point t0{1000s};
constexpr std::uint32_t tasks = 3;

struct peer {
  connection_id at{};
  bool is_open{};
  bool gets_goodbye{};
  std::set<std::uint64_t> unanswered;
  std::uint64_t replies{};
  core::hello_answer session;
  wire::frame_decoder decoder{wire::message_bytes_max};
};

// A job over the dispatch, handled as by the server: a connection for which it throws is lost.
class job {
 public:
  // `fails` selects the failure from now on: end_memory_at or fail_once_at.
  job(void (*fails)(std::size_t) noexcept, std::size_t n) {
    options o;
    o.core.num_tasks = tasks;
    o.core.reconnect_grace = 2s;
    o.core.heartbeat_timeout = 10s;
    logic_.emplace(o, incarnation{1}, now_);
    fails(n);
  }

  void open(std::size_t i) {
    peer& p = peers_[i];
    try {
      p.at = logic_->open(now_, "127.0.0.1:4000", core::session_secret{});
      p.is_open = true;
    } catch (std::bad_alloc const&) {
      return;
    }
    aside const ours;
    p.decoder = wire::frame_decoder{wire::message_bytes_max};
  }

  void say(std::size_t i, core::request what, std::uint64_t id = 0) {
    peer& p = peers_[i];
    if (!p.is_open) return;
    std::string bytes;
    {
      aside const ours;
      bytes = frame(std::move(what), id, std::nullopt, p.replies);
      if (id != 0) p.unanswered.insert(id);
    }
    try {
      logic_->received(now_, p.at, bytes);
    } catch (std::bad_alloc const&) {
      lose(i);
    }
    deliver();
    aside const ours;
    bytes = {};
  }

  void lose(std::size_t i) {
    peer& p = peers_[i];
    if (!std::exchange(p.is_open, false)) return;
    logic_->lost(now_, p.at, core::loss::closed);
    aside const ours;
    p.unanswered.clear();  // the client has to ask again
  }

  void resume(std::size_t i) {
    open(i);
    core::resume_args args;
    {
      aside const ours;
      args.coordinator = peers_[i].session.coordinator;
      args.session = peers_[i].session.session;
      args.secret = peers_[i].session.secret;
    }
    say(i, std::move(args));
  }

  void pass(duration time) {
    for (auto const end = now_ + time; now_ < end; now_ += 50ms) {
      logic_->advance(now_);
      deliver();
    }
  }

  void stop() {
    static_cast<void>(logic_->put_in(now_, core::stopped{"enough"}));
    deliver();
  }

  // Every session that is connected in the core has a connection.
  void check() const {
    logic_->check_invariants();
    auto const seen = logic_->look(now_);
    std::size_t open = 0;
    for (auto const& p : peers_) open += p.is_open ? 1 : 0;
    BOOST_TEST(logic_->connections() == open);
    for (std::size_t i = 0; i < tasks; ++i) {
      auto const& task = seen.tasks.at(i);
      bool const is_connected = task.state == task_state::connected && !task.suspect;
      BOOST_TEST((!is_connected || peers_[i].is_open), "task " << i);
    }
  }

  [[nodiscard]] peer const& at(std::size_t i) const { return peers_[i]; }

 private:
  void deliver() {
    while (logic_->deliver(dirty_)) {
      for (auto const id : dirty_) write(id);
    }
  }

  void write(connection_id to) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      peer& p = peers_[i];
      if (!p.is_open || p.at != to) continue;
      try {
        auto& out = logic_->out(to);
        while (!out.empty()) logic_->wrote(now_, to, read(p, out));
        p.gets_goodbye = p.gets_goodbye || out.ends();
        if (out.ends()) lose(i);
      } catch (std::bad_alloc const&) {
        lose(i);
      }
    }
  }

  static std::size_t read(peer& p, outbox const& out) {
    aside const ours;
    auto const bytes = next_bytes(out);
    p.decoder.feed(bytes);
    for (;;) {
      auto const payload = p.decoder.next().value();
      if (!payload) return bytes.size();
      auto message = wire::decode_server(*payload).value();
      p.unanswered.erase(message.id.value);
      if (message.id != request_id{}) ++p.replies;
      if (auto* hello = std::get_if<boxed<core::hello_answer>>(&message.what.value))
        p.session = **hello;
    }
  }

  time_point now_{t0};
  std::optional<dispatch> logic_;
  std::array<peer, tasks + 1> peers_;  // the last one is no task
  std::vector<connection_id> dirty_;
};

core::request barrier(std::string name) {
  core::barrier_args args{
      .name = std::move(name), .timeout = 5s, .gather = true, .data = std::string(200, 'd')};
  return args;
}

// Every client sends a request of each kind. Names are long, so that each takes memory.
void ask_for_everything(job& j, std::string const& run, std::uint64_t id) {
  auto const name = [&run](std::string what) { return what + "/of a name that is long/" + run; };
  auto const say = [&](std::size_t i, auto make) {
    core::request what;
    {
      aside const ours;
      what = make();
    }
    j.say(i, std::move(what), id);
    ++id;
  };
  for (std::size_t i = 0; i < tasks; ++i) say(i, [&] { return barrier(name("barrier")); });
  say(0, [&] { return core::put_args{name("k"), std::string(5'000, 'v'), false}; });
  say(1, [&] { return core::get_args{name("k"), 5s}; });
  say(2, [&] { return core::get_args{name("later"), 5s}; });
  say(2, [&] { return core::get_all_args{{name("k"), name("later")}, 5s}; });
  say(1, [&] { return core::watch_keys_args{"later", {}, 5s}; });
  say(1, [&] { return core::pop_args{name("queue"), 5s}; });
  say(3, [&] { return core::push_args{name("queue"), "item"}; });
  say(3, [&] { return core::push_args{name("queue"), "another"}; });
  say(0, [&] { return core::append_args{name("later"), std::string(300, 'a')}; });
  say(0, [&] { return core::increment_args{name("count"), 1}; });
  say(0, [&] { return core::put_args{name("mine"), "v", false, true}; });
  for (std::size_t i = 1; i < 3; ++i) say(i, [&] { return core::lock_args{name("lock"), 5s}; });
  say(3, [&] { return core::watch_events_args{{}, core::severity::info, 5s}; });
  say(3, [&] { return core::watch_tasks_args{{}, 5s}; });
  for (std::size_t i = 0; i < 2; ++i) {
    say(i, [&] { return core::count_barrier_args{name("count"), 2, 5s}; });
  }
  for (std::size_t i = 0; i < tasks; ++i) say(i, [] { return core::alive_args{{}, 5s}; });
  say(3, [&] { return core::put_all_args{{{name("a"), "1"}, {name("b"), "2"}}, true}; });
  say(3, [] { return core::why_args{}; });
  say(3, [] { return core::inspect_args{}; });
}

// Returns the number of allocations.
std::size_t run(job& j) {
  for (std::size_t i = 0; i < tasks + 1; ++i) {
    j.open(i);
    j.say(i, core::hello_args{});
  }
  for (std::uint32_t i = 0; i < tasks; ++i) {
    j.say(i, core::join_args{incarnation{i + 1}, 5s, {}, {}}, 1);
  }
  ask_for_everything(j, "first", 10);
  j.lose(1);
  j.pass(100ms);
  j.resume(1);
  ask_for_everything(j, "second", 100);
  for (std::size_t i = 0; i < 2; ++i) {
    core::request last;
    {
      aside const ours;
      last = barrier("that nobody passes");
    }
    j.say(i, std::move(last), 200);
  }
  j.lose(2);
  j.pass(5s);  // task 2 fails, and the job with it
  ask_for_everything(j, "third", 300);
  return test::return_memory();
}

BOOST_AUTO_TEST_SUITE(memory_test)

void expect_agreement(void (*fails)(std::size_t) noexcept) {
  std::size_t all{};
  {
    job j{fails, SIZE_MAX};
    all = run(j);
  }
  BOOST_TEST(all > 400u);
  for (std::size_t n = 1; n <= all; ++n) {
    BOOST_TEST_CONTEXT("allocation " << n) {
      job j{fails, n};
      run(j);
      j.check();

      j.pass(20s);  // all deadlines
      j.check();
      for (std::size_t i = 0; i < tasks + 1; ++i) {
        if (j.at(i).is_open) BOOST_TEST(j.at(i).unanswered.empty(), "peer " << i);
      }

      j.stop();
      j.check();
      for (std::size_t i = 0; i < tasks + 1; ++i) BOOST_TEST(!j.at(i).is_open);
    }
  }
}

BOOST_AUTO_TEST_CASE(at_any_memory_limit_core_and_connections_agree) {
  expect_agreement(&test::end_memory_at);
}

BOOST_AUTO_TEST_CASE(after_any_failed_allocation_core_and_connections_agree) {
  expect_agreement(&test::fail_once_at);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
