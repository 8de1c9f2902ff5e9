#pragma once
// The errors of the core: each reason with its code and its text. Not here: descriptions of the
// job that errors, events and queries share (the concerns).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::core {

// Each argument has a name in braces; one in single quotes is cut after 200 bytes.
template <errc Code>
struct reason {
  std::string_view text;
};

// A string as it is, a number, a duration in words, or "task 3".
struct argument {
  argument(std::string value) : text{std::move(value)} {}
  argument(std::string_view value) : text{value} {}
  argument(char const* value) : text{value} {}
  argument(std::integral auto value) : text{std::to_string(value)} {}
  argument(task_id value) : text{"task " + std::to_string(value.value)} {}
  argument(duration value);

  std::string text;
};

[[nodiscard]] std::string formatted(std::string_view text,
                                    std::initializer_list<argument> arguments);

struct reasons {
  using invalid_argument = reason<errc::invalid_argument>;
  using deadline_exceeded = reason<errc::deadline_exceeded>;
  using not_found = reason<errc::not_found>;
  using already_exists = reason<errc::already_exists>;
  using permission_denied = reason<errc::permission_denied>;
  using resource_exhausted = reason<errc::resource_exhausted>;
  using failed_precondition = reason<errc::failed_precondition>;
  using aborted = reason<errc::aborted>;
  using out_of_range = reason<errc::out_of_range>;
  using unimplemented = reason<errc::unimplemented>;
  using internal = reason<errc::internal>;
  using unavailable = reason<errc::unavailable>;
  using unauthenticated = reason<errc::unauthenticated>;
  using cancelled = reason<errc::cancelled>;

  // Access
  invalid_argument empty_token{"A token is empty."};
  invalid_argument duplicate_token{"The same token is given twice."};
  permission_denied role_is_too_low{
      "role '{mine}' may not {verb}; that needs a token of role '{needed}'"};
  unimplemented unknown_kind{"this coordinator, version {version}, does not know this {what}"};
  resource_exhausted too_many_requests{
      "this session has {most} requests open or unacknowledged, its limit ({limit}); wait for "
      "replies first"};
  invalid_argument no_such_task{"there is no {task}; the job has tasks 0 to {last}"};
  aborted held_by_another_session{"{who} is held by another session, which replaced this one"};
  failed_precondition failed_join_again{"{failure}; join again"};
  failed_precondition may_join_again{"{task} has left; it may join again"};
  failed_precondition still_joining{"{task} is still joining"};
  failed_precondition joined_elsewhere{"{task} was not joined by this session"};
  failed_precondition not_joined{
      "join first: this session has not joined (or as several tasks: the call must name one)"};

  // Memory
  resource_exhausted memory_used_up{"the coordinator's memory is used up: {usage}"};
  resource_exhausted own_share_used_up{
      "{who} may hold {most} bytes in waiting calls, unacknowledged replies and open rounds, "
      "1/{part} of the core's part of memory_bytes_max ({memory}); this one holds {held}: wait for "
      "replies first"};
  resource_exhausted common_share_used_up{
      "{who} together may hold {most} bytes in waiting calls, unacknowledged replies and open "
      "rounds, 1/{part} of the core's part of memory_bytes_max ({memory}); they hold {held}: let "
      "fewer of them wait at a time, or raise the limit"};

