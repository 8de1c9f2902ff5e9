#include "peer.hpp"

#include "bench_error.hpp"

#include "coxswain/core/messages.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// The frames of all tasks in one piece of memory.
class frame_list {
 public:
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  // Where the next frame is to be appended; `close` ends it.
  [[nodiscard]] std::string& open() { return bytes_; }
  void close() { ends_.push_back(bytes_.size()); }

  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    auto const begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view{bytes_}.substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

class coxswain_peer final : public peer {
 public:
  explicit coxswain_peer(std::uint32_t tasks) : tasks_{tasks} { settle(); }

  bool knows(exchange) const noexcept override { return true; }

  // All sessions do the same things in the same order, so that ids and counts are equal in all.
  void prepare(exchange what) override {
    if (what == exchange::arrive) ++round_;
    if (what != exchange::hello && what != exchange::bye) ++id_.value;
    exchange_ = what;
    accepted_.clear();
    frames_.clear();
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      wire::append_frame(frames_.open(), message_of(task));
      frames_.close();
    }
  }

  // Each request is answered once; a hello is not counted.
  void settle() override {
    core::client_message alive;
    alive.answered_through = id_.value;
    heartbeat_.clear();
    wire::append_frame(heartbeat_, alive);
  }

  std::string_view frame(std::size_t task) const override { return frames_[task]; }

  // The answers of a round are equal to the byte, so that one of them need be looked at.
  verdict judge(std::string_view payload) override {
    if (!accepted_.empty() && payload == accepted_) return verdict::answer;
    auto const message = wire::decode_server(payload);
    if (!message) throw bench_error{"it sent nonsense: " + message.error().text()};
    if (auto const* bye = std::get_if<core::goodbye>(&message->what.value)) {
      throw bench_error{"it said goodbye: " + bye->why.text()};
    }
    if (auto const* failed = std::get_if<job_error>(&message->what.value)) {
      throw bench_error{"the job failed: " + failed->cause.why.text()};
    }
    if (auto const* hello = std::get_if<core::hello_answer>(&message->what.value)) {
      check_job(*hello);
      heartbeat_period_ = hello->heartbeat_period;
      return verdict::answer;
    }
    if (message->id == request_id{}) {
      bool const asked = std::holds_alternative<core::probe>(message->what.value);
      return asked ? verdict::respond : verdict::push;
    }
    check_reply(*message);
    accepted_ = payload;
    return verdict::answer;
  }

  std::string_view heartbeat() const noexcept override { return heartbeat_; }
  duration heartbeat_period() const noexcept override { return heartbeat_period_; }

  // The payload of the release that ends the prepared round.
  std::size_t release_bytes() const {
    core::answer release;
    release.value.emplace<core::barrier_answer>().round = round_number{round_};
    auto const body = wire::encode(release).size();
    std::string frame;
    wire::append_server_head(frame, id_, body);
    return frame.size() + body - wire::length_bytes;
  }

 private:
  core::client_message message_of(std::uint32_t task) {
    core::client_message m;
    if (exchange_ == exchange::hello) {
      core::hello_args hello;
      hello.label = fmt::format("coxswain-bench:{}", ::getpid());
      m.what = std::move(hello);
      return m;
    }
    if (exchange_ == exchange::bye) {
      m.answered_through = id_.value;
      m.what = core::bye_args{};
      return m;
    }
    m.id = id_;
    m.answered_through = id_.value - 1;
    m.task = task_id{task};
    switch (exchange_) {
      case exchange::hello:
      case exchange::bye: break;
      case exchange::join: m.what = core::join_args{incarnation{random_()}}; break;
      case exchange::leave: m.what = core::leave_args{}; break;
      case exchange::arrive: {
        core::barrier_args barrier;
        barrier.name = "step";
        m.what = std::move(barrier);
      }
    }
    return m;
  }

  void check_job(core::hello_answer const& hello) const {
    if (hello.num_tasks == tasks_) return;
    throw bench_error{
        fmt::format("its job has {} tasks, but this run has {}: start it with that "
                    "many, or give --tasks {}",
                    hello.num_tasks, tasks_, hello.num_tasks)};
  }

  void check_reply(wire::server_message const& reply) const {
    auto const& what = reply.what;
    if (!what.outcome.ok()) throw bench_error{"it refused: " + what.outcome.text()};
    auto const* released = std::get_if<core::barrier_answer>(&what.value);
    bool const body_fits = exchange_ != exchange::arrive || released != nullptr;
    if (reply.id == id_ && body_fits) return;
    throw bench_error{
        fmt::format("request {} was to be answered with {}, but the answer is to "
                    "request {}, or of another kind",
                    id_.value, awaited(exchange_), reply.id.value)};
  }

  std::uint32_t tasks_;
  exchange exchange_{exchange::hello};
  request_id id_{};        // of the prepared exchange's requests
  std::uint64_t round_{};  // of the barrier
  frame_list frames_;
  std::string accepted_;  // an answer of this exchange that was found good
  std::string heartbeat_;
  duration heartbeat_period_{};
  std::mt19937_64 random_{std::random_device{}()};
};

class floor_peer final : public peer {
 public:
  explicit floor_peer(std::uint32_t tasks) : tasks_{tasks}, model_{tasks} {
    model_.prepare(exchange::join);  // so that ids are as large as those of the real client
  }

  bool knows(exchange what) const noexcept override { return what == exchange::arrive; }

  void prepare(exchange what) override {
    model_.prepare(what);
    release_bytes_ = model_.release_bytes();
    frames_.clear();
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      auto const size = model_.frame(task).size() - wire::length_bytes;
      auto& out = frames_.open();
      wire::append_length(out, size);
      wire::append_length(out, release_bytes_);
      out.append(size - wire::length_bytes, '\0');
      frames_.close();
    }
  }

  std::string_view frame(std::size_t task) const override { return frames_[task]; }

  verdict judge(std::string_view payload) override {
    if (payload.size() == release_bytes_) return verdict::answer;
    throw bench_error{fmt::format("the floor sent {} bytes where {} were expected", payload.size(),
                                  release_bytes_)};
  }

  void settle() override { model_.settle(); }
  std::string_view heartbeat() const noexcept override { return {}; }
  duration heartbeat_period() const noexcept override { return {}; }

 private:
  std::uint32_t tasks_;
  coxswain_peer model_;
  frame_list frames_;
  std::size_t release_bytes_{};
};

}  // namespace

std::string_view awaited(exchange what) noexcept {
  switch (what) {
    case exchange::hello: return "the answer to its hello";
    case exchange::join: return "the end of the join";
    case exchange::arrive: return "the release";
    case exchange::leave: return "the end of the leave";
    case exchange::bye: break;
  }
  return "an answer";
}

std::unique_ptr<peer> make_coxswain_peer(std::uint32_t tasks) {
  return std::make_unique<coxswain_peer>(tasks);
}

std::unique_ptr<peer> make_floor_peer(std::uint32_t tasks) {
  return std::make_unique<floor_peer>(tasks);
}

}  // namespace coxswain::bench
