#pragma once
// A coordinator and its clients in virtual time, so that tests read as transcripts:
//
//   cluster c{2, {.recoverable = true}};  // client i has joined as task i; or fixture job<2>
//   auto const first = c.barrier(0, "b", 30s);
//   BOOST_TEST(c.at(30s - 1ns).code(first) == "waits");
//   BOOST_TEST(c.at(30s).replies() == "0:DEADLINE_EXCEEDED");
//
// Functions that are not calls return the cluster, so that an expectation states its time. The
// clients count replies, give ids, send heartbeats, answer probes and resume as real ones do; each
// can be made to deviate. Messages of the coordinator arrive at once. Every input is followed by
// check_invariants(), and protocol violations fail the test: two replies to one request, a push
// before the reply to Hello, anything after a goodbye. At its end each test removes all keys, stops
// the coordinator and looks for unanswered calls and leaked memory.

#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/model/reasons.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::test {

inline constexpr time_point t0{std::chrono::hours{1000}};
inline constexpr incarnation coordinator_self{77};

// The caller: a client and the task it acts for. Without a task the message names none.
struct caller {
  caller(int c) : client{static_cast<std::size_t>(c)} {}
  caller(int c, std::uint32_t t) : client{static_cast<std::size_t>(c)}, task{task_id{t}} {}
  caller(int c, int t) : caller{c, static_cast<std::uint32_t>(t)} {}

  std::size_t client;
  std::optional<task_id> task;
};

// A request that was sent, or will be once its client is connected again.
struct call {
  std::size_t client;
  request_id id;
};

using core::reasons;

// A reason with these arguments; with any, if none is named.
struct expected_reason {
  errc code;
  std::string text;
  bool is_whole;

  friend bool operator==(status const& s, expected_reason const& e) {
    return s.code() == e.code &&
           (e.is_whole ? s.message() == e.text : core::gives(s.message(), e.text));
  }
  friend std::ostream& operator<<(std::ostream& out, expected_reason const& e) {
    return out << e.code << ": " << e.text;
  }
};
template <auto Reason, class... Arguments>
expected_reason because(Arguments const&... arguments) {
  if constexpr (sizeof...(arguments) == 0) {
    return {core::code_of(Reason), std::string{(core::all_reasons.*Reason).text}, false};
  } else {
    return {core::code_of(Reason), core::text_of<Reason>(arguments...), true};
  }
}

// The options of a barrier.
struct asking {
  std::vector<std::uint32_t> among{};
  std::optional<std::string> gather{};  // with this data
  duration progress_every{};
  core::reduction reduce{core::reduction::none};
  std::string operand{};
  bool fail_when_lost{};
  bool of_jax_tasks{};
};

// The options of a Join.
struct joining {
  std::optional<bool> recoverable{};
  bool take_over{};
  bool with_hello{};
  bool is_jax{};
};

class cluster {
 public:
  // A client and its state. Tests may change any of it to make the client deviate.
  struct client {
    struct open_call {
      core::client_message message;
      time_point deadline;
      bool sent{};
    };

    connection_id connection{};  // zero: none
    std::string label;
    std::string peer;
    std::optional<core::hello_answer> hello;
    std::optional<core::resume_answer> resumed;  // the answer to the last Resume
    std::optional<core::goodbye> goodbye;        // the last one
    request_id last_id{};
    std::uint64_t answered{};  // replies received
    std::map<request_id, open_call> open;
    std::map<request_id, core::answer_ptr> answers;
    std::vector<core::answer_ptr> pushes;  // since the last look; including replies to heartbeats
    bool beats{true};                      // sends heartbeats and answers probes
    bool deaf{};                           // messages to it are lost in transit
    std::uint64_t epoch{};                 // the last one that it was given
  };

  // n tasks have joined, each with its own client: client i is task i, incarnation 100 + i.
  explicit cluster(std::uint32_t tasks, core::config options = {});
  // The job has `tasks` tasks, and no client.
  static cluster without_clients(std::uint32_t tasks, core::config options = {});
  ~cluster();
  cluster(cluster const&) = delete;

