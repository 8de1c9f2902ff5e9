// Answers: answer <-> v1::ServerMessage.

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/codec_epochs.hpp"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/codec_keys.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

// The overloads of codec_fields.hpp and codec_keys.hpp, which those below would hide.
using wire::decode;
using wire::encode;

using answer_value = decltype(core::answer::value);

// A short period must not be rounded to zero.
std::uint64_t period_to_wire(duration period) {
  return period > duration::zero() ? std::max<std::uint64_t>(1, to_milliseconds(period)) : 0;
}

void encode(std::monostate, v1::ServerMessage&) {}

v1::HelloReply::Role encode(core::role from) {
  switch (from) {
    case core::role::reader: return v1::HelloReply::READER;
    case core::role::operator_: return v1::HelloReply::OPERATOR;
    case core::role::worker: return v1::HelloReply::WORKER;
    case core::role::relay: return v1::HelloReply::RELAY;
  }
  return v1::HelloReply::UNSTATED;
}

// A newer coordinator can state anything when it refuses.
core::role decode(v1::HelloReply::Role from) {
  if (from == v1::HelloReply::READER) return core::role::reader;
  if (from == v1::HelloReply::RELAY) return core::role::relay;
  return from == v1::HelloReply::OPERATOR ? core::role::operator_ : core::role::worker;
}

void encode(core::hello_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_hello();
  to.set_coordinator_incarnation(from.coordinator.value);
  to.set_version(text(from.version));
  to.set_session(from.session.value);
  to.set_secret(to_wire(from.secret));
  to.set_num_tasks(from.num_tasks);
  to.set_heartbeat_period_ms(period_to_wire(from.heartbeat_period));
  to.set_heartbeat_timeout_ms(period_to_wire(from.heartbeat_timeout));
  to.set_reconnect_grace_ms(period_to_wire(from.reconnect_grace));
  to.set_frame_bytes_max(from.frame_bytes_max);
  to.set_value_bytes_max(from.value_bytes_max);
  to.set_key_bytes_max(from.key_bytes_max);
  to.set_open_requests_max(from.open_requests_max);
  to.set_open_requests_max_per_task(from.open_requests_max_per_task);
  to.set_role(encode(from.given));
  to.set_coordinator_return_ms(period_to_wire(from.coordinator_return));
  to.set_restart_grace_ms(period_to_wire(from.restart_grace));
  if (from.hosted_by_task) to.set_hosted_by_task(*from.hosted_by_task);
  to.set_term(from.term);
  to.set_relayed(from.relayed);
  to.set_suspect_after_ms(period_to_wire(from.suspect_after));
}

result<answer_value> decode(v1::HelloReply& from) {
  auto const secret = secret_of(from.secret());
  if (!secret) return wrong_secret_size("A HelloReply", from.secret().size());
  core::hello_answer to;
  to.coordinator = incarnation{from.coordinator_incarnation()};
  to.version = std::move(*from.mutable_version());
  to.session = session_id{from.session()};
  to.secret = *secret;
  to.num_tasks = from.num_tasks();
  to.heartbeat_period = from_milliseconds(from.heartbeat_period_ms());
  to.heartbeat_timeout = from_milliseconds(from.heartbeat_timeout_ms());
  to.reconnect_grace = from_milliseconds(from.reconnect_grace_ms());
  to.frame_bytes_max = from.frame_bytes_max();
  to.value_bytes_max = from.value_bytes_max();
  to.key_bytes_max = from.key_bytes_max();
  to.open_requests_max = from.open_requests_max();
  to.open_requests_max_per_task = from.open_requests_max_per_task();
  to.given = decode(from.role());
  to.coordinator_return = from_milliseconds(from.coordinator_return_ms());
  to.restart_grace = from_milliseconds(from.restart_grace_ms());
  if (from.has_hosted_by_task()) to.hosted_by_task = from.hosted_by_task();
  to.term = from.term();
  to.relayed = from.relayed();
  to.suspect_after = from_milliseconds(from.suspect_after_ms());
  return answer_value{std::move(to)};
}