  // Keys
  resource_exhausted too_long{"the {what} is {bytes} bytes long; the limit {limit} is {most}"};
  invalid_argument key_has_nul{"the key contains a NUL byte"};
  invalid_argument key_is_not_utf8{"the key is not UTF-8"};
  already_exists key_exists{"key {key} already exists"};
  not_found no_such_key{"key {key} not found"};
  failed_precondition other_version{
      "key {key} is not at version {expected}; it is at version {present}"};
  failed_precondition other_value{"key {key} has another value; it is at version {present}"};
  failed_precondition value_is_volatile{
      "the value of key {key} is volatile: it can be read, replaced and removed, but nothing may "
      "depend on it"};
  deadline_exceeded no_value_in_time{"key '{key}' got no value within {time}"};
  deadline_exceeded no_values_in_time{"not all keys got values within {time}; missing: {keys}"};
  invalid_argument empty_name{"the {kind} is empty"};
  resource_exhausted value_exceeds_memory{
      "the value is {bytes} bytes long; the limit for values, a fifth of memory_bytes_max, is "
      "{most}"};
  resource_exhausted lasting_value_is_too_long{
      "the value is {bytes} bytes long; the limit for all but volatile values, which only a put "
      "stores, is {most}"};
  resource_exhausted no_room_for_value{
      "no room for a value of {bytes} bytes: {usage}; remove keys, or raise the limit"};
  resource_exhausted too_many_keys{"the call names {keys} keys; the limit {limit} is {most}"};
  invalid_argument duplicate_key{"duplicate key '{key}'"};
  invalid_argument nothing_expected{"compare_and_set needs an expected version, value or absence"};
  invalid_argument removes_every_key{
      "removing the root removes every key, which needs confirmation (all)"};
  resource_exhausted exceeds_frame{"{most} bytes, the limit frame_bytes_max"};
  resource_exhausted exceeds_reply{
      "{most} bytes, an eighth of memory_bytes_max, the limit of one reply"};
  resource_exhausted value_exceeds{
      "the value of a key below '{directory}' exceeds {limit}; get it by itself"};
  resource_exhausted values_exceed{
      "the values of the {count} keys exceed {limit}; get fewer at a time"};
  failed_precondition value_is_no_integer{
      "the value of key '{key}' is not a decimal 64-bit integer"};
  out_of_range counter_overflows{"key '{key}' is {old}; adding {by} overflows a 64-bit integer"};
  invalid_argument no_such_version{
      "there is no version {asked} yet: the keys are at version {present}"};
  out_of_range changes_are_lost{
      "some changes since that version are no longer kept; the keys are at version {present}: list "
      "them and watch from there"};

  // Locks
  already_exists lock_is_held{"lock '{name}' is held by {owner}{lost} with token {token}"};
  deadline_exceeded not_locked_in_time{"not locked within {time}: {holder}"};
  failed_precondition lock_is_free{"lock '{name}' is not held; token {token} is no longer valid"};
  failed_precondition other_token{"{holder}; token {token} is not valid"};
  permission_denied not_the_owner{"{holder}, and only its owner may unlock it"};

  // Queues
  deadline_exceeded no_item_in_time{"queue '{queue}' got no item within {time}{leases}"};
  invalid_argument lease_is_too_short{"a lease must be longer than 0 s"};
  failed_precondition item_is_not_leased{
      "item {item} is not leased: its lease has expired, or it is finished"};
  failed_precondition lease_is_over{
      "item {item} of queue '{queue}' is leased to {owner}, redelivery {count}: this lease of it "
      "is over"};

