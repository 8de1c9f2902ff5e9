#pragma once
// Plays a scenario: lines that begin with "> " are inputs of a coordinator in virtual time, each
// followed by its outcomes. `play` returns the text with the actual outcomes.
//
//   > 0 job tasks=2 grace=2s
//   > 0 t0 joins                     a client is a word; "t" and a number acts as that task
//   > 1s t0 barrier b 30s            everything below is sent at 1 s
//     t0 #2 OK round 1               an answer to its second request
//
// Not here: the scenarios (the .txt files beside this one).

#include "tests/scenarios/recorded_coordinator.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::scenarios {

class transcript {
 public:
  // Throws std::runtime_error that names a line it does not understand.
  [[nodiscard]] std::string play(std::string_view scenario);

  // Of the played scenario.
  [[nodiscard]] std::string recording() const { return coordinator_->recording(); }

 private:
  struct client {
    connection_id connection{};
    std::optional<task_id> task;
    std::optional<core::hello_answer> session;
    request_id last{};
    std::set<request_id> open;
    std::uint64_t answered{};
    std::uint64_t epoch{};  // the last one that it was given
    bool is_connected{};
    bool is_deaf{};  // messages to it are lost
  };

  void run(std::string_view line);
  void start_job(std::vector<std::string> const& words);
  static void set_option(core::config& of, std::string const& option, std::string const& value);
  void act(std::string const& name, std::vector<std::string> const& words);
  [[nodiscard]] core::request request_of(std::string const& name,
                                         std::vector<std::string> const& words) const;
  void connect(std::string const& name);
  void greet(client& c, std::string const& name, std::optional<task_id> as_guest_of = {});
  void resume(client& c);
  void send(client& c, core::request what);
  void advance(time_point to);
  void take_outputs();
  void say(std::string const& line);

  time_point now_{};
  std::unique_ptr<recorded_coordinator> coordinator_;
  std::map<std::string, client> clients_;
  std::string text_;
};

}  // namespace coxswain::scenarios
