// Agents against the coordinator's core, in virtual time, over connections cut after any byte in
// either direction: what was handed to a caller that never had it goes to another. Not here: that
// every call takes effect once (tests/sim/cut_test.cpp).

#include "coxswain/core/coordinator.hpp"
#include "tests/client/agent_lab.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <utility>

namespace coxswain::test {
namespace {

enum class side { client, coordinator };

// A job of two tasks. The connections of task 0 may be cut.
class small_job {
 public:
  small_job() : coordinator_{options(), incarnation{99}, t0} {
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto options = agent_lab::default_options();
      options.hello.job.clear();
      options.task = task_id{i};
      options.seed = i;
      members_.emplace_back(std::move(options));
      members_[i].a.start(now_);
    }
  }

  // Cuts connection number `which` (from 0) of task 0 after this many bytes.
  void cut(std::size_t which, side from, std::size_t bytes) { cuts_[{which, from}] = bytes; }

  // Makes a call and waits for its reply.
  core::answer ask(std::size_t who, core::request what) {
    return wait(who, call(who, std::move(what)));
  }
  request_id call(std::size_t who, core::request what) {
    return members_[who].a.call(now_, std::move(what), 300s);
  }
  request_id call(std::size_t who, core::request what, std::shared_ptr<detail::claim> by) {
    return members_[who].a.call(now_, std::move(what), 300s, {}, std::move(by));
  }
  void cancel(std::size_t who, request_id id) { members_[who].a.cancel(now_, id); }
  core::answer wait(std::size_t who, request_id id) {
    auto& done = members_[who].done;
    while (!done.contains(id)) run_iteration();
    return done.at(id);
  }

  [[nodiscard]] std::size_t bytes(side from) const {
    return members_[0].moved[from == side::client];
  }
  [[nodiscard]] std::uint64_t reconnects() const { return members_[0].a.reconnects(); }
  void check() const { coordinator_.check_invariants(); }

 private:
  struct member {
    explicit member(agent_options options) : a{std::move(options)} {}

    agent a;
    std::optional<connection_id> connection;
    std::size_t connections{};
    std::size_t moved[2]{};  // on this connection
    wire::frame_decoder decoder{wire::message_bytes_max};
    std::map<request_id, core::answer> done;
  };

  static core::config options() {
    core::config c;
    c.num_tasks = 2;
    return c;
  }

  // Processes everything due at this time once; if nothing was due, advances the time.
  void run_iteration() {
    bool moved = false;
    for (std::size_t i = 0; i < members_.size(); ++i) moved |= serve(i);
    std::vector<core::outgoing> out;
    coordinator_.take_outgoing(out);
    for (auto const& one : out) deliver(one);
    if (moved || !out.empty()) return;
    auto next = coordinator_.next_deadline().value_or(time_point::max());
    for (auto const& m : members_) {
      next = std::min(next, m.a.next_deadline().value_or(time_point::max()));
    }
    BOOST_REQUIRE((next < t0 + 200s));
    now_ = std::max(now_, next);
    coordinator_.advance(now_);
    for (auto& m : members_) m.a.advance(now_);
  }

  bool serve(std::size_t i) {
    member& m = members_[i];
    std::string bytes;
    m.a.take_bytes(bytes);
    if (m.connection && !bytes.empty()) send(i, bytes);
    std::vector<agent_command> commands;
    m.a.take_commands(commands);
    for (auto const command : commands) {
      if (command.opens()) {
        pick_up(m);
      } else {
        hang_up(m);
      }
    }
    std::vector<agent_completion> completions;
    m.a.take_completions(completions);
    for (auto& completion : completions)
      m.done.emplace(completion.call, std::move(completion.what));
    return !bytes.empty() || !commands.empty();
  }

  void pick_up(member& m) {
    m.connection = coordinator_.connected(now_, "test", {});
    m.decoder = wire::frame_decoder{wire::message_bytes_max};
    ++m.connections;
    m.moved[0] = m.moved[1] = 0;
    m.a.connected(now_, 0);
  }

  void hang_up(member& m) {
    if (auto const id = std::exchange(m.connection, std::nullopt)) {
      coordinator_.lost(now_, *id, core::loss::closed);
    }
  }

  // The bytes that get through, and whether the connection is cut after them.
  std::pair<std::string, bool> passed(member& m, side from, std::string bytes) {
    auto& moved = m.moved[from == side::client];
    auto const cut = cuts_.find({m.connections - 1, from});
    bool const now =
        &m == &members_[0] && cut != cuts_.end() && moved + bytes.size() >= cut->second;
    if (now) bytes.resize(cut->second - std::min(moved, cut->second));
    moved += bytes.size();
    return {std::move(bytes), now};
  }