  // Barriers and reductions
  invalid_argument barrier_has_no_name{"a barrier needs a name"};
  invalid_argument barrier_name_is_malformed{
      "the barrier's name contains a NUL byte or is not UTF-8"};
  invalid_argument gathers_and_reduces{"a barrier cannot both gather and reduce"};
  invalid_argument data_is_unused{"data was given to a barrier that neither gathers nor reduces"};
  invalid_argument no_such_participant{
      "{meeting}: there is no {task}; the job has tasks 0 to {last}"};
  invalid_argument caller_is_no_participant{
      "{meeting}: {task} is not among the participants it names"};
  invalid_argument not_a_jax_task{"barrier '{name}': {task} is not a JAX program's"};
  invalid_argument jax_barrier_lists_tasks{
      "barrier '{name}': its participants are the tasks of JAX programs, and it lists some"};
  internal barrier_is_unreachable{"barrier '{name}' cannot be reached: {why}"};
  invalid_argument operand_has_other_size{
      "{round}: operands must have {bytes} bytes, like the first caller's; this one has {size}"};
  resource_exhausted too_much_data{
      "{round}: with the data of {task} there are {bytes} bytes; the limit gather_bytes_max is "
      "{most}"};
  resource_exhausted no_room_for_data{"{round}: no room for {bytes} bytes of data: {usage}"};
  invalid_argument differs_from_waiting{
      "{round}: {task} differs from the waiting tasks: {difference}"};
  invalid_argument other_participants{
      "barrier '{name}' was last used, in round {round}, by participants without {task}; use a "
      "different name for a different set of tasks"};
  aborted outcome_is_discarded{
      "the outcome of round {round} of barrier '{name}' was discarded: undelivered outcomes "
      "exceeded {most} (owed_outcomes_max) or an eighth of the core's memory; call again"};
  failed_precondition no_open_round{"barrier '{name}' has no open round to cancel"};
  failed_precondition other_round_is_open{
      "the open round of barrier '{name}' is {open}, not {asked}"};
  permission_denied not_in_barrier{"{task} does not take part in barrier '{name}'"};
  cancelled round_failed{"{round} failed: {why}; {arrived} of {expected} tasks had arrived"};
  deadline_exceeded meeting_timed_out{
      "Barrier timed out. {meeting} timed out after {time}: {missing}; {arrived}/{expected} had "
      "arrived, {task} first"};
  deadline_exceeded join_timed_out{
      "Not all tasks joined within {time}: {missing}; {arrived}/{expected} had arrived, {task} "
      "first"};
  invalid_argument count_is_zero{"a barrier's count must be at least 1"};
  invalid_argument other_count{
      "callers already wait at barrier '{name}' with count {waiting}, not {asked}"};
  deadline_exceeded count_barrier_timed_out{
      "Barrier timed out. Count barrier '{name}' timed out after {time}: {arrived} of {count} had "
      "arrived"};
  invalid_argument unknown_reduction{"this coordinator does not support this kind of reduction"};
  invalid_argument operand_is_no_number{"a number has 8 bytes; the data given has {bytes}"};
  out_of_range sum_overflows{"the sum of the {count} numbers does not fit 64 bits"};
  failed_precondition data_differs{"{task} and {other} passed different data"};

  // Alive queries and topologies
  deadline_exceeded alive_query_timed_out{"Alive query timed out after {time}: {missing}"};
  resource_exhausted no_room_for_alive_query{
      "no room for an alive query among {tasks} tasks: memory_bytes_max is {most}"};
  deadline_exceeded exchange_timed_out{
      "topology exchange '{platform}' timed out for {who} after {time}: {missing}"};
  internal exchange_is_incompletable{"topology exchange '{platform}' cannot be completed: {why}"};
  internal exchange_failed{
      "topology exchange '{platform}' failed: {why}; {arrived} of {expected} tasks had "
      "contributed"};
  invalid_argument topologies_contradict{"topology exchange '{platform}': {why}"};
  invalid_argument partly_partitioned{
      "either all tasks or none must have a partition index; with one: {with}; without: {without}"};
  internal topology_has_changed{
      "topology exchange '{platform}': {who} passed a different topology before: {difference}"};
  resource_exhausted platform_is_too_long{
      "topology exchange '{platform}': the name has {bytes} bytes; the limit key_bytes_max is "
      "{most}"};
  resource_exhausted too_many_devices{
      "topology exchange '{platform}': too many devices in one task; the limit "
      "topology_devices_max is {most}"};
  resource_exhausted too_many_platforms{
      "topology exchange '{platform}': too many platforms; the limit topology_platforms_max is "
      "{most}"};
  resource_exhausted topologies_are_too_large{
      "topology exchange '{platform}': with this topology it has {bytes} bytes; the limit "
      "frame_bytes_max is {most}"};
  resource_exhausted no_room_for_topology{
      "topology exchange '{platform}': no room for a topology of {bytes} bytes: {used} bytes are "
      "in use; the limit memory_bytes_max is {most}"};
  invalid_argument platform_is_malformed{
      "a platform needs a name in UTF-8 without NUL bytes to exchange topologies"};

