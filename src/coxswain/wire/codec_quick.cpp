// Frequent requests, without a Protobuf message in between. The result for an accepted payload is
// exactly that of Protobuf's parser; in doubt, a function returns false.

#include "coxswain/wire/codec_quick.hpp"

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/field_reader.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::wire {
namespace {

// How each type of field is taken. If a field comes again, the last one counts; a text that hides
// another one is not understood.

template <int Number>
struct text_field {
  static constexpr auto tag = tag_of(Number, wire_type::content);
  std::string& to;
  void take(field_reader& from) const {
    if (!to.empty()) from.fail();
    to = from.take_content();
  }
};

// The same for a value, whose position in the message is noted.
template <int Number>
struct value_field {
  static constexpr auto tag = tag_of(Number, wire_type::content);
  std::string& to;
  std::string_view& at;
  void take(field_reader& from) const {
    if (!to.empty()) from.fail();
    at = from.take_content();
    to = at;
  }
};

// A text that must be UTF-8: only ASCII is understood.
template <int Number>
struct ascii_field {
  static constexpr auto tag = tag_of(Number, wire_type::content);
  std::string& to;
  void take(field_reader& from) const {
    text_field<Number>{to}.take(from);
    auto const is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    if (!std::all_of(to.begin(), to.end(), is_ascii)) from.fail();
  }
};

// Of a list, each text is a field of its own.
template <int Number>
struct texts_field {
  static constexpr auto tag = tag_of(Number, wire_type::content);
  std::vector<std::string>& to;
  void take(field_reader& from) const { to.emplace_back(from.take_content()); }
};

template <int Number>
struct flag_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  bool& to;
  void take(field_reader& from) const { to = from.take_flag(); }
};

template <int Number>
struct optional_flag_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::optional<bool>& to;
  void take(field_reader& from) const { to = from.take_flag(); }
};

template <int Number>
struct number_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::uint64_t& to;
  void take(field_reader& from) const { to = from.take_number(); }
};

template <int Number>
struct optional_number_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::optional<std::uint64_t>& to;
  void take(field_reader& from) const { to = from.take_number(); }
};

template <int Number>
struct number32_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::uint32_t& to;
  void take(field_reader& from) const { to = from.take_number32(); }
};

template <int Number>
struct optional_number32_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::optional<std::uint32_t>& to;
  void take(field_reader& from) const { to = from.take_number32(); }
};

template <int Number>
struct signed_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  std::int64_t& to;
  void take(field_reader& from) const { to = from.take_signed(); }
};

template <int Number>
struct incarnation_field {
  static constexpr auto tag = tag_of(Number, wire_type::fixed64);
  incarnation& to;
  void take(field_reader& from) const { to.value = from.take_fixed64(); }
};

template <int Number>
struct timeout_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  duration& to;
  void take(field_reader& from) const { to = timeout_from_wire(from.take_signed()); }
};

template <int Number>
struct period_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  duration& to;
  void take(field_reader& from) const { to = std::chrono::milliseconds{from.take_number32()}; }
};

// As one list, which is how encoders write it; several add up.
template <int Number>
struct tasks_field {
  static constexpr auto tag = tag_of(Number, wire_type::content);
  std::vector<task_id>& to;
  void take(field_reader& from) const {
    auto const list = from.take_content();
    auto const ends_number = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    auto const count = std::count_if(list.begin(), list.end(), ends_number);
    to.reserve(to.size() + static_cast<std::size_t>(count));
    field_reader numbers{list};
    while (!numbers.is_empty()) to.push_back(task_id{numbers.take_number32()});
    if (!numbers.succeeded()) from.fail();
  }
};

template <int Number>
struct reduction_field {
  static constexpr auto tag = tag_of(Number, wire_type::varint);
  core::reduction& to;
  void take(field_reader& from) const {
    auto const number = from.take_number();
    if (number > static_cast<std::uint64_t>(core::reduction::all_equal)) from.fail();
    to = static_cast<core::reduction>(number);
  }
};

