#pragma once
// Many sessions of a load that act together: they connect, join and leave, and send requests in
// volleys, awaiting all answers. One session may act for many tasks.

#include "load/connections.hpp"
#include "load/job.hpp"
#include "workloads/workload.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

struct volley_time {
  time_point first_sent;  // just before
  time_point last_sent;   // just before: the server can have it before the call returns
  time_point answered;    // just after the last answer was read
};

class fleet final : public connections::listener {
 public:
  // The connections are sessions for its tasks, of which each session has as many as the others;
  // for none, if they are observers. All that follow throw bench_error: the server refuses, closes
  // a connection, or is silent too long.
  fleet(address server, std::unique_ptr<peer> speaks, extent size);

  // Opens the connections, and the sessions if the server knows of them.
  void connect(std::function<void(std::uint64_t)> const& progress);
  // All tasks together, if the server knows of membership.
  void join();
  void leave();

  void beat();

  [[nodiscard]] std::size_t sessions() const noexcept { return sessions_; }
  [[nodiscard]] std::uint32_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::size_t session_of(std::uint32_t task) const noexcept;
  [[nodiscard]] peer& speaks() noexcept { return wires_.speaks(); }
  [[nodiscard]] connections& wires() noexcept { return wires_; }
  [[nodiscard]] connections const& wires() const noexcept { return wires_; }

  // Prepares a request for the next volley; see `asking`. The requests of a session must be
  // prepared in a row.
  void ask(std::size_t session, std::optional<task_id> task, core::request what,
           std::size_t model = 0, bool is_alone = false);
  // The same request for each task. `make` is given the task.
  void ask_all(std::function<core::request(task_id)> const& make);

  // Sends what is prepared and awaits an answer to each. `awaited` is for messages: "the release".
  volley_time run(std::string_view awaited);
  // The two halves of it; the second until only so many answers are still to come.
  time_point send();
  time_point await(std::string_view awaited, std::size_t left = 0);

 private:
  void arrived(std::size_t connection, received_frame const& frame) override;
  void introduce(std::size_t first, std::size_t end);
  void greet(std::size_t first, std::size_t end);

  std::size_t sessions_;
  std::uint32_t tasks_;
  connections wires_;
  frame_list prepared_;
  std::vector<std::uint32_t> asked_;  // by session: how many requests are prepared or unanswered
  std::size_t waiting_{};             // how many answers are to come
  time_point last_sent_{};
  std::mt19937_64 random_{std::random_device{}()};
};

// A fleet that speaks to the plan's server.
[[nodiscard]] inline fleet fleet_of(load_plan const& plan, redis_plan const& redis = {}) {
  return fleet{plan.server, make_peer(plan, redis), plan.size};
}

// A load that is a fleet, which connects, joins and leaves.
class fleet_load : public load {
 public:
  explicit fleet_load(fleet&& all) : all_{std::move(all)} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    all_.join();
  }
  void beat() override { all_.beat(); }
  [[nodiscard]] duration beat_period() const noexcept override {
    return all_.wires().speaks().beat_period();
  }
  void finish() override { all_.leave(); }

 protected:
  fleet all_;
};

// Some keys with values of one size, for the workloads that read and write them. They are in a
// directory of this process alone: a coordinator that runs already may have others.
class key_set {
 public:
  key_set(std::uint32_t keys, std::uint64_t value_bytes);

  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::string const& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string name(std::uint32_t key) const;  // in the order of the numbers

  [[nodiscard]] core::request put(std::uint32_t key) const;
  [[nodiscard]] core::request get(std::uint32_t key) const;
  [[nodiscard]] core::answer put_answer(std::uint64_t version) const;
  [[nodiscard]] core::answer get_answer(std::uint64_t version) const;

  // Gives all keys their value, if the server knows of keys. Throws bench_error.
  void store(fleet& by) const;
  // The reverse.
  void remove(fleet& by) const;

 private:
  std::string directory_;
  std::uint32_t count_;
  std::string value_;
};

}  // namespace coxswain::bench