  // Connections and sessions
  failed_precondition other_protocol{
      "the client speaks protocol version {theirs}, this coordinator version {ours}: run the same "
      "version of Coxswain on both sides"};
  unauthenticated token_is_missing{
      "this coordinator requires a token, and the client sent none: give --token-file FILE, or set "
      "COXSWAIN_TOKEN"};
  unauthenticated token_is_invalid{
      "the token is not valid for this coordinator: give one of its own with --token-file FILE, or "
      "in COXSWAIN_TOKEN"};
  permission_denied token_is_of_relay{
      "the token is that of a relay: use the job's token, or start coxswain relay"};
  permission_denied relay_needs_other_token{"a relay needs a token with the role relay or worker"};
  failed_precondition other_job{
      "the client wants job '{wanted}'; this coordinator serves job '{served}'"};
  failed_precondition job_is_not_named{
      "this client named no job, and the job here is '{served}': --job {name}"};
  failed_precondition client_of_older_attempt{
      "the client belongs to attempt {theirs}, this coordinator to attempt {ours}"};
  unavailable client_of_newer_attempt{
      "the client belongs to attempt {theirs}, this coordinator to attempt {ours}; an old "
      "coordinator is still running"};
  failed_precondition other_number_of_tasks{
      "the client expects {expected} tasks, but the job has {tasks}"};
  deadline_exceeded no_hello{"no Hello within {time}"};
  unavailable client_reads_nothing{"the client read nothing for {time} while replies were waiting"};
  unavailable is_about_to_stop{"the coordinator is stopping"};
  unavailable is_about_to_restart{"the coordinator is about to be restarted"};
  unavailable other_term{"this coordinator has term {term}, and another one has term {newer}"};
  invalid_argument protocol_error{"protocol error: {why}"};
  aborted coordinator_was_restarted{
      "session ended: the coordinator was restarted; its keys and barriers are gone"};
  aborted no_such_session{"session ended: this coordinator has no such session"};
  aborted resumed_on_newer_connection{"the session was resumed on a newer connection"};
  aborted resumed_by_another_connection{"the session was resumed by another connection"};
  unavailable no_heartbeat{"no heartbeat from {who} for {time} (timeout {timeout})"};
  unavailable client_was_destroyed_at{
      "the client of {who} was destroyed at {moment} without leaving; its process is still "
      "running"};
  unavailable not_resumed_after_restart{
      "the coordinator was restarted at {moment}, and {who} has not resumed its session within "
      "{time}"};
  unavailable relay_was_lost{
      "{relay} was lost at {moment}, and the session was not resumed within {time}"};
  unavailable connection_was_closed{
      "the connection of {who} was closed at {moment} and not resumed: its process has probably "
      "ended"};
  unavailable connection_was_lost{"the connection of {who} was lost at {moment} and not resumed"};
  unavailable process_ended_without_leaving{"the process of {who} ended without leaving"};
  unavailable client_was_destroyed{"the client of {who} was destroyed without leaving"};
  unavailable session_ended_without_leaving{
      "the client of {who} ended its session without leaving"};

  // Guests
  failed_precondition not_the_holder{
      "only the session that joined as {who} can let other programs act for it"};
  invalid_argument secret_has_other_size{
      "the secret of a grant must have {least} to {most} bytes, not {bytes}"};
  unauthenticated secret_is_invalid{
      "the client's secret does not let it act for {task}: it is wrong, or the command that it was "
      "made for has ended"};
  failed_precondition command_has_ended{"the command of {who} has ended"};
  aborted host_was_replaced{
      "{who} is held by another session, which replaced the one this program acts through"};
  failed_precondition host_has_left{
      "{who} has left the job, so its programs can no longer act for it"};
  unavailable session_of_host_ended{"the session of its task has ended: {why}"};
  aborted host_is_not_in_epoch{"its task is not in the new epoch"};
  failed_precondition acts_for_another{"this session acts for {own}, not for {named}"};
  invalid_argument guest_cannot_agree{
      "a program that acts for a task cannot agree on a step: the session of the task does"};

