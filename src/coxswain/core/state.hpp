#pragma once
// The coordinator's state and its private verbs, which coordinator*.cpp define by concern.

#include "coxswain/core/alarms.hpp"
#include "coxswain/core/alive_queries.hpp"
#include "coxswain/core/barriers.hpp"
#include "coxswain/core/call.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/count_barriers.hpp"
#include "coxswain/core/counted_answer.hpp"
#include "coxswain/core/deadlines.hpp"
#include "coxswain/core/event_log.hpp"
#include "coxswain/core/guests.hpp"
#include "coxswain/core/joint_gets.hpp"
#include "coxswain/core/kept_answer.hpp"
#include "coxswain/core/key_watches.hpp"
#include "coxswain/core/kv_store.hpp"
#include "coxswain/core/lateness.hpp"
#include "coxswain/core/meeting.hpp"
#include "coxswain/core/preemption.hpp"
#include "coxswain/core/queues.hpp"
#include "coxswain/core/roster.hpp"
#include "coxswain/core/round_history.hpp"
#include "coxswain/core/sessions.hpp"
#include "coxswain/core/statistics.hpp"
#include "coxswain/core/stuck.hpp"
#include "coxswain/core/topology_exchanges.hpp"
#include "coxswain/core/wait_graph.hpp"
#include "coxswain/core/waiting_texts.hpp"
#include "coxswain/core/watchers.hpp"
#include "coxswain/core/wrong_tokens.hpp"