void encode(core::resume_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_resume();
  for (auto const id : from.unknown) to.add_unknown(id.value);
  to.set_term(from.term);
  to.set_suspect_after_ms(period_to_wire(from.suspect_after));
}

core::resume_answer decode(v1::ResumeReply& from) {
  core::resume_answer to;
  to.unknown.reserve(static_cast<std::size_t>(from.unknown_size()));
  for (auto const id : from.unknown()) to.unknown.push_back(request_id{id});
  to.term = from.term();
  to.suspect_after = from_milliseconds(from.suspect_after_ms());
  return to;
}

void encode(core::join_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_join();
  to.set_already_started(from.already_started);
  if (from.task) to.set_task(from.task->value);
  if (from.epoch) encode(*from.epoch, *to.mutable_epoch());
}

core::join_answer decode(v1::JoinReply& from) {
  core::join_answer to{from.already_started()};
  if (from.has_task()) to.task = task_id{from.task()};
  if (from.has_epoch()) to.epoch = decode(*from.mutable_epoch());
  return to;
}

void encode(core::barrier_answer const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_barrier();
  to.set_round(from.round.value);
  to.mutable_data()->Reserve(static_cast<int>(from.data.size()));
  for (auto const& data : from.data) to.add_data(data.view().data(), data.size());
}

core::barrier_answer decode(v1::BarrierReply& from) {
  core::barrier_answer to;
  to.round = round_number{from.round()};
  to.data.reserve(static_cast<std::size_t>(from.data_size()));
  for (auto& data : *from.mutable_data()) to.data.emplace_back(std::move(data));
  return to;
}

void encode(barrier_failure const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_barrier_failure());
}

void encode(job_error const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_job_error());
}

void encode(core::snapshot const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_job_status());
}

void encode(core::goodbye const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_goodbye();
  to.set_code(static_cast<std::uint32_t>(from.why.code()));
  to.set_reason(text(from.why.message()));
  to.set_may_resume(from.may_resume);
  to.set_restarted(from.restarted);
  to.set_address(text(from.address));
}

core::goodbye decode(v1::Goodbye& from) {
  return {status{errc_of(from.code()), std::move(*from.mutable_reason())}, from.may_resume(),
          from.restarted(), std::move(*from.mutable_address())};
}

void encode(core::barrier_progress const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_barrier_progress();
  to.set_request(from.request.value);
  to.set_round(from.round.value);
  to.set_arrived(from.arrived);
  to.set_expected(from.expected);
  to.set_missing(text(from.missing));
  to.set_missing_cut(from.missing_cut);
}

core::barrier_progress decode(v1::BarrierProgress& from) {
  core::barrier_progress to;
  to.request = request_id{from.request()};
  to.round = round_number{from.round()};
  to.arrived = from.arrived();
  to.expected = from.expected();
  to.missing = std::move(*from.mutable_missing());
  to.missing_cut = from.missing_cut();
  return to;
}

void encode(core::waiting const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_waiting();
  to.set_request(from.request.value);
  to.set_text(text(from.text));
}

core::waiting decode(v1::Waiting& from) {
  return {request_id{from.request()}, std::move(*from.mutable_text())};
}

void encode(core::probe, v1::ServerMessage& message) { message.mutable_probe(); }

core::probe decode(v1::Probe&) { return {}; }

void encode(core::freeze_request const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_freeze();
  to.set_agreement(from.agreement);
  to.set_in_ms(to_milliseconds(from.in));
}

core::freeze_request decode(v1::Freeze& from) {
  return {from.agreement(), from_milliseconds(from.in_ms())};
}

void encode(core::sync_point const& from, v1::ServerMessage& message) {
  auto& to = *message.mutable_sync_point();
  to.set_agreement(from.agreement);
  to.set_step(from.step);
}

core::sync_point decode(v1::SyncPoint& from) { return {from.agreement(), from.step()}; }
void encode(core::alive_answer const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_alive_tasks());
}