  // Joining
  invalid_argument join_names_no_task{"a Join must name its task"};
  failed_precondition job_assigns_numbers{
      "this job is elastic: it assigns the numbers of its tasks"};
  failed_precondition host_is_no_member{
      "{who} is no member any more: end this command, and start its task again"};
  aborted coordinator_is_ending{
      "all tasks have left, and this coordinator is ending with the process of {task}; join the "
      "next one"};
  invalid_argument take_over_needs_recoverable{
      "only a recoverable task may take over; {who} does not join as recoverable"};
  invalid_argument cannot_be_taken_over{
      "{who} did not join as a recoverable task, so it cannot be taken over"};
  cancelled joined_in_another_session{"this process has joined as {task} in another session"};
  aborted failed_before{"{failure}; to join again, reset it or restart its process"};
  already_exists newer_incarnation_joins{"another process ({label}) has joined as {task} since"};
  already_exists newer_member_joins{
      "another process ({label}) has asked to join as member '{member}' since"};
  cancelled member_superseded{"replaced by a newer request of the same member"};
  aborted replaced_by_incarnation{"{who} was replaced by a new incarnation"};
  aborted taken_over{"a new incarnation ({incarnation}) took over"};
  aborted joined_while_lost{"a new incarnation ({incarnation}) joined while {what} was lost"};
  unavailable lost_when_probed{
      "the connection of {who} was lost when another incarnation asked to join"};
  unavailable silent_when_probed{"no heartbeat from {who} when another incarnation asked to join"};
  aborted holder_is_alive{
      "{who} is alive in another incarnation, from {peer}; two processes have the same task id"};
  deadline_exceeded probe_timed_out{
      "{holder}, which was still being probed after {time}; join again"};
  cancelled join_was_cancelled{"its Join was cancelled"};
  deadline_exceeded no_number_in_time{"no number was assigned within {time}: {waiting}"};
  invalid_argument guest_cannot_enrol{"a guest acts for the task of its host: join as that task"};
  invalid_argument placement_is_too_large{
      "a placement has at most {parts} parts with {bytes} bytes together (label_bytes_max)"};
  resource_exhausted too_many_spares{
      "all tasks have a process, and the job has as many spares as it may have: {spares}"};
  cancelled job_is_over{"the job is over"};
  failed_precondition job_is_draining{
      "the job has been draining since {moment}, by {whom}: nobody may join any more. Start this "
      "process for the next job, when this one is over (coxswain status shows who is still in it)"};

  // Leaving, failures, resets
  invalid_argument elastic_task_cannot_return{
      "a task of an elastic job cannot leave to return: leave, and join again"};
  invalid_argument return_needs_recoverable{
      "{who} did not join as a recoverable task, so it cannot leave to return: join with "
      "recoverable set, or leave for good"};
  aborted has_just_left{"{who} has just left; join again"};
  deadline_exceeded did_not_return{
      "{who} left to return, but did not join again within the return timeout of {time}"};
  invalid_argument error_has_no_code{"an error cannot have code 0"};
  invalid_argument reset_names_no_task{"a Reset must name its task"};
  failed_precondition elastic_job_has_no_reset{"an elastic job has no reset: join again"};
  failed_precondition elastic_guest_has_no_reset{
      "an elastic job has no reset: end this command, and start its task again"};
  failed_precondition task_has_not_failed{"{who} has not failed: its state is \"{state}\""};
  aborted other_incarnation_failed{"another incarnation of {who} has failed; join without a reset"};
  cancelled process_has_ended{"the process of {who} has ended"};
  unavailable supervised_process_has_ended{"the process has ended"};
  not_found stack_is_not_wanted{
      "this client was not asked for the stack of {task}, or too long ago"};
  not_found process_has_not_joined{"the process of {task} has never joined"};

