// Requests: client_message <-> v1::ClientMessage.

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/codec_epochs.hpp"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/codec_keys.hpp"
#include "coxswain/wire/codec_quick.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/frame.hpp"

#include <array>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

// The overloads of codec_fields.hpp and codec_keys.hpp, which those below would hide.
using wire::decode;
using wire::encode;

void encode(std::monostate, v1::ClientMessage&) {}

void encode(core::hello_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_hello();
  to.set_protocol_version(from.version);
  to.set_job(text(from.job));
  if (from.attempt) to.set_attempt(*from.attempt);
  to.set_token(text(from.token));
  to.set_label(text(from.label));
  to.set_relay(from.relay);
  if (from.num_tasks) to.set_num_tasks(*from.num_tasks);
  if (from.supervises) to.set_supervises(from.supervises->value);
  if (!from.acts_for) return;
  to.mutable_acts_for()->set_task(from.acts_for->task.value);
  to.mutable_acts_for()->set_secret(from.acts_for->secret);
}

core::hello_args decode(v1::Hello& from) {
  core::hello_args to;
  to.version = from.protocol_version();
  to.job = std::move(*from.mutable_job());
  if (from.has_attempt()) to.attempt = from.attempt();
  to.token = std::move(*from.mutable_token());
  to.label = std::move(*from.mutable_label());
  to.relay = from.relay();
  if (from.has_num_tasks()) to.num_tasks = from.num_tasks();
  if (from.has_supervises()) to.supervises = task_id{from.supervises()};
  if (!from.has_acts_for()) return to;
  auto& host = *from.mutable_acts_for();
  to.acts_for = {task_id{host.task()}, std::move(*host.mutable_secret())};
  return to;
}

void encode(core::resume_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_resume();
  to.set_session(from.session.value);
  to.set_secret(to_wire(from.secret));
  to.set_coordinator_incarnation(from.coordinator.value);
  std::uint64_t last = 0;
  for (auto const id : from.open) to.add_open(id.value - std::exchange(last, id.value));
  to.set_term_seen(from.term_seen);
  to.set_resume_count(from.resume_count);
}

core::resume_args decode(v1::Resume& from) {
  core::resume_args to;
  to.session = session_id{from.session()};
  to.secret = secret_of(from.secret()).value_or(core::session_secret{});
  to.coordinator = incarnation{from.coordinator_incarnation()};
  to.open.reserve(static_cast<std::size_t>(from.open_size()));
  std::uint64_t last = 0;
  for (auto const distance : from.open()) to.open.push_back(request_id{last += distance});
  to.term_seen = from.term_seen();
  to.resume_count = from.resume_count();
  return to;
}

void encode(core::bye_args const& from, v1::ClientMessage& message) {
  message.mutable_bye()->set_abandoned(from.abandoned);
}

core::bye_args decode(v1::Bye& from) { return {from.abandoned()}; }

void encode(core::cancel_args const& from, v1::ClientMessage& message) {
  message.mutable_cancel()->set_request(from.request.value);
}

core::cancel_args decode(v1::Cancel& from) { return {request_id{from.request()}}; }

void encode(core::ask_waiting_args const& from, v1::ClientMessage& message) {
  message.mutable_ask_waiting()->set_request(from.request.value);
}

core::ask_waiting_args decode(v1::AskWaiting& from) { return {request_id{from.request()}}; }

void encode(core::reset_args const& from, v1::ClientMessage& message) {
  message.mutable_reset()->set_incarnation(from.self.value);
}

core::reset_args decode(v1::Reset& from) { return {incarnation{from.incarnation()}}; }

void encode(core::leave_args const& from, v1::ClientMessage& message) {
  v1::Leave& to = *message.mutable_leave();
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  to.set_returning(from.returning);
}

core::leave_args decode(v1::Leave& from) { return {timeout_of(from), from.returning()}; }

void encode(core::report_error_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_report_error();
  to.set_code(static_cast<std::uint32_t>(from.what.code()));
  to.set_message(text(from.what.message()));
}

core::report_error_args decode(v1::ReportError& from) {
  return {status{errc_of(from.code()), std::move(*from.mutable_message())}};
}