  core::coordinator& logic() { return *logic_; }
  client& operator[](int i) { return *clients_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int size() const { return static_cast<int>(clients_.size()); }
  // Skips the checks after each input that are too slow for large tests.
  void check_less() { checks_ = false; }

  // Replaces the coordinator by one loaded from its snapshot, which must be the same. With
  // COXSWAIN_RELOADS in the environment this follows each input, unless the test compares addresses
  // of answers that were sent.
  void reload();
  void keep_coordinator() { reloads_ = false; }
  [[nodiscard]] std::string snapshot() const;

  [[nodiscard]] duration now() const { return now_ - t0; }
  cluster& at(duration since_start);  // processes everything that is due until then
  cluster& pass(duration more) { return at(now() + more); }
  cluster& advance_once() { return step(now_); }
  cluster& stall(duration more);  // the loop stalls for this long, then runs once
  cluster& sleep_without_advance(duration more) {
    now_ += more;
    return *this;
  }

  connection_id dial(std::string peer = "10.0.0.9:1");  // a bare connection
  cluster& say(connection_id from, core::client_message message);
  int observer(std::string label = "observer:1");  // a new session
  int hello(core::hello_args args, std::string peer = "10.0.0.9:1");
  cluster& lose(int who, core::loss how = core::loss::closed);
  cluster& resume(int who);  // on a new connection, with the open requests
  cluster& resume_on(int who, connection_id on);
  cluster& blink(int who) { return lose(who).resume(who); }
  [[nodiscard]] core::resume_args resume_of(int who) const;
  cluster& bye(int who, bool abandoned = false);
  cluster& heartbeat(int who);
  cluster& heard(int who);  // bytes of an incomplete message
  cluster& malformed(int who, std::string why);
  cluster& write_blocked(int who);
  cluster& write_progressed(int who);
  cluster& reading_paused(int who);
  cluster& reading_resumed(int who);
  cluster& task_ended(std::uint32_t task, status why);
  cluster& stop(std::string reason = "test");
  // The requests for stacks that the coordinator's owner has received since the last look.
  std::vector<core::stacks_wanted> wanted_of_owner() { return std::exchange(wanted_, {}); }
  // By the coordinator's owner.
  status put_in(core::owner_input what);
  status operator_cancels(std::string name, std::optional<std::uint64_t> round, std::string by);

  // Orders a call before what follows: c.after(c.barrier(1, "b")).replies().
  cluster& after(call) { return *this; }
  call send(caller who, core::request what, duration timeout = without_limit);
  call join(caller who, std::uint64_t self, duration timeout = 300s, joining extra = {});
  call reset(caller who, std::uint64_t self);
  call leave(caller who, duration timeout = 300s, bool returning = false);
  call report_error(caller who, errc code, std::string message);
  call barrier(caller who, std::string name, duration timeout = 300s, asking extra = {});
  call cancel(caller who, std::string name, std::optional<std::uint64_t> round = {});
  call count_barrier(caller who, std::string name, std::uint32_t count, duration timeout = 300s);
  call put(caller who, std::string key, std::string value, bool overwrite = false);
  call get(caller who, std::string key, duration timeout = 300s);
  call try_get(caller who, std::string key);
  call list(caller who, std::string directory);
  call remove(caller who, std::string key);
  call remove_tree(caller who, std::string directory, bool all = false);
  call increment(caller who, std::string key, std::int64_t by);
  call inspect(caller who);
  call preempt(caller who, std::uint32_t task, duration in = {});
  call frozen(caller who, std::uint64_t agreement, std::uint64_t step);
  call abstain(caller who, std::uint64_t agreement);
  call put_owned(caller who, std::string key, std::string value, bool overwrite = false);
  call compare_and_set(caller who, std::string key, core::expected_value expected,
                       std::string value, bool ephemeral = false);
  call append(caller who, std::string key, std::string value);
  call get_all(caller who, std::vector<std::string> keys, duration timeout = 300s);
  call put_all(caller who, std::vector<core::put_all_args::entry> entries, bool overwrite = false);
  call count_keys(caller who, std::string directory);
  call push(caller who, std::string queue, std::string value);
  call lock(caller who, std::string name, duration timeout = 300s);
  call try_lock(caller who, std::string name);
  call unlock(caller who, std::string name, std::uint64_t token);
  call take(caller who, std::string queue, duration lease = 60s, duration timeout = 300s);
  call update_lease(caller who, call taken, core::lease_change change, duration lease = 60s);
  call pop(caller who, std::string queue, duration timeout = 300s);
  call watch_keys(caller who, std::string directory, std::optional<std::uint64_t> after = {},
                  duration timeout = without_limit);
  call exchange(caller who, std::string platform, core::local_topology mine,
                duration timeout = 300s);
  // Asks for any number.
  call enrol(int who, std::string member = {}, std::vector<std::string> placement = {},
             duration timeout = without_limit);
  call next_epoch(caller who, bool shrink_only = false, duration timeout = 300s);
  cluster& cancel(call what);

  // "waits", "OK", "DEADLINE_EXCEEDED"; "OK waits" of two.
  template <class... Calls>
  [[nodiscard]] std::string code(call of, Calls... more) const {
    auto const* const a = answer_to(of);
    return ((a ? std::string{name(a->outcome.code())} : "waits") + ... + (" " + code(more)));
  }
  [[nodiscard]] std::string text(call of) const;   // the status's message
  [[nodiscard]] status outcome(call of) const;     // OK while it waits
  [[nodiscard]] std::string value(call of) const;  // of a get: its value; else its code
  // "7", or the code: the new version of a key after a put, append or increment.
  [[nodiscard]] std::string version(call of) const;
  // "a=1 b=2", or the code.
  [[nodiscard]] std::string listing(call of) const;
  // "a=1 b=- to 7": b was removed, and the changes reach up to version 7. The code comes first
  // unless it is OK.
  [[nodiscard]] std::string changes(call of) const;
  // Of a count or a push: "3", or the code.
  [[nodiscard]] std::string count(call of) const;
  // "round 3", "round 3: a|b" with gathered data, "round 3 DEADLINE_EXCEEDED 1/2 missing 1", or the
  // code.
  [[nodiscard]] std::string round(call of) const;
  // Epoch and task: "2: 0 of 3", with what was lost and has joined: "2: 0 of 3 -1 +2"; or the code.
  [[nodiscard]] std::string epoch(call of) const;
  // "task 3", "task 3, later" if the job had started, or the code.
  [[nodiscard]] std::string number(call of) const;
  // Of a watch of the tasks: "100 connected, 101 suspect", by incarnation; or the code.
  [[nodiscard]] std::string tasks(call of) const;
  // "none", or "1 b round 1 OK 3 tasks at 5s spread 3s lag 1s last 2".
  [[nodiscard]] std::string last_round() const;
  // All replies since the last look, in order: "0:OK 1:CANCELLED".
  std::string replies();
  template <class T>
  [[nodiscard]] T const* body(call of) const {
    auto const* const a = answer_to(of);
    return a ? std::get_if<T>(&a->value) : nullptr;
  }
  [[nodiscard]] core::answer const* answer_to(call of) const;

  // Takes the pushes of one kind received by the client since the last look.
  template <class T>
  std::vector<T> pushed(int who) {
    std::vector<T> found;
    for (auto const& p : std::exchange((*this)[who].pushes, {})) {
      if (auto const* const v = std::get_if<T>(&p->value)) found.push_back(*v);
    }
    return found;
  }
  // The job error pushed to a client since the last look: "none", or its cause: "task 1 INTERNAL".
  std::string pushed_error(int who);
  // The ends of epochs that were pushed to it since: "1 lost; 2 joiners".
  std::string endings(int who);
  // The agreement on a step that was pushed to it since; zero if none.
  std::uint64_t freeze(int who);
  // "none", "ABORTED: text" or "ABORTED may resume: text".
  [[nodiscard]] std::string goodbye(int who) const;
  [[nodiscard]] std::string goodbye_to(connection_id id) const;
  [[nodiscard]] bool is_attached(int who) const {
    return clients_[static_cast<std::size_t>(who)]->connection != connection_id{};
  }

  // Takes the log since the last look, one line each.
  std::string log();
  [[nodiscard]] core::snapshot look() const { return logic_->look(now_); }
  [[nodiscard]] std::string state_of(std::uint32_t task) const;  // "connected", "suspect", ...
  // "step 7, 3 s old", "step 7, 60 s old, overdue", or "none".
  [[nodiscard]] std::string progress_of(std::size_t task) const;
  // When the state of the job began: "14 s" after the start, or "unknown".
  [[nodiscard]] std::string since() const;
  // "none", or the causes: "task 0: INTERNAL: boom; task 1: ..."
  [[nodiscard]] std::string error() const;

 private:
  cluster(std::uint32_t tasks, core::config options, bool joined);

  cluster& step(time_point to);
  void beat_until(time_point to);
  cluster& settle();  // delivers messages until the coordinator sends no more
  void deliver(core::outgoing const& one);
  void reply_to(client& c, std::size_t index, core::outgoing const& one);
  static void note_epoch(client& c, core::answer const& what);
  void push_to(client& c, core::answer_ptr const& what);
  void transmit(client& c, client::open_call& what);
  void resumed(std::size_t index);
  void checked();

  std::unique_ptr<core::coordinator> logic_;
  time_point now_{t0};
  time_point next_beat_;
  duration beat_period_;
  bool checks_{true};
  bool reloads_{std::getenv("COXSWAIN_RELOADS") != nullptr};
  bool stopped_{};
  std::uint8_t secrets_{};
  std::vector<std::unique_ptr<client>> clients_;
  std::map<connection_id, std::size_t> by_connection_;          // of clients
  std::map<connection_id, std::optional<core::goodbye>> bare_;  // of no client
  std::vector<core::stacks_wanted> wanted_;                     // of the owner
  std::vector<connection_id> to_close_;
  std::vector<std::size_t> probed_;
  std::vector<std::size_t> resumed_;
  std::string transcript_;
  std::string log_;
};

// Fixtures with n tasks: each joined with its own client, or none joined yet.
template <std::uint32_t n>
struct job {
  cluster c{n};
};
template <std::uint32_t n>
struct empty_job {
  cluster c{cluster::without_clients(n)};
};

// Checks that `text` has all the parts, in this order.
void expect_words(std::string_view text, std::vector<std::string_view> const& parts);

}  // namespace coxswain::test