void encode(core::tasks_answer const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_tasks());
}

void encode(core::events_answer const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_events());
}

void encode(core::global_topology const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_global_topology());
}

void encode(core::why_answer const& from, v1::ServerMessage& message) {
  encode(from, *message.mutable_why());
}

result<answer_value> decode_body(v1::ServerMessage& from) {
  switch (from.body_case()) {
    case v1::ServerMessage::BODY_NOT_SET: break;
    case v1::ServerMessage::kHello: return decode(*from.mutable_hello());
    case v1::ServerMessage::kResume: return decode(*from.mutable_resume());
    case v1::ServerMessage::kJoin: return decode(*from.mutable_join());
    case v1::ServerMessage::kBarrier: return decode(*from.mutable_barrier());
    case v1::ServerMessage::kBarrierFailure: return decode(*from.mutable_barrier_failure());
    case v1::ServerMessage::kValue: return decode(*from.mutable_value());
    case v1::ServerMessage::kCounter: return decode(*from.mutable_counter());
    case v1::ServerMessage::kRemoved: return decode(*from.mutable_removed());
    case v1::ServerMessage::kListing: return decode(*from.mutable_listing());
    case v1::ServerMessage::kJobStatus: return decode(*from.mutable_job_status());
    case v1::ServerMessage::kGoodbye: return decode(*from.mutable_goodbye());
    case v1::ServerMessage::kJobError: return decode(*from.mutable_job_error());
    case v1::ServerMessage::kBarrierProgress: return decode(*from.mutable_barrier_progress());
    case v1::ServerMessage::kWaiting: return decode(*from.mutable_waiting());
    case v1::ServerMessage::kProbe: return decode(*from.mutable_probe());
    case v1::ServerMessage::kFreeze: return decode(*from.mutable_freeze());
    case v1::ServerMessage::kSyncPoint: return decode(*from.mutable_sync_point());
    case v1::ServerMessage::kKeyChanges: return decode(*from.mutable_key_changes());
    case v1::ServerMessage::kCount: return decode(*from.mutable_count());
    case v1::ServerMessage::kStored: return decode(*from.mutable_stored());
    case v1::ServerMessage::kAliveTasks: return decode(*from.mutable_alive_tasks());
    case v1::ServerMessage::kTasks: return decode(*from.mutable_tasks());
    case v1::ServerMessage::kEvents: return decode(*from.mutable_events());
    case v1::ServerMessage::kWhy: return decode(*from.mutable_why());
    case v1::ServerMessage::kGlobalTopology: return decode(*from.mutable_global_topology());
    case v1::ServerMessage::kEpoch: return decode(*from.mutable_epoch());
    case v1::ServerMessage::kEpochMembers: return decode(*from.mutable_epoch_members());
    case v1::ServerMessage::kEpochEnds: return decode(*from.mutable_epoch_ends());
  }
  return answer_value{};
}

// The most frequent answers, without a Protobuf message in between. The bytes are the same.

// The beginning of a body: these fields of its message, whose last one continues.
void append_body(std::string& out, int number, std::string_view fields,
                 std::size_t bytes_to_come = 0) {
  std::array<char, number_field_bytes_max> room;
  field_writer prefix{room.data()};
  prefix.put_head(number, fields.size() + bytes_to_come);
  out.append(prefix.written()).append(fields);
}

void append_content(std::string& out, int field, std::string_view content) {
  if (content.empty()) return;
  std::array<char, number_field_bytes_max> room;
  field_writer head{room.data()};
  head.put_head(field, content.size());
  out.append(head.written()).append(content);
}