// Reads a message that has these fields only.
template <class... Fields>
bool read_fields(field_reader& from, Fields const&... fields) {
  while (auto const tag = from.next_tag()) {
    bool const is_known = ((tag == Fields::tag && (fields.take(from), true)) || ...);
    if (!is_known) return false;
  }
  return from.succeeded();
}

bool read(field_reader& from, core::hello_args& to) {
  using fields = v1::Hello;
  to.version = 0;
  return read_fields(from, number32_field<fields::kProtocolVersionFieldNumber>{to.version},
                     ascii_field<fields::kJobFieldNumber>{to.job},
                     optional_number_field<fields::kAttemptFieldNumber>{to.attempt},
                     ascii_field<fields::kTokenFieldNumber>{to.token},
                     ascii_field<fields::kLabelFieldNumber>{to.label},
                     optional_number32_field<fields::kNumTasksFieldNumber>{to.num_tasks});
}

bool read(field_reader& from, core::cancel_args& to) {
  return read_fields(from, number_field<v1::Cancel::kRequestFieldNumber>{to.request.value});
}

bool read(field_reader& from, core::ask_waiting_args& to) {
  return read_fields(from, number_field<v1::AskWaiting::kRequestFieldNumber>{to.request.value});
}

bool read(field_reader& from, core::join_args& to) {
  using fields = v1::Join;
  return read_fields(from, incarnation_field<fields::kIncarnationFieldNumber>{to.self},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout},
                     optional_flag_field<fields::kRecoverableFieldNumber>{to.recoverable},
                     flag_field<fields::kTakeOverFieldNumber>{to.take_over},
                     flag_field<fields::kWithHelloFieldNumber>{to.with_hello},
                     flag_field<fields::kIsJaxFieldNumber>{to.is_jax});
}

bool read(field_reader& from, core::leave_args& to) {
  using fields = v1::Leave;
  return read_fields(from, timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout},
                     flag_field<fields::kReturningFieldNumber>{to.returning});
}

bool read(field_reader& from, core::barrier_args& to, std::string_view& value) {
  using fields = v1::Barrier;
  return read_fields(from, text_field<fields::kNameFieldNumber>{to.name},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout},
                     tasks_field<fields::kParticipantsFieldNumber>{to.participants},
                     flag_field<fields::kGatherFieldNumber>{to.gather},
                     value_field<fields::kDataFieldNumber>{to.data, value},
                     period_field<fields::kProgressEveryMsFieldNumber>{to.progress_every},
                     reduction_field<fields::kReductionFieldNumber>{to.reduce},
                     flag_field<fields::kFailWhenLostFieldNumber>{to.fail_when_lost},
                     flag_field<fields::kOfJaxTasksFieldNumber>{to.of_jax_tasks});
}

bool read(field_reader& from, core::count_barrier_args& to) {
  using fields = v1::CountBarrier;
  return read_fields(from, text_field<fields::kNameFieldNumber>{to.name},
                     number32_field<fields::kCountFieldNumber>{to.count},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout});
}

bool read(field_reader& from, core::put_args& to, std::string_view& value) {
  using fields = v1::Put;
  return read_fields(from, text_field<fields::kKeyFieldNumber>{to.key},
                     value_field<fields::kValueFieldNumber>{to.value, value},
                     flag_field<fields::kOverwriteFieldNumber>{to.overwrite},
                     flag_field<fields::kEphemeralFieldNumber>{to.ephemeral},
                     flag_field<fields::kReplacesPredecessorFieldNumber>{to.replaces_predecessor});
}

bool read(field_reader& from, core::get_args& to) {
  using fields = v1::Get;
  return read_fields(from, text_field<fields::kKeyFieldNumber>{to.key},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout});
}

bool read(field_reader& from, core::try_get_args& to) {
  return read_fields(from, text_field<v1::TryGet::kKeyFieldNumber>{to.key});
}

bool read(field_reader& from, core::get_all_args& to) {
  using fields = v1::GetAll;
  return read_fields(from, texts_field<fields::kKeysFieldNumber>{to.keys},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout},
                     flag_field<fields::kWithoutValuesFieldNumber>{to.without_values});
}