// Rounded up, since zero would mean no progress at all.
std::uint32_t progress_period_to_wire(duration period) {
  constexpr std::int64_t period_max = std::numeric_limits<std::uint32_t>::max();
  auto const milliseconds = std::chrono::ceil<std::chrono::milliseconds>(period).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(milliseconds, 0, period_max));
}

// The enumerations are the same on both sides, by number.
static_assert(static_cast<int>(core::reduction::none) == v1::Barrier::NONE);
static_assert(static_cast<int>(core::reduction::sum_int64) == v1::Barrier::SUM_INT64);
static_assert(static_cast<int>(core::reduction::min_int64) == v1::Barrier::MIN_INT64);
static_assert(static_cast<int>(core::reduction::max_int64) == v1::Barrier::MAX_INT64);
static_assert(static_cast<int>(core::reduction::sum_double) == v1::Barrier::SUM_DOUBLE);
static_assert(static_cast<int>(core::reduction::min_double) == v1::Barrier::MIN_DOUBLE);
static_assert(static_cast<int>(core::reduction::max_double) == v1::Barrier::MAX_DOUBLE);
static_assert(static_cast<int>(core::reduction::bit_and) == v1::Barrier::AND);
static_assert(static_cast<int>(core::reduction::bit_or) == v1::Barrier::OR);
static_assert(static_cast<int>(core::reduction::all_equal) == v1::Barrier::ALL_EQUAL);

core::reduction decode(v1::Barrier::Reduction from) {
  return v1::Barrier::Reduction_IsValid(from) ? static_cast<core::reduction>(from)
                                              : core::reduction::unknown;
}

void encode(core::barrier_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_barrier();
  to.set_name(from.name);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  for (auto const task : from.participants) to.add_participants(task.value);
  to.set_gather(from.gather);
  to.set_data(from.data);
  to.set_progress_every_ms(progress_period_to_wire(from.progress_every));
  to.set_reduction(static_cast<v1::Barrier::Reduction>(from.reduce));
  to.set_fail_when_lost(from.fail_when_lost);
  to.set_of_jax_tasks(from.of_jax_tasks);
}

core::barrier_args decode(v1::Barrier& from) {
  core::barrier_args to;
  to.name = std::move(*from.mutable_name());
  to.timeout = timeout_of(from);
  to.participants.reserve(static_cast<std::size_t>(from.participants_size()));
  for (auto const task : from.participants()) to.participants.push_back(task_id{task});
  to.gather = from.gather();
  if (!from.data().empty()) to.data = std::move(*from.mutable_data());
  to.progress_every = std::chrono::milliseconds{from.progress_every_ms()};
  to.reduce = decode(from.reduction());
  to.fail_when_lost = from.fail_when_lost();
  to.of_jax_tasks = from.of_jax_tasks();
  return to;
}

void encode(core::cancel_barrier_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_cancel_barrier();
  to.set_name(from.name);
  if (from.round) to.set_round(from.round->value);
}

core::cancel_barrier_args decode(v1::CancelBarrier& from) {
  core::cancel_barrier_args to;
  to.name = std::move(*from.mutable_name());
  if (from.has_round()) to.round = round_number{from.round()};
  return to;
}

