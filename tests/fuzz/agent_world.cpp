#include "tests/fuzz/agent_world.hpp"

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/fuzz/any_wish.hpp"
#include "tests/fuzz/violation.hpp"
#include "tests/wire/samples.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain {
namespace {

using detail::agent;
using detail::agent_command;
using detail::agent_completion;
using detail::agent_event;
using detail::agent_options;
using test::report_violation;
namespace agent_events = detail::agent_events;

constexpr time_point start{std::chrono::hours{100}};
constexpr std::uint32_t num_tasks = 4;
status const cut{errc::unavailable, "cut"};

agent_options any_options(test::dice& chance) {
  agent_options o;
  o.address = "b12:8476";
  o.hello.label = "me:1";
  if (!chance.one_in(4)) o.task = task_id{1};
  if (chance.one_in(4)) o.num_tasks = num_tasks;
  o.connect_timeout = chance.one_of(std::vector<duration>{0s, 5s, 300s, without_limit});
  if (chance.one_in(3)) o.fence_after = chance.one_of(std::vector<duration>{0s, 1s, 20s});
  o.queued_bytes_max = chance.one_of(std::vector<std::size_t>{0, 500, 1'000'000});
  o.seed = chance.upto(255);
  return o;
}

core::hello_answer any_greeting(test::dice& chance) {
  core::hello_answer a;
  a.coordinator = incarnation{9 + chance.upto(1)};
  a.version = "1.2.3";
  a.session = session_id{1 + chance.upto(1)};
  a.num_tasks = num_tasks;
  a.heartbeat_period = chance.one_of(std::vector<duration>{0ms, 1ms, 10s});
  a.heartbeat_timeout = 3 * a.heartbeat_period;
  a.reconnect_grace = chance.one_of(std::vector<duration>{0s, 2s});
  a.frame_bytes_max = chance.one_of(std::vector<std::uint64_t>{200, 100'000, 1'000'000'000});
  a.value_bytes_max = chance.one_of(std::vector<std::uint64_t>{100, 50'000});
  a.key_bytes_max = 100;
  a.open_requests_max = chance.one_of(std::vector<std::uint32_t>{3, 4096});
  return a;
}

class world {
 public:
  explicit world(test::dice chance) : chance_{chance}, brain_{any_options(chance_)} {}

  void run() {
    brain_.start(now_);
    settle();
    auto const steps = 100 + chance_.upto(400);
    for (std::uint64_t i = 0; i < steps && !chance_.is_spent(); ++i) {
      step();
      settle();
    }
    brain_.bye(now_, chance_.one_in(2));
    settle();
    if (!brain_.over()) report_violation("a bye does not end the session");
    if (!open_.empty()) report_violation(open_.size(), " calls were never completed");
  }

  // Everything that came out.
  [[nodiscard]] std::string const& transcript() const { return transcript_; }

 private:
  enum class line { closed, opening, open };

  void step() {
    switch (chance_.upto(11)) {
      case 0:
      case 1:
      case 2: return call();
      case 3: return cancel();
      case 4:
      case 5: return pass();
      case 6:
        if (chance_.one_in(30)) brain_.bye(now_, chance_.one_in(2));
        return;
      default: break;
    }
    if (line_ == line::opening) return open();
    if (line_ == line::open) hear();
  }

  void open() {
    if (chance_.one_in(4)) {
      line_ = line::closed;
      brain_.connect_failed(now_, cut, chance_.one_in(2));
    } else {
      line_ = line::open;
      sent_ = wire::frame_decoder{frame_bytes_max};
      held_back_.clear();
      is_greeted_ = false;
      brain_.connected(now_);
    }
  }

  void hear() {
    if (chance_.one_in(16)) {
      line_ = line::closed;
      return brain_.lost(now_, cut);
    }
    if (chance_.one_in(16)) return brain_.write_progressed(now_);
    std::string said = std::exchange(held_back_, {}) + words();
    if (chance_.one_in(4)) {
      auto const now = chance_.upto(said.size());
      held_back_ = said.substr(now);
      said.resize(now);
    }
    brain_.received(now_, said);
  }

  std::string words() {
    if (chance_.one_in(40)) return chance_.bytes(chance_.size(100));
    if (!is_greeted_ && !chance_.one_in(20)) {
      is_greeted_ = true;
      if (chance_.one_in(10)) return frame({}, {{}, core::goodbye{cut, chance_.one_in(2)}});
      if (!greeted_before_) {
        greeted_before_ = true;
        return frame({}, {{}, any_greeting(chance_)});
      }
      return frame({}, {{}, core::resume_answer{some_open()}});
    }
    if (chance_.one_in(4)) return any_sample();
    return frame(any_call(), any_reply());
  }

  // Calls that a coordinator might not have, in order.
  std::vector<request_id> some_open() {
    std::vector<request_id> ids;
    for (request_id const id : open_) {
      if (chance_.one_in(3)) ids.push_back(id);
    }
    return ids;
  }

  request_id any_call() {
    if (open_.empty() || chance_.one_in(30)) return request_id{chance_.upto(20)};
    return *std::next(open_.begin(), static_cast<std::ptrdiff_t>(chance_.upto(open_.size() - 1)));
  }

  core::answer any_reply() {
    if (chance_.one_in(3)) return {{errc::deadline_exceeded, "too late"}, {}};
    return chance_.one_in(2) ? core::answer{} : chance_.one_of(samples_).what;
  }

  std::string any_sample() {
    auto one = chance_.one_of(samples_);
    if (chance_.one_in(2)) one.id = {};
    return frame(one.id, one.what);
  }

  static std::string frame(request_id id, core::answer const& what) {
    std::string const payload = test::payload_of(wire::server_message{id, what});
    std::string bytes;
    wire::append_length(bytes, payload.size());
    return bytes + payload;
  }

  void call() {
    if (brain_.over() && !chance_.one_in(4)) return;
    auto wanted = core::any_wish(chance_, num_tasks, task_id{1}, false);
    if (std::holds_alternative<std::monostate>(wanted.what)) wanted.what = core::inspect_args{};
    auto const timeout = chance_.one_of(std::vector<duration>{0s, 1ms, 1s, 60s, without_limit});
    request_id const id = brain_.call(now_, std::move(wanted.what), timeout, wanted.task);
    if (id <= last_) report_violation("call ", id, " comes after call ", last_);
    last_ = id;
    open_.insert(id);
  }

  void cancel() {
    request_id const id = any_call();
    open_.erase(id);
    brain_.cancel(now_, id);
  }

  void pass() {
    time_point const to = now_ + chance_.one_of(std::vector<duration>{0s, 1ms, 900ms, 5s, 50s});
    // Of the shortest heartbeats there would be very many.
    for (int i = 0; i < 1000; ++i) {
      auto const next = brain_.next_deadline();
      if (!next || *next > to) {
        now_ = to;
        break;
      }
      now_ = std::max(now_, *next);
      do_what_is_due();
      if (line_ == line::opening && chance_.one_in(4)) open();
      settle();
    }
    brain_.advance(now_);
  }

  // One thing may lead to another: an attempt that took too long to the next one.
  void do_what_is_due() {
    for (int i = 0; i < 4; ++i) {
      brain_.advance(now_);
      settle();
      auto const next = brain_.next_deadline();
      if (!next || *next > now_) return;
    }
    report_violation("something due is left behind");
  }

  void settle() {
    brain_.take_bytes(bytes_);
    if (!bytes_.empty()) check_bytes();
    brain_.take_commands(commands_);
    for (agent_command const one : commands_) obey(one);
    brain_.take_completions(completions_);
    for (agent_completion const& one : completions_) {
      transcript_ += std::to_string(one.call.value) + ' ' + one.what.outcome.text() + '\n';
      if (open_.erase(one.call) == 0)
        report_violation("call ", one.call, " completes, which is not open");
    }
    brain_.take_events(events_);
    for (agent_event const& one : events_) {
      transcript_ += "event " + std::to_string(one.index()) + '\n';
      if (has_ended_) report_violation("an event follows the end");
      has_ended_ = std::holds_alternative<agent_events::ended>(one);
    }
    if (brain_.open_calls() != open_.size()) {
      report_violation(brain_.open_calls(), " calls are open, which should be ", open_.size());
    }
    if (brain_.over() && (line_ != line::closed || brain_.next_deadline())) {
      report_violation("the session is over, but something is still wanted");
    }
  }

  void check_bytes() {
    transcript_ += std::to_string(bytes_.size()) + " bytes\n";
    if (line_ != line::open) return report_violation("bytes for no transport");
    sent_.feed(bytes_);
    for (;;) {
      auto const payload = sent_.next();
      if (!payload) return report_violation("a frame that is too large");
      if (!*payload) return;
      auto const message = wire::decode_client(**payload);
      if (!message) return report_violation("a request that is not understood: ", message.error());
    }
  }

  void obey(agent_command what) {
    transcript_ += what == agent_command::open ? "open\n" : "close\n";
    if ((what == agent_command::open) != (line_ == line::closed)) {
      report_violation("commands to open and to close do not take turns");
    }
    line_ = what == agent_command::open ? line::opening : line::closed;
  }

  static constexpr std::size_t frame_bytes_max = 1'000'000;

  test::dice chance_;
  std::vector<wire::server_message> const samples_{test::sample_answers()};
  time_point now_{start};
  agent brain_;
  line line_{line::closed};
  wire::frame_decoder sent_{frame_bytes_max};
  std::string held_back_;  // of what the coordinator has said
  bool is_greeted_{};
  bool greeted_before_{};
  bool has_ended_{};
  request_id last_{};
  std::set<request_id> open_;
  std::string bytes_;
  std::vector<agent_command> commands_;
  std::vector<agent_completion> completions_;
  std::vector<agent_event> events_;
  std::string transcript_;
};

}  // namespace

std::string run_agent_world(test::dice chance) {
  world w{chance};
  w.run();
  return w.transcript();
}

}  // namespace coxswain
