// Requests to Redis. A barrier is a counter and a message to all; a wait for a value is a
// subscription.

#include "bench_error.hpp"
#include "load/peer.hpp"
#include "load/resp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

constexpr std::string_view channel_name = "step";
constexpr std::string_view data_name = "data";

constexpr std::string_view message_head = ">3\r\n$7\r\nmessage\r\n";

bool has_data(redis_plan const& plan) { return plan.sums || plan.gathered_bytes > 0; }

// Each stores its contribution: the data of all are in one string, in task order.
std::string contribution_of(redis_plan const& plan) {
  if (plan.sums) return "redis.call('INCRBY', keys[2], args[2])";
  if (plan.gathered_bytes == 0) return {};
  return fmt::format("redis.call('SETRANGE', keys[2], args[1] * {}, args[2])", plan.gathered_bytes);
}

// The last task of a round publishes it.
std::string library(redis_plan const& plan) {
  std::string_view const data = has_data(plan) ? " .. ':' .. redis.call('GETDEL', keys[2])" : "";
  return fmt::format(
      "#!lua name=bench\nredis.register_function('arrive', function(keys, args) {} local n = "
      "redis.call('INCR', keys[1]) if n % {} == 0 then redis.call('PUBLISH', '{}', n{}) end end)",
      contribution_of(plan), plan.tasks, channel_name, data);
}

// A string in RESP.
std::size_t string_bytes(std::size_t size) {
  return fmt::format("${}\r\n", size).size() + size + 2;
}

bool begins(received_frame const& frame, std::string_view with) {
  return frame.beginning.substr(0, with.size()) == with;
}

class redis_peer final : public peer {
 public:
  explicit redis_peer(redis_plan plan) : plan_{plan} {}

  bool has_keys() const noexcept override { return true; }
  std::shared_ptr<frame_source> reader(std::size_t /*connection*/) override {
    return std::make_shared<resp_reader>();
  }

  std::size_t introduce(std::string& out, std::size_t connection) override {
    std::size_t answers = 0;
    if (plan_.tasks > 0 && connection == 0) {
      append_command(out, {"FUNCTION", "LOAD", library(plan_)});
      ++answers;
    }
    if (connection < plan_.subscribers) {
      append_command(out, {"HELLO", "3"});
      append_command(out, {"SUBSCRIBE", channel_name});
      answers += 2;
      // At a barrier the message says everything.
      if (plan_.tasks > 0) append_command(out, {"CLIENT", "REPLY", "OFF"});
    }
    return answers;
  }

  void expect(std::vector<core::answer> models) override {
    value_frames_.clear();
    for (auto const& m : models) {
      if (auto const* const value = std::get_if<core::value_answer>(&m.value)) {
        value_frames_.push_back(string_bytes(value->value.view().size()));
      }
    }
  }

  void ask(std::string& out, asking const& how, core::request what) override {
    std::visit([&](auto& args) { say(out, how, args); }, what);
  }

  verdict judge(received_frame const& frame) override {
    switch (frame.beginning.front()) {
      case '>': return judge_push(frame);
      case '$': return judge_value(frame);
      case '-': throw bench_error{"it refused: " + std::string{frame.beginning}};
      default: return verdict::answer;
    }
  }

 private:
  template <class Args>
  void say(std::string& /*out*/, asking const& /*how*/, Args const& /*args*/) {
    throw bench_error{"there is nothing in Redis for what this workload asks"};
  }
  void say(std::string& out, asking const& /*how*/, std::monostate) {
    append_command(out, {"PING"});
  }
  void say(std::string& out, asking const& how, core::barrier_args const& args) {
    ++arrivals_;
    if (has_data(plan_)) {
      return append_command(out, {"FCALL", "arrive", "2", args.name, data_name,
                                  std::to_string(how.task.value_or(task_id{}).value),
                                  plan_.sums ? std::string_view{"0"} : args.data});
    }
    append_command(out, {"FCALL", "arrive", "1", args.name});
  }
  void say(std::string& out, asking const& /*how*/, core::put_args const& args) {
    if (plan_.subscribers > 0)
      append_command(out, {"PUBLISH", channel_name, args.value});
    else
      append_command(out, {"SET", args.key, args.value});
  }
  // A subscribed connection need not send a request.
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
    if (!begins(frame, message_head)) return verdict::answer;  // subscribed
    if (plan_.tasks == 0) return verdict::answer;
    auto const number = std::to_string(arrivals_);
    if (has_data(plan_)) return judge_data(frame, number + ':');
    if (frame.beginning.ends_with("\r\n" + number + "\r\n")) return verdict::answer;
    throw bench_error{"it released a round that is not complete"};
  }

  verdict judge_data(received_frame const& frame, std::string const& number) const {
    auto const data_bytes = plan_.sums ? 1 : plan_.gathered_bytes * plan_.tasks;
    auto const head =
        fmt::format("{}${}\r\n{}\r\n", message_head, channel_name.size(), channel_name);
    auto const content = string_bytes(number.size() + data_bytes);
    bool const is_numbered = frame.beginning.find("\r\n" + number) != std::string_view::npos;
    if (is_numbered && frame.bytes == head.size() + content) return verdict::answer;
    throw bench_error{"it released a round that is not complete, or without the data of all"};
  }

  verdict judge_value(received_frame const& frame) const {
    if (plan_.tasks > 0) return verdict::answer;  // the name of the library
    if (std::find(value_frames_.begin(), value_frames_.end(), frame.bytes) != value_frames_.end()) {
      return verdict::answer;
    }
    throw bench_error{fmt::format("it answered with {} bytes, as no value has", frame.bytes)};
  }

  redis_plan plan_;
  std::uint64_t arrivals_{};
  std::vector<std::size_t> value_frames_;  // the maximum size of answers to gets
};

}  // namespace

std::unique_ptr<peer> make_redis_peer(redis_plan plan) {
  return std::make_unique<redis_peer>(plan);
}

}  // namespace coxswain::bench