void encode(core::count_barrier_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_count_barrier();
  to.set_name(from.name);
  to.set_count(from.count);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::count_barrier_args decode(v1::CountBarrier& from) {
  return {std::move(*from.mutable_name()), from.count(), timeout_of(from)};
}

void encode(core::inspect_args from, v1::ClientMessage& message) {
  message.mutable_inspect()->set_first_task(from.first_task.value);
}

core::inspect_args decode(v1::Inspect& from) { return {task_id{from.first_task()}}; }

void encode(core::preempt_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_preempt();
  to.set_task(from.task.value);
  to.set_in_ms(to_milliseconds(from.in));
}

core::preempt_args decode(v1::Preempt& from) {
  return {task_id{from.task()}, from_milliseconds(from.in_ms())};
}

void encode(core::frozen_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_frozen();
  to.set_agreement(from.agreement);
  to.set_step(from.step);
  to.set_abstains(from.abstains);
}

core::frozen_args decode(v1::Frozen& from) {
  return {from.agreement(), from.step(), from.abstains()};
}

void encode(core::alive_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_alive_tasks();
  for (auto const task : from.tasks) to.add_tasks(task.value);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::alive_args decode(v1::AliveTasks& from) {
  core::alive_args to;
  to.tasks.reserve(static_cast<std::size_t>(from.tasks_size()));
  for (auto const task : from.tasks()) to.tasks.push_back(task_id{task});
  to.timeout = timeout_of(from);
  return to;
}

void encode(core::watch_tasks_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_watch_tasks();
  if (from.after) to.set_after_version(*from.after);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::watch_tasks_args decode(v1::WatchTasks& from) {
  core::watch_tasks_args to;
  if (from.has_after_version()) to.after = from.after_version();
  to.timeout = timeout_of(from, without_limit);
  return to;
}

void encode(core::watch_events_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_watch_events();
  if (from.after) to.set_after(*from.after);
  to.set_severity(encode(from.at_least));
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  to.set_last(from.last);
}

core::watch_events_args decode(v1::WatchEvents& from) {
  core::watch_events_args to;
  if (from.has_after()) to.after = from.after();
  to.at_least = decode(from.severity());
  to.timeout = timeout_of(from, without_limit);
  to.last = from.last();
  return to;
}

void encode(core::exchange_topology_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_exchange_topology();
  to.set_platform(from.platform);
  encode(from.mine, *to.mutable_mine());
  to.set_timeout_ms(timeout_to_wire(from.timeout));
}

core::exchange_topology_args decode(v1::ExchangeTopology& from) {
  return {std::move(*from.mutable_platform()), decode(*from.mutable_mine()), timeout_of(from)};
}

void encode(core::report_progress_args from, v1::ClientMessage& message) {
  message.mutable_report_progress()->set_step(from.step);
}

core::report_progress_args decode(v1::ReportProgress& from) { return {from.step()}; }

void encode(core::grant_args const& from, v1::ClientMessage& message) {
  message.mutable_grant()->set_secret(from.secret);
}

core::grant_args decode(v1::Grant& from) { return {std::move(*from.mutable_secret())}; }

void encode(core::why_args, v1::ClientMessage& message) { message.mutable_why(); }

core::why_args decode(v1::Why&) { return {}; }

// What is wrong with a message that Protobuf accepts.
status check(v1::ClientMessage const& message, bool is_known) {
  if (message.has_resume() && !secret_of(message.resume().secret())) {
    return wrong_secret_size("A Resume", message.resume().secret().size());
  }
  if (is_known || message.id() == 0) return {};  // without an id it is a heartbeat
  return {errc::invalid_argument,
          "Request " + std::to_string(message.id()) +
              " is of a kind that this version does not know. Is the client newer?"};
}

// A kind of request in the oneof, which becomes one of ours.
template <v1::ClientMessage::RequestCase number, auto field>
struct kind {
  using args = decltype(decode(*(std::declval<v1::ClientMessage&>().*field)()));

  static bool decode_into(core::request& to, v1::ClientMessage& from) {
    if (from.request_case() != number) return false;
    to = decode(*(from.*field)());
    return true;
  }
};

template <class... Kinds>
struct kinds {
  static bool decode_into(core::request& to, v1::ClientMessage& from) {
    return (Kinds::decode_into(to, from) || ...);
  }

  template <class... Args>
  static constexpr bool are_all(std::type_identity<std::variant<std::monostate, Args...>>) {
    return (is_one<Args> && ...);
  }

 private:
  template <class Args>
  static constexpr bool is_one = (std::is_same_v<typename Kinds::args, Args> + ...) == 1;
};

using all_kinds =
    kinds<kind<v1::ClientMessage::kHello, &v1::ClientMessage::mutable_hello>,
          kind<v1::ClientMessage::kResume, &v1::ClientMessage::mutable_resume>,
          kind<v1::ClientMessage::kBye, &v1::ClientMessage::mutable_bye>,
          kind<v1::ClientMessage::kAskWaiting, &v1::ClientMessage::mutable_ask_waiting>,
          kind<v1::ClientMessage::kCancel, &v1::ClientMessage::mutable_cancel>,
          kind<v1::ClientMessage::kJoin, &v1::ClientMessage::mutable_join>,
          kind<v1::ClientMessage::kLeave, &v1::ClientMessage::mutable_leave>,
          kind<v1::ClientMessage::kReportError, &v1::ClientMessage::mutable_report_error>,
          kind<v1::ClientMessage::kBarrier, &v1::ClientMessage::mutable_barrier>,
          kind<v1::ClientMessage::kPut, &v1::ClientMessage::mutable_put>,
          kind<v1::ClientMessage::kGet, &v1::ClientMessage::mutable_get>,
          kind<v1::ClientMessage::kTryGet, &v1::ClientMessage::mutable_try_get>,
          kind<v1::ClientMessage::kIncrement, &v1::ClientMessage::mutable_increment>,
          kind<v1::ClientMessage::kRemove, &v1::ClientMessage::mutable_remove>,
          kind<v1::ClientMessage::kRemoveTree, &v1::ClientMessage::mutable_remove_tree>,
          kind<v1::ClientMessage::kList, &v1::ClientMessage::mutable_list>,
          kind<v1::ClientMessage::kCancelBarrier, &v1::ClientMessage::mutable_cancel_barrier>,
          kind<v1::ClientMessage::kCountBarrier, &v1::ClientMessage::mutable_count_barrier>,
          kind<v1::ClientMessage::kInspect, &v1::ClientMessage::mutable_inspect>,
          kind<v1::ClientMessage::kPreempt, &v1::ClientMessage::mutable_preempt>,
          kind<v1::ClientMessage::kFrozen, &v1::ClientMessage::mutable_frozen>,
          kind<v1::ClientMessage::kReset, &v1::ClientMessage::mutable_reset>,
          kind<v1::ClientMessage::kCompareAndSet, &v1::ClientMessage::mutable_compare_and_set>,
          kind<v1::ClientMessage::kAppend, &v1::ClientMessage::mutable_append>,
          kind<v1::ClientMessage::kGetAll, &v1::ClientMessage::mutable_get_all>,
          kind<v1::ClientMessage::kPutAll, &v1::ClientMessage::mutable_put_all>,
          kind<v1::ClientMessage::kCountKeys, &v1::ClientMessage::mutable_count_keys>,
          kind<v1::ClientMessage::kPush, &v1::ClientMessage::mutable_push>,
          kind<v1::ClientMessage::kPop, &v1::ClientMessage::mutable_pop>,
          kind<v1::ClientMessage::kWatchKeys, &v1::ClientMessage::mutable_watch_keys>,
          kind<v1::ClientMessage::kAliveTasks, &v1::ClientMessage::mutable_alive_tasks>,
          kind<v1::ClientMessage::kWatchTasks, &v1::ClientMessage::mutable_watch_tasks>,
          kind<v1::ClientMessage::kWatchEvents, &v1::ClientMessage::mutable_watch_events>,
          kind<v1::ClientMessage::kExchangeTopology, &v1::ClientMessage::mutable_exchange_topology>,
          kind<v1::ClientMessage::kReportProgress, &v1::ClientMessage::mutable_report_progress>,
          kind<v1::ClientMessage::kWhy, &v1::ClientMessage::mutable_why>,
          kind<v1::ClientMessage::kLock, &v1::ClientMessage::mutable_lock>,
          kind<v1::ClientMessage::kTryLock, &v1::ClientMessage::mutable_try_lock>,
          kind<v1::ClientMessage::kUnlock, &v1::ClientMessage::mutable_unlock>,
          kind<v1::ClientMessage::kGrant, &v1::ClientMessage::mutable_grant>,
          kind<v1::ClientMessage::kNextEpoch, &v1::ClientMessage::mutable_next_epoch>,
          kind<v1::ClientMessage::kEpochMembers, &v1::ClientMessage::mutable_epoch_members>,
          kind<v1::ClientMessage::kResize, &v1::ClientMessage::mutable_resize>,
          kind<v1::ClientMessage::kTake, &v1::ClientMessage::mutable_take>,
          kind<v1::ClientMessage::kUpdateLease, &v1::ClientMessage::mutable_update_lease>>;

// A request that no kind becomes does not compile, nor one that two become.
static_assert(all_kinds::are_all(std::type_identity<core::request>{}));

void encode_head(core::client_message const& from, v1::ClientMessage& to) {
  to.set_id(from.id.value);
  to.set_answered_through(from.answered_through);
  if (from.task) to.set_task(from.task->value);
  to.set_epoch(from.epoch);
}

// A Put whose value goes straight into the frame: in Protobuf's own way it would be there twice.
void append_large_put(std::string& out, core::put_args const& put, v1::ClientMessage& message) {
  v1::Put small;
  small.set_key(put.key);
  small.set_overwrite(put.overwrite);
  small.set_ephemeral(put.ephemeral);
  small.set_replaces_predecessor(put.replaces_predecessor);
  std::string inner;
  append_message(inner, small);
  append_field_head(inner, v1::Put::kValueFieldNumber, put.value.size());

  std::string head;
  append_message(head, message);
  append_field_head(head, v1::ClientMessage::kPutFieldNumber, inner.size() + put.value.size());
  head += inner;

  out.reserve(out.size() + length_bytes + head.size() + put.value.size());
  append_length(out, head.size() + put.value.size());
  out += head;
  out += put.value;
}

// Also those of the messages in it that are fields with the first of these numbers, of the messages
// in these that have the second, and so on.
bool lengths_are_true_along(std::string_view message, std::span<int const> path) {
  if (!lengths_are_true(message)) return false;
  while (auto const one = path.empty() ? std::nullopt : take_field(message)) {
    bool const is_on_it = one->number == static_cast<std::uint64_t>(path.front());
    if (is_on_it && !lengths_are_true_along(one->content, path.subspan(1))) return false;
  }
  return true;
}

// For requests with nested messages; `parse` checks the request's own.
bool deep_lengths_are_true(std::string_view payload) {
  static constexpr std::array<int, 2> to_devices{v1::ExchangeTopology::kMineFieldNumber,
                                                 v1::LocalTopology::kDevicesFieldNumber};
  while (auto const request = take_field(payload)) {
    bool is_true = true;
    if (request->number == v1::ClientMessage::kPutAllFieldNumber) {
      is_true = lengths_are_true(request->content);
    } else if (request->number == v1::ClientMessage::kExchangeTopologyFieldNumber) {
      is_true = lengths_are_true_along(request->content, to_devices);
    }
    if (!is_true) return false;
  }
  return true;
}

result<core::client_message> decode_large(std::string_view payload) {
  if (auto const bytes = bytes_beside_values(payload); bytes > request_bytes_max) {
    return status{errc::invalid_argument,
                  "A request has " + std::to_string(bytes) +
                      " bytes beside its value; the limit request_bytes_max is " +
                      std::to_string(request_bytes_max) + "."};
  }
  return decode_with_protobuf(payload);
}

}  // namespace

void append_frame(std::string& out, core::client_message const& message) {
  if (append_frame_quickly(out, message)) return;
  scratch memory;
  auto& to = memory.make<v1::ClientMessage>();
  encode_head(message, to);
  auto const* put = std::get_if<core::put_args>(&message.what);
  if (put && put->value.size() >= large_value_bytes) {
    append_large_put(out, *put, to);
    return;
  }
  std::visit([&to](auto const& what) { encode(what, to); }, message.what);
  append_length(out, to.ByteSizeLong());
  append_message(out, to);
}

result<core::client_message> decode_with_protobuf(std::string_view payload) {
  scratch memory;
  auto& from = memory.make<v1::ClientMessage>();
  if (!deep_lengths_are_true(payload) || !parse(payload, from)) {
    return status{errc::invalid_argument, "A frame of " + std::to_string(payload.size()) +
                                              " bytes is not a valid ClientMessage."};
  }
  core::client_message to;
  bool const is_known = all_kinds::decode_into(to.what, from);
  if (status wrong = check(from, is_known); !wrong.ok()) return wrong;
  to.id = request_id{from.id()};
  to.answered_through = from.answered_through();
  if (from.has_task()) to.task = task_id{from.task()};
  to.epoch = from.epoch();
  return to;
}

status decode_client(std::string_view payload, core::client_message& to, decoded_payload& from) {
  bool const is_large = payload.size() > request_bytes_max;
  from.whole = payload;
  from.value = {};
  from.is_plain = !is_large && decode_quickly(payload, to, from.value);
  if (from.is_plain) return {};
  from.value = {};
  auto decoded = is_large ? decode_large(payload) : decode_with_protobuf(payload);
  if (!decoded) return std::move(decoded).error();
  to = *std::move(decoded);
  return {};
}

}  // namespace coxswain::wire