  void send(std::size_t i, std::string const& all) {
    member& m = members_[i];
    auto const [bytes, cut] = passed(m, side::client, all);
    m.decoder.feed(bytes);
    while (auto const payload = m.decoder.next().value()) {
      coordinator_.received(now_, *m.connection, wire::decode_client(*payload).value());
    }
    if (cut) lose(m);
  }

  void deliver(core::outgoing const& one) {
    for (auto& m : members_) {
      if (m.connection != one.to) continue;
      auto const [bytes, cut] = passed(m, side::coordinator, frame(one.in_reply_to, *one.what));
      m.a.received(now_, bytes);
      if (cut && m.connection == one.to) lose(m);
      return;
    }
  }

  void lose(member& m) {
    hang_up(m);
    m.a.lost(now_, {errc::unavailable, "cut"});
  }

  time_point now_{t0};
  core::coordinator coordinator_;
  std::vector<member> members_;
  std::map<std::pair<std::size_t, side>, std::size_t> cuts_;
};

// What was handed to a caller that never had it goes to another; the rest stays.
void live(small_job& job) {
  auto const join = job.call(0, core::join_args{.self = incarnation{10}, .with_hello = true});
  BOOST_TEST(job.ask(1, core::join_args{incarnation{11}, {}}).outcome.ok());
  BOOST_TEST(job.wait(0, join).outcome.ok());
  auto const value_of = [](core::answer const& a) {
    BOOST_REQUIRE(std::holds_alternative<core::value_answer>(a.value));
    return std::string{std::get<core::value_answer>(a.value).value.view()};
  };
  auto const by = [] { return std::make_shared<detail::claim>(); };

  job.ask(1, core::push_args{"q", "a"});
  auto const unclaimed = job.call(0, core::pop_args{"q", {}}, by());
  auto const lock = job.call(0, core::lock_args{"l", {}}, by());
  BOOST_TEST(value_of(job.wait(0, unclaimed)) == "a");
  BOOST_TEST(job.wait(0, lock).outcome.ok());
  BOOST_TEST(job.ask(0, core::increment_args{"n", 1}).outcome.ok());
  job.cancel(0, unclaimed);
  job.cancel(0, lock);
  BOOST_TEST(job.ask(0, core::increment_args{"n", 1}).outcome.ok());
  auto const item = job.ask(1, core::pop_args{"q", {}});
  BOOST_TEST(value_of(item) == "a");
  BOOST_TEST(std::get<core::value_answer>(item.value).version == 1u);
  BOOST_TEST(job.ask(1, core::lock_args{"l", {}}).outcome.ok());

  job.ask(1, core::push_args{"q", "b"});
  auto const claimed = by();
  auto const popped = job.call(0, core::pop_args{"q", {}}, claimed);
  BOOST_TEST(value_of(job.wait(0, popped)) == "b");
  BOOST_TEST(job.ask(0, core::increment_args{"n", 1}).outcome.ok());
  claimed->settle();
  job.cancel(0, popped);  // has no effect
  BOOST_TEST(job.ask(0, core::increment_args{"n", 1}).outcome.ok());
  auto const pushed = job.ask(1, core::push_args{"q", "c"});
  BOOST_TEST(std::get<core::count_answer>(pushed.value).count == 1u);
  auto const sum = job.ask(0, core::increment_args{"n", 1});
  BOOST_TEST(std::get<core::counter_answer>(sum.value).value == 5);

  auto const leave = job.call(0, core::leave_args{});
  BOOST_TEST(job.ask(1, core::leave_args{}).outcome == status{});
  BOOST_TEST(job.wait(0, leave).outcome == status{});
  job.check();
}

std::size_t bytes_without_loss(side from) {
  small_job job;
  live(job);
  BOOST_TEST(job.reconnects() == 0u);
  return job.bytes(from);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_cut)

BOOST_AUTO_TEST_CASE(what_a_caller_never_had_goes_to_another_whatever_is_cut) {
  for (auto const from : {side::client, side::coordinator}) {
    for (std::size_t at = 0; at <= bytes_without_loss(from); ++at) {
      BOOST_TEST_CONTEXT("cut " << (from == side::client) << " after byte " << at) {
        small_job job;
        job.cut(0, from, at);
        live(job);
      }
    }
  }
  auto const most = bytes_without_loss(side::client);
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random{seed};
      small_job job;
      for (std::size_t which = 0; which < 6; ++which) {
        job.cut(which, random() % 2 ? side::client : side::coordinator, random() % most);
      }
      live(job);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