#include <boost/smart_ptr/weak_ptr.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class coordinator::state {
 public:
  state(config options, incarnation self, time_point now);
  // The verbs of the coordinator.
  connection_id connected(time_point now, std::string peer, session_secret secret);
  void received(time_point now, connection_id from, client_message&& message);
  void expect(connection_id from) const { sessions_.expect(from); }
  void expect_session(connection_id from) const;
  void expect_requests(connection_id from) const;
  void heard(time_point now, connection_id from);
  void malformed(time_point now, connection_id from, std::string why);
  void lost(time_point now, connection_id from, loss how);
  void write_blocked(time_point now, connection_id to);
  void write_progressed(time_point now, connection_id to);
  void held_back(time_point now, connection_id from);
  void read_again(time_point now, connection_id from);
  void task_ended(time_point now, task_id id, status why);
  status preempt(time_point now, task_id id, duration in);
  // Only a participant may, of tasks.
  status cancel(time_point now, cancel_barrier_args const& what, std::string const& by,
                std::optional<task_id> task);
  void replace_credentials(std::vector<credential> by);
  void stop(time_point now, std::string reason);
  void advance(time_point now);
  // After each verb that may have changed something: tells those who must know at once.
  void follow_up();
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  [[nodiscard]] std::size_t frame_bytes_max(connection_id of) const;
  [[nodiscard]] std::optional<share_kind> share_of(connection_id who) const;
  [[nodiscard]] std::size_t held_by(share_kind kind) const { return sessions_.held_by(kind); }
  [[nodiscard]] std::string const* wrong_token(connection_id of) const;
  [[nodiscard]] bool job_has_started() const noexcept { return job_started_; }
  [[nodiscard]] snapshot look(time_point now) const;
  [[nodiscard]] why_answer why(time_point now, std::uint64_t& steps) const;
  [[nodiscard]] events_answer events_since(std::optional<std::uint64_t> after, severity at_least,
                                           std::size_t last_of_each) const;
  [[nodiscard]] std::uint64_t last_event() const { return event_log_.last(); }
  [[nodiscard]] listing_answer keys(std::string const& prefix, std::string const& after,
                                    std::size_t most) const;
  [[nodiscard]] result<value_answer> value(std::string_view key) const;
  bytes exchange_value(std::string_view key, bytes by);
  [[nodiscard]] barrier_history history(time_point now, std::string_view barrier) const;
  [[nodiscard]] bool done() const;
  [[nodiscard]] bool drained() const;
  void check_invariants() const;

  config options;
  std::shared_ptr<memory_meter> memory;
  std::vector<outgoing> out;
  mutable std::size_t unsent_bytes{};  // of large answers that were made since `out` was taken
  std::vector<event> events;
  std::optional<job_error> error;
  statistics tally;

 private:
  static constexpr std::size_t memory_per_request = 8 * 1024;  // free for one that may wait

  // Time.
  void observe(time_point now);
  void log_stall(time_point now);
  [[nodiscard]] liveness alive_since(time_point now) const { return {now, stalled_}; }
  [[nodiscard]] time_point credited(liveness const& l, duration allowed) const;
  void note_life(time_point now, session& s);
  void handle_due(time_point now, due_item const& item);
  void check_expiry(time_point now, session_id id);
  void suspect(time_point now, session_id id, std::string const& why);
  [[nodiscard]] time_point expiry_of(session const& s) const;
  void arm_expiry(session_id id, session& s);
  [[nodiscard]] std::string expiry_text(time_point now, session const& s) const;
  // Whether it is not read, so that what it says is not heard.
  [[nodiscard]] bool is_held_back(session const& s) const;
  void hello_due(time_point now, connection_id id);
  void stalled_reader_due(time_point now, connection_id id);
  void probe_due(time_point now, task_id id);
  void call_due(time_point now, due_item const& item);
  // What a request is answered with at its deadline.
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p);
  [[nodiscard]] std::string overdue_text(time_point now, parked const& p) const;
  void arm_deadline(alarms& of, time_point deadline, due_item item);
  void arm_log(alarms& of, time_point now, due_item item);
  void disarm(alarms& of);

  // Connections and sessions.
  void hello(time_point now, connection_id from, hello_args const& args);
  void resume(time_point now, connection_id from, std::uint64_t answered_through,
              resume_args const& args);
  void carry_on(time_point now, connection_id from, std::uint64_t answered_through,
                resume_args const& args);
  [[nodiscard]] status refusal(hello_args const& args) const;
  [[nodiscard]] std::optional<role> role_of(hello_args const& args) const;
  void refuse_hello(time_point now, connection_id from, status why);
  void tell_wrong_tokens(time_point now);
  void say_goodbye(connection_id to, status why, bool may_resume, bool restarted = false);
  void end_session(time_point now, session_id id, status const& why);
  // The call waits, and `p` says where.
  void park(call const& c, parked&& p);
  [[nodiscard]] static blocking_calls::wait kind_of_wait(parked const& p);
  // It waits no longer; where it waited is the caller's affair. Nothing if it did not wait.
  std::optional<parked> unpark(ticket who);
  // Takes a parked request out of wherever it waits. Nothing if it does not wait.
  std::optional<parked> release(ticket who);
  void arm_call(call const& c, parked& p, duration timeout);
  void dispatch(time_point now, session_id by, client_message&& message);
  [[nodiscard]] status out_of_memory() const;
  // OK if a request of the session may wait and hold so much.
  [[nodiscard]] status room_to_wait(session const& s, std::size_t bytes) const;
  [[nodiscard]] status admissible(session const& s, client_message const& message) const;
  [[nodiscard]] result<std::optional<task_id>> acting_task(session_id by, session const& s,
                                                           client_message const& message) const;

  // Answers.
  void answer_now(call const& c, answer_ptr what, bool keep);
  void refuse(call const& c, status why) { answer_now(c, share(std::move(why)), false); }
  void answer_parked(ticket who, answer_ptr what);
  void answer_all(std::vector<ticket> const& tickets, answer_ptr const& what);
  void expect_all(std::vector<ticket> const& tickets, std::size_t i) const;
  [[nodiscard]] answer_ptr share(status outcome) const;
  template <class Value>
  [[nodiscard]] answer_ptr share(Value value) const {
    if constexpr (requires { bytes_of(value); }) unsent_bytes += bytes_of(value);
    return make_ok_answer(std::move(value));
  }
  void log(severity level, event_kind kind, std::string text, std::optional<task_id> task = {},
           std::string_view barrier = {});
  // For texts, which may be read much later: "14:03:07.2".
  [[nodiscard]] std::string moment(time_point now, time_point at) const;

  // Tasks.
  void handle(call const& c, join_args& args);
  void handle(call const& c, leave_args& args);
  void handle(call const& c, report_error_args& args);
  void handle(call const& c, reset_args& args);
  [[nodiscard]] bool is_recoverable(join_args const& args) const;
  void challenge(call const& c, join_args const& args);
  void replace(time_point now, task_id id, status why);
  void admit_challenger(time_point now, task_id id);
  void end_challenge(task_id id, answer_ptr const& what);
  void holder_lives(task_id id);
  void end_probe(task_id id);
  [[nodiscard]] duration probe_time() const;
  void arm_probe(time_point when, task_id id);
  void postpone_probe(time_point now, liveness const& since, task_id id);
  void hold(call const& c, join_args const& args);
  void move_holder(call const& c, join_args const& args);
  void enter(call const& c, join_args const& args);
  void connect(task_id id);
  void release_join(time_point now);
  void fail_join(answer_ptr const& what);
  void abandon_join(task_id id, ticket asker);
  void close_join();
  [[nodiscard]] bool leaves_together() const;
  void leave_alone(call const& c, bool returning);
  [[nodiscard]] bool leave_is_complete() const;
  void release_leave(time_point now);
  void fail_leave(time_point now, answer_ptr const& what);
  void abandon_leave(task_id id, ticket asker);
  std::pair<std::vector<task_id>, std::vector<ticket>> close_leave();
  void depart(time_point now, task_id id, bool returning = false);
  void await_return(time_point now, task_id id);
  void return_due(time_point now, task_id id);
  void end_returns();
  void meeting_due(time_point now, due_item const& item);
  void log_meeting(time_point now, due_item const& item);
  void fail_task(time_point now, task_id id, status why);
  void go_on_without(time_point now, task_id id);
  void fail_job(time_point now, failure what, std::optional<barrier_failure> details = {});
  void forget_holder(task_id id);
  void end_waits(task_id id, std::optional<parked::place> only, status const& why);
  void end_reads(task_id id);
  void leave_count_barriers(task_id id);
  void answer_waits(task_id id, std::function<bool(parked const&)> const& chosen,
                    status const& why);
  void tell_job_error();
  // The job's failure as the outcome of a call.
  [[nodiscard]] status job_failed(errc code) const;
  // The outcome of a call that needs a task by a session that acts for none.
  [[nodiscard]] status not_joined() const;
  [[nodiscard]] std::string who(task_id id) const;
  [[nodiscard]] std::string whose(session const& s) const;
  [[nodiscard]] std::string has_failed(task_id id) const;
  // Of a task that has failed or left, as the outcome of a call that needs it.
  [[nodiscard]] status absence(task_id id) const;
  [[nodiscard]] origin const& from_of(task const& t) const;
  [[nodiscard]] std::optional<time_point> last_heard(task const& t) const;
  [[nodiscard]] bool is_suspect(task const& t) const;

  // Guests.
  void handle(call const& c, grant_args& args);
  [[nodiscard]] result<host> host_of(guest_args const& args) const;
  [[nodiscard]] status has_left_its_guests(task_id id) const;
  [[nodiscard]] std::optional<host> host_of(task_id id) const;
  [[nodiscard]] grant* grant_of(session const& s);
  [[nodiscard]] result<std::optional<task_id>> acting_guest(session const& s,
                                                            client_message const& message) const;
  void part(session& by, bool returning = false);
  void take_leaving_guests(task_id id, std::vector<ticket>& into);
  void reach_sync_point(call const& c, frozen_args const& args);
  void end_sync_points(std::optional<std::uint64_t> step);
  void end_grants(time_point now, session_id holder, status const& why);
  void dismiss(time_point now, std::vector<session_id> guests, status const& why);

  // Barriers.
  void handle(call const& c, barrier_args& args);
  void handle(call const& c, cancel_barrier_args& args);
  void handle(call const& c, count_barrier_args& args);
  [[nodiscard]] status checked_name(std::string_view name) const;
  // `barrier` is the name for texts; without one it is about an alive query.
  [[nodiscard]] result<task_set_ptr> participants(task_id caller, std::vector<task_id>& tasks,
                                                  std::optional<std::string_view> barrier) const;
  [[nodiscard]] status checked_kind(barrier_args const& args) const;
  [[nodiscard]] status may_open_round(task_id caller, barrier_args const& args,
                                      task_set const& expected, barriers::barrier const* b) const;
  void open_round(call const& c, barriers::barrier& b, task_set_ptr expected,
                  barrier_args const& args);
  void arrive(call const& c, barriers::barrier& b, barrier_args& args);
  // OK if the round has room for the data of this arrival.
  [[nodiscard]] status check_data(call const& c, barriers::barrier& b, std::size_t size);
  void arm_progress(barriers::barrier const& b, time_point at);
  void release_round(time_point now, barriers::barrier& b);
  void fail_round(time_point now, barriers::barrier& b, status why,
                  std::optional<task_id> told = std::nullopt);
  void dissolve_round(barriers::barrier& b);
  void end_round(time_point now, barriers::barrier& b, answer_ptr const& what,
                 std::vector<task_id> owed_to);
  void forget_opening(barriers::barrier const& b);
  // A caller no longer waits in its round.
  void leave_round(barriers::round_sequence sequence, task_id id);
  void answer_superseded(ticket older);
  void fail_all_rounds(time_point now, status const& why);
  void fail_rounds_of(time_point now, task_id id);
  void round_due(time_point now, due_item const& item);
  void push_progress(time_point now, barriers::barrier& b);
  [[nodiscard]] std::vector<task_id> awaited(meeting const& m) const;
  [[nodiscard]] barrier_failure describe(time_point now, meeting const& m,
                                         round_number number) const;
  [[nodiscard]] barrier_failure describe(time_point now, std::vector<task_id> missing,
                                         std::uint32_t expected, bool in_brief = false) const;
  [[nodiscard]] missing_task describe_missing(time_point now, task_id id) const;
  [[nodiscard]] std::string timed_out(time_point now, meeting const& m, std::string const& what,
                                      barrier_failure const& f) const;
  [[nodiscard]] std::string waits_for(task_id id) const;
  [[nodiscard]] std::string read_text(parked const& p) const;
  [[nodiscard]] std::string_view read_name(parked const& p) const;
  [[nodiscard]] std::string failed_text(barriers::barrier const& b,
                                        std::string const& reason) const;
  [[nodiscard]] std::string missing_text(time_point now, barrier_failure const& f) const;

  // Preemption.
  void handle(call const& c, preempt_args& args);
  void handle(call const& c, frozen_args& args);
  [[nodiscard]] status post_preemption(time_point now, task_id id, duration in);
  void plan_agreement(time_point now);
  void begin_agreement(time_point now);
  void tell_agreement(session& s);
  void review_agreement();
  void end_agreement(status why);
  void preemption_due(time_point now);
  void forget_preemption(time_point now, task_id id);
  // Alive queries.
  void handle(call const& c, alive_args& args);
  [[nodiscard]] bool is_awaited(alive_queries::query const& q, task_id id) const;
  void answer_if_complete(alive_queries::query& q);
  void look_at_queries_again();
  [[nodiscard]] answer_ptr alive_overdue(time_point now, parked const& p) const;
  [[nodiscard]] barrier_failure describe(time_point now, alive_queries::query const& q) const;

  // Topologies.
  void handle(call const& c, exchange_topology_args& args);
  [[nodiscard]] status checked_topology(exchange_topology_args const& args) const;
  [[nodiscard]] status all_may_come(std::string_view platform) const;
  [[nodiscard]] status room_for_topology(exchange_topology_args const& args) const;
  void join_exchange(call const& c, exchange_topology_args& args);
  void complete_exchange(std::string const& platform);
  void fail_open_exchanges(status const& why);
  void leave_exchanges(status const& why);
  // Nobody will ask for the outcomes of the others either.
  void end_exchanges(status const& why);
  void arm_exchange_log(time_point now);
  void log_exchanges(time_point now);
  [[nodiscard]] answer_ptr overdue_exchange(time_point now, parked const& p);

  // Keys.
  void handle(call const& c, put_args& args);
  void handle(call const& c, get_args& args);
  void handle(call const& c, try_get_args& args);
  void handle(call const& c, list_args& args);
  void handle(call const& c, remove_args& args);
  void handle(call const& c, increment_args& args);
  void handle(call const& c, inspect_args& args);
  void handle(call const& c, compare_and_set_args& args);
  void handle(call const& c, append_args& args);
  void handle(call const& c, get_all_args& args);
  void handle(call const& c, put_all_args& args);
  void handle(call const& c, count_keys_args& args);
  // Makes the key what it is called here.
  [[nodiscard]] status checked_key(std::string& key, std::string_view what = "key") const;
  [[nodiscard]] status checked_value(std::size_t bytes) const;
  [[nodiscard]] status checked_count(session const& by, std::size_t keys) const;
  // OK if one answer may be encoded to so many bytes and hold so many of keys; else the text says
  // what it is longer than.
  [[nodiscard]] status checked_listing(std::size_t encoded, std::size_t keys) const;
  [[nodiscard]] status may_put_all(put_all_args const& args, std::size_t bytes, std::size_t beside);
  void stored(call const& c, std::string const& key, result<kv_store::changed> const& made);
  void wake(std::string const& key);
  void remove_keys_of(task_id owner);
  void remove_ended_keys();
  void remove_if_ended(std::string const& key);
  [[nodiscard]] std::size_t missing_from(std::vector<std::string> const& keys,
                                         std::size_t begin) const;
  [[nodiscard]] answer_ptr values_of(std::vector<std::string> const& keys) const;
  [[nodiscard]] std::string missing_text(joint_gets::get const& g) const;
  void wait_at(joint_gets::number which, std::size_t at, ticket who);
  bool look_again(joint_gets::number which, ticket who, std::size_t& looks);
  void look_at_woken(std::size_t looks);
  void cancel_reads(std::string const& why);
  void end_joint_get(joint_gets::number which);

  // Watches of keys.
  void handle(call const& c, watch_keys_args& args);
  [[nodiscard]] key_changes_answer changes_below(std::string const& directory,
                                                 std::uint64_t after) const;
  void tell_key_watches(std::uint64_t since);
  [[nodiscard]] answer_ptr forgotten() const;

  // Queues.
  void handle(call const& c, push_args& args);
  void handle(call const& c, pop_args& args);
  void serve(std::string const& queue);
  void hand_over(ticket who, std::string const& queue, queues::item item);
  void put_back(std::vector<undelivered> items);

  // Watching.
  void handle(call const& c, watch_tasks_args& args);
  void handle(call const& c, watch_events_args& args);
  void watch(call const& c, parked::place where, watchers& among, watchers::watcher w,
             duration timeout);
  [[nodiscard]] answer_ptr tasks_now();
  void tell_watchers_of_tasks();
  void tell_watchers_of_events();
  void end_watches(status const& why);

  // Progress.
  void handle(call const& c, report_progress_args& args);
  [[nodiscard]] bool watches_progress() const;
  [[nodiscard]] time_point progress_expiry(progress const& p) const;
  void wait_begins(time_point now, task& t);
  void wait_has_ended(time_point now, task& t);
  // Nothing that the task said was heard since then.
  void come_back(time_point now, time_point since, task_id id);
  void watch_progress(task_id id);
  void no_progress_due(time_point now, task_id id);

  // Statistics.
  void note_lateness(duration late);
  [[nodiscard]] static operation operation_at(parked::place where);
  void note_round(time_point now, barriers::barrier const& b, errc outcome,
                  std::vector<ticket> const& in_order);

  // Who waits for what, and who is stuck.
  void plan_review();
  void review_due(time_point now);
  [[nodiscard]] bool may_act(time_point now, task const& t) const;
  [[nodiscard]] wait_graph graph_of_waits(time_point now) const;
  [[nodiscard]] std::vector<task_id> awaited(alive_queries::query const& q) const;
  [[nodiscard]] std::vector<task_id> awaited(parked const& p) const;
  [[nodiscard]] std::vector<stuck_call> stuck_in(wait_graph const& g) const;
  void tell_stuck(wait_graph const& g, std::vector<stuck_call> stuck);
  [[nodiscard]] bool wait_alike(parked const& a, parked const& b) const;
  [[nodiscard]] std::string stuck_text(wait_graph const& g,
                                       std::vector<stuck_call> const& stuck) const;
  [[nodiscard]] std::string stuck_text(wait_graph const& g, stuck_group const& group) const;
  void handle(call const& c, why_args& args);
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g, why_answer::kind what,
                                         std::string name, meeting const& m) const;
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g,
                                         std::string const& name,
                                         count_barriers::waiting const& waiting) const;
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g,
                                         alive_queries::query const& q) const;
  [[nodiscard]] std::vector<task_id> awaited_for_agreement() const;
  [[nodiscard]] why_answer::wait wait_for_agreement(time_point now, wait_graph const& g) const;
  void add_reads(time_point now, wait_graph const& g, why_answer& to, std::uint64_t& steps) const;
  void add_call(time_point now, why_answer::wait& w, ticket who) const;
  void tell_waiting(time_point now, session& to, ticket asked);
  [[nodiscard]] std::string waiting_text(time_point now, ticket asked, parked const& p);
  [[nodiscard]] std::string missing_text(time_point now, parked const& p) const;

  // Looking: all but the tasks, and those.
  [[nodiscard]] snapshot look_at_job(time_point now) const;
  void add_open_barriers(time_point now, snapshot& to) const;
  void show_tasks(time_point now, snapshot& to, std::uint32_t first, std::size_t most) const;
  [[nodiscard]] snapshot::barrier picture(time_point now, snapshot::kind kind, std::string name,
                                          meeting const& m) const;

  // Parts of check_invariants.
  void check_session(session_id id, session const& s) const;
  void check_parked(ticket who, parked const& p) const;
  void check_tasks() const;
  void check_meetings() const;
  void check_keys() const;
  void check_watchers() const;
  void check_exchanges() const;
  void check_blocked(task_id id) const;
  void check_alarms() const;
  [[nodiscard]] std::size_t count_parked(parked::place where) const;

  incarnation self_;
  time_point started_;
  time_point observed_;
  answer_ptr const plain_ok_ = make_answer({});
  duration stalled_{};  // all stalls of the loop so far
  std::optional<time_point> stall_told_;
  bool stopping_{}, job_error_news_{};
  std::size_t removals_left_;  // of keys whose task has ended, before the next advance

  deadlines deadlines_;
  sessions sessions_;
  roster roster_;
  barriers barriers_;
  count_barriers count_barriers_;
  kv_store keys_;
  joint_gets joint_gets_;
  key_watches key_watches_;
  queues queues_;
  std::map<barriers::round_sequence, alarms> round_alarms_;

  task_set_ptr everyone_;
  bool job_started_{};  // the join barrier was passed
  meeting join_;
  alarms join_alarms_;
  meeting leave_;
  alarms leave_alarms_;
  grants grants_;
  preemption preemption_;
  alarm preemption_alarm_;
  alive_queries alive_queries_;
  event_log event_log_;
  watchers watchers_of_events_;
  std::uint64_t events_told_{};
  watchers watchers_of_tasks_;
  std::uint64_t tasks_told_{};
  boost::weak_ptr<answer const> tasks_shown_;  // as they were shown last, while that is on its way
  topology_exchanges topologies_;
  alarm topology_log_;  // one for all that are open
  alarm review_;
  duration review_pause_{};  // before the next one, the longer the more there was to look at
  std::vector<stuck_call> stuck_told_;
  time_point stuck_told_at_;
  waiting_texts waiting_texts_;
  kept_answer why_, first_page_;  // of what all wait for, and of the job
  wrong_tokens wrong_tokens_;
  alarm wrong_tokens_due_;
  lateness lateness_;
  round_history rounds_;
};

}  // namespace coxswain::core
