// The job whose profile guides gcc (tools/cmake/CoxswainPGO.cmake): what a coordinator is asked
// most, as frames, without sockets. How often each thing is done matters little: gcc wants to know
// which branches are taken and which functions are worth inlining.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/recording.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t frame_bytes_max = 1024 * 1024;
constexpr std::size_t batch = 16;  // requests that a client sends at once

core::config options(std::uint32_t num_tasks) {
  core::config made;
  made.num_tasks = num_tasks;
  made.changes_max = 1024;  // the log of changes becomes full
  return made;
}

class job {
 public:
  job(std::uint32_t num_tasks, std::uint32_t tasks_per_client)
      : logic_{options(num_tasks), incarnation{1}, now_},
        tasks_{num_tasks},
        per_client_{tasks_per_client} {
    for (std::uint32_t i = 0; i < num_tasks / per_client_; ++i) {
      auto const id = logic_.connected(now_, "10.0.0.1:40000", core::session_secret{});
      clients_.emplace_back(id, wire::frame_decoder{frame_bytes_max});
      core::hello_args hello;
      hello.label = "worker-host-17:31415";
      wire::append_frame(clients_.back().input, {{}, 0, {}, hello});
      receive(i);
    }
    all_ask([](std::uint32_t task) {
      return core::join_args{incarnation{task + 1}, core::timeout_default};
    });
  }

  // Each task makes one request; `make` is called with its number.
  template <class Make>
  void all_ask(Make make) {
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      ask(task, make(task));
      if ((task + 1) % per_client_ == 0) receive(task / per_client_);
    }
  }

  // Each task makes many requests at once; `make` is called with a different number each time.
  template <class Make>
  void all_ask_much(Make make) {
    for (std::uint32_t task = 0; task < tasks_; ++task) {
      for (std::size_t i = 0; i < batch; ++i) ask(task, make(made_++));
      receive(task / per_client_);
    }
  }

  void all_live() {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
      auto& from = clients_[i];
      wire::append_frame(from.input, {{}, from.answered, {}, std::monostate{}});
      receive(i);
    }
    now_ += 1s;
    if (auto const due = logic_.next_deadline(); due && *due <= now_) logic_.advance(now_);
    send();
  }

  void snapshot() {
    std::size_t size = 0;
    logic_.save([&](std::string_view piece) { size += piece.size(); });
  }

  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }

 private:
  struct client {
    client(connection_id as, wire::frame_decoder by) : id{as}, decoder{std::move(by)} {}

    connection_id id;
    wire::frame_decoder decoder;
    std::string input{};
    std::uint64_t asked{};
    std::uint64_t answered{};
  };

  void ask(std::uint32_t task, core::request what) {
    auto& from = clients_[task / per_client_];
    wire::append_frame(from.input,
                       {request_id{++from.asked}, from.answered, task_id{task}, std::move(what)});
  }

  void receive(std::uint32_t number) {
    auto& from = clients_[number];
    now_ += 10us;
    logic_.prefetch(from.id);
    logic_.prefetch_session(from.id);
    logic_.prefetch_requests(from.id);
    from.decoder.feed(from.input);
    while (auto const frame = from.decoder.next().value()) {
      wire::decoded_payload payload;
      if (status why = wire::decode_client(*frame, message_, payload); !why.ok()) throw error{why};
      record(from.id, payload);
      logic_.received(now_, from.id, std::move(message_));
      if (logic_.unsent() >= 6) send();
    }
    from.input.clear();
    from.answered = from.asked;
    send();
  }

  void record(connection_id from, wire::decoded_payload const& payload) {
    wire::record input;
    input.at = now_.time_since_epoch();
    input.kind = wire::record_kind::message;
    input.connection = from;
    input.content = payload.whole;
    if (wire::bytes_max(input) > recorded_.size()) return;
    static_cast<void>(wire::write(input, recorded_.data()));
  }

  // And the client reads it.
  void send() {
    logic_.take_outgoing(output_);
    for (auto const& one : output_) {
      body_.clear();
      frame_.clear();
      bytes tail;
      wire::encode(*one.what, body_, tail);
      wire::append_server_head(frame_, one.in_reply_to, body_.size() + tail.size());
      frame_.append(body_).append(tail.view());
      auto const payload = std::string_view{frame_}.substr(wire::length_bytes);
      auto const got = wire::decode_server(payload).value();
      if (!got.what.outcome.ok()) throw error{got.what.outcome};
      ++answers_;
    }
    output_.clear();
    logic_.take_events(events_);
  }

  time_point now_{1h};
  core::coordinator logic_;
  std::uint32_t tasks_;
  std::vector<client> clients_;
  std::uint32_t per_client_;
  std::uint64_t made_{};
  std::uint64_t answers_{};
  core::client_message message_;
  std::vector<core::outgoing> output_;
  std::vector<core::event> events_;
  std::string body_;
  std::string frame_;
  std::array<char, 4096> recorded_{};
};

