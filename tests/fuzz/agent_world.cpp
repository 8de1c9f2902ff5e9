#include "tests/fuzz/agent_world.hpp"

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/fuzz/any_request.hpp"
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

agent_options any_options(test::random_source& rng) {
  agent_options o;
  o.addresses = {"b12:8476"};
  if (rng.one_in(2)) o.addresses.insert(o.addresses.end(), {"b13:8476", "unix:/c"});
  o.follows_others = rng.one_in(2);
  o.hello.label = "me:1";
  if (!rng.one_in(4)) o.task = task_id{1};
  if (rng.one_in(4)) o.hello.num_tasks = num_tasks;
  o.connect_timeout = rng.one_of(std::vector<duration>{0s, 5s, 300s, without_limit});
  if (rng.one_in(3)) o.fence_after = rng.one_of(std::vector<duration>{0s, 1s, 20s});
  o.queued_bytes_max = rng.one_of(std::vector<std::size_t>{0, 500, 1'000'000});
  o.seed = rng.upto(255);
  return o;
}

core::hello_answer any_greeting(test::random_source& rng) {
  core::hello_answer a;
  a.coordinator = incarnation{9 + rng.upto(1)};
  a.version = "1.2.3";
  a.session = session_id{1 + rng.upto(1)};
  a.num_tasks = num_tasks;
  a.heartbeat_period = rng.one_of(std::vector<duration>{0ms, 1ms, 10s});
  a.heartbeat_timeout = 3 * a.heartbeat_period;
  a.reconnect_grace = rng.one_of(std::vector<duration>{0s, 2s});
  a.suspect_after = rng.one_of(std::vector<duration>{0s, 1ms, 5s});
  a.frame_bytes_max = rng.one_of(std::vector<std::uint64_t>{200, 100'000, 1'000'000'000});
  a.value_bytes_max = rng.one_of(std::vector<std::uint64_t>{100, 50'000});
  a.key_bytes_max = 100;
  a.open_requests_max = rng.one_of(std::vector<std::uint32_t>{3, 4096});
  return a;
}

class world {
 public:
  explicit world(test::random_source rng) : rng_{rng}, logic_{any_options(rng_)} {}

  void run() {
    logic_.start(now_);
    settle();
    auto const steps = 100 + rng_.upto(400);
    for (std::uint64_t i = 0; i < steps && !rng_.is_spent(); ++i) {
      step();
      settle();
    }
    logic_.bye(now_, rng_.one_in(2));
    settle();
    if (!logic_.over()) report_violation("a bye does not end the session");
    if (!open_.empty()) report_violation(open_.size(), " calls were never completed");
  }

  // All output.
  [[nodiscard]] std::string const& transcript() const { return transcript_; }

 private:
  void step() {
    switch (rng_.upto(11)) {
      case 0:
      case 1:
      case 2: return call();
      case 3: return cancel();
      case 4:
      case 5: return pass();
      case 6:
        if (rng_.one_in(30)) logic_.bye(now_, rng_.one_in(2));
        return;
      default: break;
    }
    if (is_open_) return hear();
    if (!opening_.empty()) open();
  }

  void open() {
    auto const which = rng_.one_of(std::vector<std::size_t>(opening_.begin(), opening_.end()));
    opening_.erase(which);
    if (rng_.one_in(4)) {
      logic_.connect_failed(now_, which, cut, rng_.one_in(2));
    } else {
      is_open_ = true;
      current_ = which;
      sent_ = wire::frame_decoder{frame_bytes_max};
      held_back_.clear();
      is_greeted_ = false;
      logic_.connected(now_, which);
    }
  }

  void hear() {
    if (rng_.one_in(16)) {
      is_open_ = false;
      return logic_.lost(now_, cut);
    }
    if (rng_.one_in(16)) return logic_.write_progressed(now_);
    std::string given = std::exchange(held_back_, {}) + words();
    if (rng_.one_in(4)) {
      auto const now = rng_.upto(given.size());
      held_back_ = given.substr(now);
      given.resize(now);
    }
    logic_.received(now_, given);
  }

  std::string words() {
    if (rng_.one_in(40)) return rng_.bytes(rng_.size(100));
    if (!is_greeted_ && !rng_.one_in(20)) {
      is_greeted_ = true;
      if (rng_.one_in(10))
        return frame({}, {{}, core::goodbye{cut, rng_.one_in(2), false, any_address()}});
      if (!greeted_before_) {
        greeted_before_ = true;
        return frame({}, {{}, any_greeting(rng_)});
      }
      return frame({}, {{}, core::resume_answer{some_open()}});
    }
    if (rng_.one_in(4)) return any_sample();
    return frame(any_call(), any_reply());
  }

  // Calls that the coordinator may not have received, in order.
  std::vector<request_id> some_open() {
    std::vector<request_id> ids;
    for (request_id const id : open_) {
      if (rng_.one_in(3)) ids.push_back(id);
    }
    return ids;
  }

  request_id any_call() {
    if (open_.empty() || rng_.one_in(30)) return request_id{rng_.upto(20)};
    return *std::next(open_.begin(), static_cast<std::ptrdiff_t>(rng_.upto(open_.size() - 1)));
  }

  core::answer any_reply() {
    if (rng_.one_in(3)) return {{errc::deadline_exceeded, "too late"}, {}};
    return rng_.one_in(2) ? core::answer{} : rng_.one_of(samples_).what;
  }

  std::string any_sample() {
    auto one = rng_.one_of(samples_);
    if (rng_.one_in(2)) one.id = {};
    return frame(one.id, one.what);
  }

  static std::string frame(request_id id, core::answer const& what) {
    std::string const payload = test::payload_of(wire::server_message{id, what});
    std::string bytes;
    wire::append_length(bytes, payload.size());
    return bytes + payload;
  }

  void call() {
    if (logic_.over() && !rng_.one_in(4)) return;
    auto wanted = core::any_request(rng_, num_tasks, task_id{1}, false);
    if (std::holds_alternative<std::monostate>(wanted.what)) wanted.what = core::inspect_args{};
    auto const timeout = rng_.one_of(std::vector<duration>{0s, 1ms, 1s, 60s, without_limit});
    request_id const id = logic_.call(now_, std::move(wanted.what), timeout, wanted.task);
    if (id <= last_) report_violation("call ", id, " comes after call ", last_);
    last_ = id;
    open_.insert(id);
  }

  void cancel() {
    request_id const id = any_call();
    open_.erase(id);
    logic_.cancel(now_, id);
  }

  void pass() {
    time_point const to = now_ + rng_.one_of(std::vector<duration>{0s, 1ms, 900ms, 5s, 50s});
    // Very short heartbeat intervals would cause very many.
    for (int i = 0; i < 1000; ++i) {
      auto const next = logic_.next_deadline();
      if (!next || *next > to) {
        now_ = to;
        break;
      }
      now_ = std::max(now_, *next);
      do_what_is_due();
      if (!opening_.empty() && rng_.one_in(4)) open();
      settle();
    }
    logic_.advance(now_);
  }

  // One deadline may set another: an attempt that times out starts the next one.
  void do_what_is_due() {
    for (int i = 0; i < 4; ++i) {
      logic_.advance(now_);
      settle();
      auto const next = logic_.next_deadline();
      if (!next || *next > now_) return;
    }
    report_violation("something due is left behind");
  }

  void settle() {
    logic_.take_bytes(bytes_);
    if (!bytes_.empty()) check_bytes();
    logic_.take_commands(commands_);
    for (agent_command const command : commands_) obey(command);
    logic_.take_completions(completions_);
    for (agent_completion const& completion : completions_) {
      transcript_ +=
          std::to_string(completion.call.value) + ' ' + completion.what.outcome.text() + '\n';
      if (open_.erase(completion.call) == 0)
        report_violation("call ", completion.call, " completes, which is not open");
    }
    logic_.take_events(events_);
    for (agent_event const& event : events_) {
      transcript_ += "event " + std::to_string(event.index()) + '\n';
      if (has_ended_) report_violation("an event follows the end");
      has_ended_ = std::holds_alternative<agent_events::ended>(event);
    }
    if (logic_.open_calls() != open_.size()) {
      report_violation(logic_.open_calls(), " calls are open, which should be ", open_.size());
    }
    if (is_open_ && !opening_.empty()) report_violation("a transport is opened beside an open one");
    if (logic_.over() && (is_open_ || !opening_.empty() || logic_.next_deadline())) {
      report_violation("the session is over, but something is still wanted");
    }
  }

  void check_bytes() {
    transcript_ += std::to_string(bytes_.size()) + " bytes\n";
    if (!is_open_) return report_violation("bytes for no transport");
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
    transcript_ += (what.opens() ? "open " : "close ") + std::to_string(what.address) + '\n';
    bool const is_used = (is_open_ && current_ == what.address) || opening_.contains(what.address);
    if (what.opens() == is_used) {
      report_violation("commands to open and to close an address do not take turns");
    }
    if (what.opens()) {
      opening_.insert(what.address);
    } else if (opening_.erase(what.address) == 0) {
      is_open_ = false;
    }
  }

  std::string any_address() {
    return rng_.one_of(std::vector<std::string>{"", "b13:8476", "b14:8476", "unix:/d", "?"});
  }

  static constexpr std::size_t frame_bytes_max = 1'000'000;

  test::random_source rng_;
  std::vector<wire::server_message> const samples_{test::sample_answers()};
  time_point now_{start};
  agent logic_;
  std::set<std::size_t> opening_;  // addresses
  bool is_open_{};
  std::size_t current_{};  // the address of the open transport
  wire::frame_decoder sent_{frame_bytes_max};
  std::string held_back_;  // output of the coordinator
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

std::string run_agent_world(test::random_source rng) {
  world w{rng};
  w.run();
  return w.transcript();
}

}  // namespace coxswain
