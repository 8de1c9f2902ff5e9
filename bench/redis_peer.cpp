// What is said to Redis. A barrier is a counter and a message to all, or a list; keys are keys; who
// waits for a value has subscribed for it.

#include "bench_error.hpp"
#include "peer.hpp"
#include "resp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

constexpr std::string_view channel_name = "step";
constexpr std::string_view list_name = "release";

// The last one of a round publishes, or pushes as many elements as wait for one.
std::string library(rival_plan const& plan) {
  constexpr int pushed_at_once = 1'000;
  auto const when_all = plan.barrier == redis_barrier::list
                            ? fmt::format(
                                  "for i = 1, {0}, {1} do local t = {{}} for k = 1, "
                                  "math.min({1}, {0} - i + 1) do t[k] = '1' end "
                                  "redis.call('RPUSH', '{2}', unpack(t)) end",
                                  plan.tasks, pushed_at_once, list_name)
                            : fmt::format("redis.call('PUBLISH', '{}', n)", channel_name);
  return fmt::format(
      "#!lua name=bench\nredis.register_function('arrive', function(keys) local n = "
      "redis.call('INCR', keys[1]) if n % {} == 0 then {} end end)",
      plan.tasks, when_all);
}

bool begins(received_frame const& frame, std::string_view with) {
  return frame.beginning.substr(0, with.size()) == with;
}

class redis_peer final : public peer {
 public:
  explicit redis_peer(rival_plan plan) : plan_{plan} {}

  bool has_sessions() const noexcept override { return false; }
  bool has_keys() const noexcept override { return true; }
  frame_source_maker reader() const noexcept override {
    return []() -> std::unique_ptr<frame_source> { return std::make_unique<resp_reader>(); };
  }

  void open(std::size_t /*connection*/) override {}

  std::size_t introduce(std::string& out, std::size_t connection) override {
    std::size_t answers = 0;
    if (plan_.tasks > 0 && connection == 0) {
      append_command(out, {"FUNCTION", "LOAD", library(plan_)});
      ++answers;
    }
    bool const subscribes = connection < plan_.subscribers && plan_.barrier != redis_barrier::list;
    if (subscribes) {
      append_command(out, {"HELLO", "3"});
      append_command(out, {"SUBSCRIBE", channel_name});
      answers += 2;
    }
    if (subscribes && plan_.tasks > 0 && plan_.barrier == redis_barrier::script) {
      append_command(out, {"CLIENT", "REPLY", "OFF"});  // the message says everything
    }
    return answers;
  }

  void expect(std::vector<core::answer> models) override {
    value_frames_.clear();
    for (auto const& m : models) {
      auto const* const value = std::get_if<core::value_answer>(&m.value);
      if (value == nullptr) continue;
      auto const size = value->value.view().size();
      value_frames_.push_back(fmt::format("${}\r\n", size).size() + size + 2);
    }
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    std::visit([&](auto& args) { say(out, how, args); }, what);
  }

  verdict judge(received_frame const& frame) override {
    switch (frame.beginning.front()) {
      case '>': return judge_push(frame);
      case ':': return judge_number(frame);
      case '$': return judge_value(frame);
      case '-': throw bench_error{"it refused: " + std::string{frame.beginning}};
      default: return verdict::answer;
    }
  }

  void settle() override {}
  duration beat_period() const noexcept override { return {}; }

 private:
  template <class Args>
  void say(std::string& /*out*/, asking const& /*how*/, Args const& /*args*/) {
    throw bench_error{"there is nothing in Redis for what this workload asks"};
  }
  void say(std::string& out, asking const& /*how*/, std::monostate) {
    if (is_publishing_)
      append_command(out, {"PUBLISH", channel_name, std::to_string(arrivals_)});
    else
      append_command(out, {"PING"});
  }
  void say(std::string& out, asking const& /*how*/, core::barrier_args const& args) {
    ++arrivals_;
    switch (plan_.barrier) {
      case redis_barrier::script: return append_command(out, {"FCALL", "arrive", "1", args.name});
      case redis_barrier::count: return append_command(out, {"INCR", args.name});
      case redis_barrier::list:
        append_command(out, {"CLIENT", "REPLY", "SKIP"});
        append_command(out, {"FCALL", "arrive", "1", args.name});
        append_command(out, {"BLPOP", list_name, "0"});
    }
  }
  void say(std::string& out, asking const& /*how*/, core::put_args const& args) {
    if (plan_.subscribers > 0)
      append_command(out, {"PUBLISH", channel_name, args.value});
    else
      append_command(out, {"SET", args.key, args.value});
  }
  // Who has subscribed need not ask.
  void say(std::string& out, asking const& how, core::get_args const& args) {
    if (how.connection >= plan_.subscribers) append_command(out, {"GET", args.key});
  }
  void say(std::string& out, asking const& /*how*/, core::count_keys_args const&) {
    append_command(out, {"PING"});
  }
  void say(std::string& out, asking const& /*how*/, core::remove_args const& args) {
    append_command(out, {"DEL", args.key});
  }

  verdict judge_push(received_frame const& frame) const {
    if (!begins(frame, ">3\r\n$7\r\nmessage\r\n")) return verdict::answer;  // it has subscribed
    if (plan_.tasks == 0) return verdict::answer;
    auto const number = std::to_string(arrivals_);
    if (frame.beginning.ends_with("\r\n" + number + "\r\n")) return verdict::answer;
    throw bench_error{"it released a round that is not complete"};
  }

  // What INCR and PUBLISH answer. Who made a round complete is to tell all.
  verdict judge_number(received_frame const& frame) {
    if (plan_.tasks == 0 || plan_.barrier != redis_barrier::count) return verdict::answer;
    std::uint64_t n = 0;
    std::from_chars(frame.beginning.data() + 1, frame.beginning.data() + frame.beginning.size(), n);
    if (n % plan_.tasks != 0) return verdict::push;
    is_publishing_ = !is_publishing_;
    return is_publishing_ ? verdict::respond : verdict::push;
  }

  verdict judge_value(received_frame const& frame) const {
    if (plan_.tasks > 0) return verdict::answer;  // the name of the library
    if (std::find(value_frames_.begin(), value_frames_.end(), frame.bytes) != value_frames_.end()) {
      return verdict::answer;
    }
    throw bench_error{fmt::format("it answered with {} bytes, as no value has", frame.bytes)};
  }

  rival_plan plan_;
  std::uint64_t arrivals_{};
  bool is_publishing_{};
  std::vector<std::size_t> value_frames_;  // how large the answers to gets may be
};

}  // namespace

std::unique_ptr<peer> make_redis_peer(rival_plan plan) {
  return std::make_unique<redis_peer>(plan);
}

}  // namespace coxswain::bench