  // Epochs and preemptions
  failed_precondition not_elastic{"this job is not elastic"};
  deadline_exceeded no_epoch_in_time{"epoch {epoch} has not begun within {time}: {waiting}"};
  aborted not_in_epoch{"this session is no member of epoch {epoch}: join again"};
  aborted epoch_is_past{"epoch {epoch} is over: epoch {present} has begun; call next_epoch"};
  aborted epoch_is_over{"epoch {epoch} is over: {why}; call next_epoch"};
  aborted member_waits_for_epoch{"{who} waits for epoch {epoch}; call next_epoch"};
  invalid_argument no_such_epoch{"there is no epoch {asked} yet: this is epoch {present}"};
  failed_precondition no_epoch_has_begun{"no epoch has begun"};
  invalid_argument size_is_out_of_range{"this job may have {least} to {most} tasks, not {asked}"};
  aborted left_behind{"left behind: it did not call next_epoch within {time}"};
  cancelled left_for_spare{"{who} has left: a spare takes its place before it is preempted"};
  cancelled left_by_resize{"{who} has left: the job is resized to {tasks}"};
  unavailable too_few_tasks{
      "fewer than {least} tasks (min_tasks) for {time}: {connected} of the {tasks} of epoch "
      "{epoch} are left{losses}"};
  unavailable too_few_while_draining{
      "fewer than {least} tasks (min_tasks), and nobody may join while the job drains: {connected} "
      "of the {tasks} of epoch {epoch} are left{losses}"};
  resource_exhausted too_many_epochs{
      "the job has had {count} epochs, the limit epochs_max; the last one is over: {why}"};
  failed_precondition has_left_or_failed{"{who} has already left or failed"};
  failed_precondition agreement_has_ended{"agreement {number} on a step has ended"};
  out_of_range no_higher_step{
      "no agreement on a step before a preemption: a task has reached the highest step number"};
  deadline_exceeded no_agreement_in_time{
      "no agreement on a step before a preemption within {time}: {silent} of {tasks} tasks did not "
      "report their step: {missing}"};

  // Tasks and the job
  internal task_failed{"{who} failed: {why}"};
  internal task_has_left{"{who} has left"};
  internal task_returns{"{who} has left and is expected back"};
  failed_precondition task_has_finished{"{task} has finished"};
  internal task_never_joins{"{who} has not joined, and cannot while the job drains"};
  internal job_has_failed{"the job has failed: {why}"};
  aborted is_stopping{"the coordinator is stopping: {why}"};
  aborted job_was_stopped{"the job was stopped: {how}"};
  cancelled superseded{"replaced by a newer request of the same task"};
  cancelled no_longer_in_job{"{who} is no longer in the job"};
  invalid_argument not_yet{
      "{what} {asked} does not exist yet: this coordinator is at {present}; numbers from another "
      "coordinator are not valid here"};
};

inline constexpr reasons all_reasons;

template <errc Code>
[[nodiscard]] constexpr errc code_of(reason<Code> reasons::*) noexcept {
  return Code;
}

template <auto Why, class... Arguments>
[[nodiscard]] std::string text_of(Arguments const&... arguments) {
  constexpr std::string_view text = (all_reasons.*Why).text;
  static_assert(std::ranges::count(text, '{') == std::ptrdiff_t{sizeof...(Arguments)});
  return formatted(text, {argument{arguments}...});
}

// With another code than usually.
template <auto Why, class... Arguments>
[[nodiscard]] status fail_as(errc code, Arguments const&... arguments) {
  return {code, text_of<Why>(arguments...)};
}

template <auto Why, class... Arguments>
[[nodiscard]] status fail(Arguments const&... arguments) {
  return fail_as<Why>(code_of(Why), arguments...);
}

// Whether `text` gives a reason with this text, with any arguments, perhaps among others.
[[nodiscard]] bool gives(std::string_view text, std::string_view reason) noexcept;

template <errc Code>
[[nodiscard]] bool states(std::string_view text, reason<Code> reasons::*why) noexcept {
  return gives(text, (all_reasons.*why).text);
}
// The same, with the usual code.
template <errc Code>
[[nodiscard]] bool states(status const& outcome, reason<Code> reasons::*why) noexcept {
  return outcome.code() == Code && states(outcome.message(), why);
}

}  // namespace coxswain::core