bool read(field_reader& from, core::increment_args& to) {
  using fields = v1::Increment;
  return read_fields(from, text_field<fields::kKeyFieldNumber>{to.key},
                     signed_field<fields::kByFieldNumber>{to.by});
}

bool read(field_reader& from, core::remove_args& to) {
  return read_fields(from, text_field<v1::Remove::kKeyFieldNumber>{to.key});
}

bool read(field_reader& from, core::report_progress_args& to) {
  return read_fields(from, number_field<v1::ReportProgress::kStepFieldNumber>{to.step});
}

bool read(field_reader& from, core::append_args& to, std::string_view& value) {
  using fields = v1::Append;
  return read_fields(from, text_field<fields::kKeyFieldNumber>{to.key},
                     value_field<fields::kValueFieldNumber>{to.value, value});
}

bool read(field_reader& from, core::push_args& to, std::string_view& value) {
  using fields = v1::Push;
  return read_fields(from, text_field<fields::kQueueFieldNumber>{to.queue},
                     value_field<fields::kValueFieldNumber>{to.value, value});
}

bool read(field_reader& from, core::pop_args& to) {
  using fields = v1::Pop;
  return read_fields(from, text_field<fields::kQueueFieldNumber>{to.queue},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout});
}

bool read(field_reader& from, core::take_args& to) {
  using fields = v1::Take;
  return read_fields(from, text_field<fields::kQueueFieldNumber>{to.queue},
                     timeout_field<fields::kTimeoutMsFieldNumber>{to.timeout},
                     timeout_field<fields::kLeaseMsFieldNumber>{to.lease});
}

// Texts keep their memory.
template <class Args>
Args& cleared(core::request& what) {
  auto* const held = std::get_if<Args>(&what);
  if (held == nullptr) return what.emplace<Args>();
  *held = Args{};
  return *held;
}

struct destination {
  core::request& what;
  std::string_view& value;
};

template <class Args>
bool read_request(field_reader& from, destination to) {
  field_reader content{from.take_content()};
  auto& args = cleared<Args>(to.what);
  if constexpr (requires { read(content, args, to.value); }) {
    return read(content, args, to.value);
  } else {
    return read(content, args);
  }
}

bool read_request(std::uint32_t tag, field_reader& from, destination to) {
  using fields = v1::ClientMessage;
  constexpr auto is = [](int number) { return tag_of(number, wire_type::content); };
  switch (tag) {
    case is(fields::kHelloFieldNumber): return read_request<core::hello_args>(from, to);
    case is(fields::kCancelFieldNumber): return read_request<core::cancel_args>(from, to);
    case is(fields::kAskWaitingFieldNumber): return read_request<core::ask_waiting_args>(from, to);
    case is(fields::kJoinFieldNumber): return read_request<core::join_args>(from, to);
    case is(fields::kLeaveFieldNumber): return read_request<core::leave_args>(from, to);
    case is(fields::kBarrierFieldNumber): return read_request<core::barrier_args>(from, to);
    case is(fields::kPutFieldNumber): return read_request<core::put_args>(from, to);
    case is(fields::kGetFieldNumber): return read_request<core::get_args>(from, to);
    case is(fields::kTryGetFieldNumber): return read_request<core::try_get_args>(from, to);
    case is(fields::kGetAllFieldNumber): return read_request<core::get_all_args>(from, to);
    case is(fields::kIncrementFieldNumber): return read_request<core::increment_args>(from, to);
    case is(fields::kRemoveFieldNumber): return read_request<core::remove_args>(from, to);
    case is(fields::kCountBarrierFieldNumber):
      return read_request<core::count_barrier_args>(from, to);
    case is(fields::kReportProgressFieldNumber):
      return read_request<core::report_progress_args>(from, to);
    case is(fields::kAppendFieldNumber): return read_request<core::append_args>(from, to);
    case is(fields::kPushFieldNumber): return read_request<core::push_args>(from, to);
    case is(fields::kPopFieldNumber): return read_request<core::pop_args>(from, to);
    case is(fields::kTakeFieldNumber): return read_request<core::take_args>(from, to);
    default: return false;
  }
}