void append_quickly(std::string& head, bytes&, core::hello_answer const& from) {
  using field = v1::HelloReply;
  std::array<char, 2 * number_field_bytes_max> before_version;
  field_writer first{before_version.data()};
  first.put_fixed64(field::kCoordinatorIncarnationFieldNumber, from.coordinator.value);
  std::array<char, 19 * number_field_bytes_max + sizeof(core::session_secret)> after_version;
  field_writer rest{after_version.data()};
  rest.put_fixed64(field::kSessionFieldNumber, from.session.value);
  rest.put_head(field::kSecretFieldNumber, from.secret.size());
  rest.put({reinterpret_cast<char const*>(from.secret.data()), from.secret.size()});
  rest.put_number(field::kNumTasksFieldNumber, from.num_tasks);
  rest.put_number(field::kHeartbeatPeriodMsFieldNumber, period_to_wire(from.heartbeat_period));
  rest.put_number(field::kHeartbeatTimeoutMsFieldNumber, period_to_wire(from.heartbeat_timeout));
  rest.put_number(field::kReconnectGraceMsFieldNumber, period_to_wire(from.reconnect_grace));
  rest.put_number(field::kFrameBytesMaxFieldNumber, from.frame_bytes_max);
  rest.put_number(field::kValueBytesMaxFieldNumber, from.value_bytes_max);
  rest.put_number(field::kKeyBytesMaxFieldNumber, from.key_bytes_max);
  rest.put_number(field::kOpenRequestsMaxFieldNumber, from.open_requests_max);
  rest.put_number(field::kOpenRequestsMaxPerTaskFieldNumber, from.open_requests_max_per_task);
  rest.put_number(field::kRoleFieldNumber, static_cast<std::uint64_t>(encode(from.given)));
  rest.put_number(field::kCoordinatorReturnMsFieldNumber, period_to_wire(from.coordinator_return));
  if (from.hosted_by_task) {
    rest.put_present_number(field::kHostedByTaskFieldNumber, *from.hosted_by_task);
  }
  rest.put_number(field::kRestartGraceMsFieldNumber, period_to_wire(from.restart_grace));
  rest.put_number(field::kTermFieldNumber, from.term);
  rest.put_number(field::kRelayedFieldNumber, from.relayed ? 1 : 0);
  rest.put_number(field::kSuspectAfterMsFieldNumber, period_to_wire(from.suspect_after));
  auto const version = text(from.version);
  append_body(head, v1::ServerMessage::kHelloFieldNumber, first.written(),
              content_field_bytes(version.size()) + rest.written().size());
  append_content(head, field::kVersionFieldNumber, version);
  head.append(rest.written());
}

// Only the part before the value.
void append_head(std::string& out, core::value_answer const& from) {
  std::array<char, 3 * number_field_bytes_max> room;
  field_writer fields{room.data()};
  fields.put_number(v1::Value::kVersionFieldNumber, from.version);
  if (from.redeliveries) {
    fields.put_present_number(v1::Value::kRedeliveriesFieldNumber, *from.redeliveries);
  }
  auto const bytes = from.value.size();
  if (bytes != 0) fields.put_head(v1::Value::kValueFieldNumber, bytes);
  append_body(out, v1::ServerMessage::kValueFieldNumber, fields.written(), bytes);
}

void append_quickly(std::string& head, bytes& tail, core::value_answer const& from) {
  append_head(head, from);
  if (from.value.size() >= large_value_bytes) {
    tail = from.value;
  } else {
    head.append(from.value.view());
  }
}

void append_quickly(std::string& head, bytes&, core::counter_answer const& from) {
  std::array<char, 2 * number_field_bytes_max> room;
  field_writer fields{room.data()};
  fields.put_signed(v1::Counter::kValueFieldNumber, from.value);
  fields.put_number(v1::Counter::kVersionFieldNumber, from.version);
  append_body(head, v1::ServerMessage::kCounterFieldNumber, fields.written());
}

void append_quickly(std::string& head, bytes&, core::stored_answer const& from) {
  std::array<char, 2 * number_field_bytes_max> room;
  field_writer fields{room.data()};
  fields.put_number(v1::Stored::kVersionFieldNumber, from.version);
  fields.put_number(v1::Stored::kIsVolatileFieldNumber, from.is_volatile ? 1 : 0);
  append_body(head, v1::ServerMessage::kStoredFieldNumber, fields.written());
}