std::string key(std::uint64_t number) {
  return "checkpoint/shard/" + std::to_string(number % 1000);
}

core::barrier_args barrier(std::string name, std::string data = {}) {
  core::barrier_args made;
  made.name = std::move(name);
  made.data = std::move(data);
  return made;
}

void use_keys(job& in) {
  for (int round = 0; round < 10; ++round) {
    in.all_ask_much([](std::uint64_t i) {
      return core::put_args{key(i), std::string(1 + i % 199, 'v'), true};
    });
    in.all_ask_much([](std::uint64_t i) { return core::get_args{key(i)}; });
  }
  in.all_ask([](std::uint32_t task) { return core::append_args{key(task), "more"}; });
  in.all_ask([](std::uint32_t) { return core::increment_args{"steps", 1}; });
  in.all_ask([](std::uint32_t) { return core::list_args{"checkpoint"}; });
  in.all_ask([](std::uint32_t) { return core::count_keys_args{"checkpoint"}; });
  in.all_ask([](std::uint32_t task) { return core::remove_args{key(task)}; });
  // All wait for one value.
  in.all_ask([](std::uint32_t task) -> core::request {
    if (task + 1 < 64) return core::get_args{"address"};
    return core::put_args{"address", std::string(1024, 'a'), true};
  });
}

void wait_for_each_other(job& in, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    in.all_ask([](std::uint32_t) { return barrier("step"); });
    if (round % 8 == 0) in.all_live();
  }
}

void exchange_data(job& in) {
  for (int round = 0; round < 8; ++round) {
    in.all_ask([](std::uint32_t) {
      auto made = barrier("data", std::string(64, 'd'));
      made.gather = true;
      return made;
    });
    in.all_ask([](std::uint32_t) {
      auto made = barrier("sum", std::string(8, '\1'));
      made.reduce = core::reduction::sum_int64;
      return made;
    });
  }
}

void leave(job& from) {
  from.all_ask([](std::uint32_t) { return core::leave_args{}; });
}

std::uint64_t train() {
  std::uint64_t answers = 0;
  for (int i = 0; i < 4; ++i) {
    job one{64, 1};
    use_keys(one);
    wait_for_each_other(one, 50);
    exchange_data(one);
    one.snapshot();
    leave(one);
    answers += one.answers();
  }
  job many{1000, 1};
  wait_for_each_other(many, 10);
  leave(many);
  job few_sessions{1000, 100};
  wait_for_each_other(few_sessions, 20);
  leave(few_sessions);
  return answers + many.answers() + few_sessions.answers();
}

}  // namespace
}  // namespace coxswain::bench

int main() {
  try {
    std::printf("trained with %llu answers\n",
                static_cast<unsigned long long>(coxswain::bench::train()));
  } catch (std::exception const& e) {
    std::fprintf(stderr, "training: %s\n", e.what());
    return 1;
  }
}