// A request whose first field is a name, and whose others are numbers.
struct named_request {
  int number{};  // of its field in ClientMessage
  std::string_view name;
};
constexpr int name_field = 1;
static_assert(v1::Get::kKeyFieldNumber == name_field);
static_assert(v1::TryGet::kKeyFieldNumber == name_field);
static_assert(v1::Barrier::kNameFieldNumber == name_field);

// Writes the numbers. Nothing: it has other fields.
std::optional<named_request> write_numbers(core::request const& what, field_writer& to) {
  using fields = v1::ClientMessage;
  if (auto const* const get = std::get_if<core::get_args>(&what)) {
    to.put_present_signed(v1::Get::kTimeoutMsFieldNumber, timeout_to_wire(get->timeout));
    return named_request{fields::kGetFieldNumber, get->key};
  }
  if (auto const* const get = std::get_if<core::try_get_args>(&what)) {
    return named_request{fields::kTryGetFieldNumber, get->key};
  }
  if (auto const* const barrier = std::get_if<core::barrier_args>(&what)) {
    bool const is_plain = barrier->participants.empty() && barrier->data.empty() &&
                          !barrier->gather && barrier->reduce == core::reduction::none &&
                          barrier->progress_every == duration{} && !barrier->fail_when_lost &&
                          !barrier->of_jax_tasks;
    if (!is_plain) return std::nullopt;
    to.put_present_signed(v1::Barrier::kTimeoutMsFieldNumber, timeout_to_wire(barrier->timeout));
    return named_request{fields::kBarrierFieldNumber, barrier->name};
  }
  return std::nullopt;
}

}  // namespace

bool append_frame_quickly(std::string& out, core::client_message const& message) {
  using fields = v1::ClientMessage;
  std::array<char, number_field_bytes_max> numbers;
  field_writer last{numbers.data()};
  auto const request = write_numbers(message.what, last);
  if (!request) return false;
  auto const name = request->name;
  std::array<char, 5 * number_field_bytes_max> room;
  field_writer first{room.data()};
  first.put_number(fields::kIdFieldNumber, message.id.value);
  first.put_number(fields::kAnsweredThroughFieldNumber, message.answered_through);
  if (message.task) first.put_present_number(fields::kTaskFieldNumber, message.task->value);
  auto const rest = last.written();
  first.put_head(request->number, content_field_bytes(name.size()) + rest.size());
  if (!name.empty()) first.put_head(name_field, name.size());
  // Its number is above that of any request here.
  std::array<char, number_field_bytes_max> end;
  field_writer epoch{end.data()};
  epoch.put_number(fields::kEpochFieldNumber, message.epoch);
  auto const prefix =
      length_prefix(first.written().size() + name.size() + rest.size() + epoch.written().size());
  out.append(prefix.data(), prefix.size()).append(first.written()).append(name).append(rest);
  out.append(epoch.written());
  return true;
}

bool decode_quickly(std::string_view payload, core::client_message& to, std::string_view& value) {
  using fields = v1::ClientMessage;
  to.id = {};
  to.answered_through = 0;
  to.task.reset();
  to.epoch = 0;
  bool has_request = false;
  field_reader from{payload};
  while (auto const tag = from.next_tag()) {
    switch (tag) {
      case tag_of(fields::kIdFieldNumber, wire_type::varint):
        to.id = request_id{from.take_number()};
        break;
      case tag_of(fields::kAnsweredThroughFieldNumber, wire_type::varint):
        to.answered_through = from.take_number();
        break;
      case tag_of(fields::kTaskFieldNumber, wire_type::varint):
        to.task = task_id{from.take_number32()};
        break;
      case tag_of(fields::kEpochFieldNumber, wire_type::varint):
        to.epoch = from.take_number();
        break;
      default:
        // A second request would replace the first one, or be merged with it.
        if (std::exchange(has_request, true) || !read_request(tag, from, {to.what, value}))
          return false;
    }
  }
  if (!has_request) to.what.emplace<std::monostate>();
  return from.succeeded() && (has_request || to.id.value == 0);
}

}  // namespace coxswain::wire