std::size_t bytes_of(core::listing_answer::entry const& one) {
  return content_field_bytes(one.key.size()) + number_field_bytes(one.version) +
         content_field_bytes(one.value.size());
}

void append_number(std::string& out, int field, std::uint64_t value) {
  std::array<char, number_field_bytes_max> room;
  field_writer whole{room.data()};
  whole.put_number(field, value);
  out.append(whole.written());
}

void append_quickly(std::string& head, bytes&, core::listing_answer const& from) {
  using entry = v1::Listing::Entry;
  std::uint64_t const more = from.more ? 1 : 0;
  std::size_t listing_bytes = number_field_bytes(from.version) + number_field_bytes(more);
  for (auto const& one : from.entries) {
    auto const entry_bytes = bytes_of(one);
    listing_bytes += 1 + varint_bytes(entry_bytes) + entry_bytes;
  }
  head.reserve(head.size() + number_field_bytes_max + listing_bytes);
  append_body(head, v1::ServerMessage::kListingFieldNumber, {}, listing_bytes);
  for (auto const& one : from.entries) {
    std::array<char, number_field_bytes_max> room;
    field_writer begin{room.data()};
    begin.put_head(v1::Listing::kEntriesFieldNumber, bytes_of(one));
    head.append(begin.written());
    append_content(head, entry::kKeyFieldNumber, one.key);
    append_number(head, entry::kVersionFieldNumber, one.version);
    append_content(head, entry::kValueFieldNumber, one.value.view());
  }
  append_number(head, v1::Listing::kVersionFieldNumber, from.version);
  append_number(head, v1::Listing::kMoreFieldNumber, more);
}

void append_quickly(std::string&, bytes&, std::monostate) {}

void append_with_protobuf(std::string& head, bytes& tail, core::answer const& answer) {
  scratch memory;
  auto& message = memory.make<v1::ServerMessage>();
  if (!answer.outcome.ok()) encode(answer.outcome, *message.mutable_status());
  auto const* value = std::get_if<core::value_answer>(&answer.value);
  bool const is_large = value && value->value.size() >= large_value_bytes;
  if (!is_large) std::visit([&](auto const& what) { encode(what, message); }, answer.value);
  append_message(head, message);
  if (is_large) append_quickly(head, tail, *value);
}

}  // namespace

encoded_answer encode(core::answer const& answer) {
  encoded_answer encoded;
  encode(answer, encoded.head, encoded.tail);
  return encoded;
}

void encode(core::answer const& answer, std::string& head, bytes& tail) {
  if (!answer.outcome.ok()) return append_with_protobuf(head, tail, answer);
  std::visit(
      [&](auto const& what) {
        if constexpr (requires { append_quickly(head, tail, what); }) {
          append_quickly(head, tail, what);
        } else {
          append_with_protobuf(head, tail, answer);
        }
      },
      answer.value);
}

void append_server_head(std::string& out, request_id id, std::size_t body_bytes) {
  std::array<char, length_bytes + number_field_bytes_max> room;
  field_writer field{room.data() + length_bytes};
  field.put_number(v1::ServerMessage::kIdFieldNumber, id.value);
  auto const field_bytes = field.written().size();
  auto const length = length_prefix(field_bytes + body_bytes);
  std::copy(length.begin(), length.end(), room.begin());
  out.append(room.data(), length_bytes + field_bytes);
}

result<server_message> decode_server(std::string_view payload) {
  scratch memory;
  auto& from = memory.make<v1::ServerMessage>();
  if (!parse(payload, from)) {
    return status{errc::invalid_argument, "A frame of " + std::to_string(payload.size()) +
                                              " bytes is not a valid ServerMessage."};
  }
  auto body = decode_body(from);
  if (!body) return std::move(body).error();
  server_message to;
  to.id = request_id{from.id()};
  if (from.has_status()) to.what.outcome = decode(*from.mutable_status());
  to.what.value = *std::move(body);
  return to;
}

}  // namespace coxswain::wire
