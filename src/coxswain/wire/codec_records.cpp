// Requests and answers, by their records.

#include "coxswain/wire/codec_records.hpp"

#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/record_reader.hpp"
#include "coxswain/wire/record_writer.hpp"

#include <array>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

// The fields of ClientMessage beside its request.
namespace client_field {
constexpr int id = 1;
constexpr int answered_through = 2;
constexpr int task = 3;
constexpr int epoch = 48;
}  // namespace client_field

// Those of ServerMessage beside its body.
namespace server_field {
constexpr int id = 1;
constexpr int status = 2;
}  // namespace server_field

template <class T>
struct unboxed_type {
  using type = T;
};
template <class T>
struct unboxed_type<boxed<T>> {
  using type = T;
};
template <class T>
using unboxed = typename unboxed_type<T>::type;

template <class T>
T& content(T& held) {
  return held;
}
template <class T>
T& content(boxed<T>& held) {
  return *held;
}

// What an absent field means, where that is not the member's default.
template <class T>
void prepare(T&) noexcept {}
void prepare(core::hello_args& to) noexcept { to.version = 0; }
constexpr auto unstated = duration::min();
void prepare(core::join_args& to) noexcept { to.timeout = unstated; }
void settle(core::join_args& read) noexcept {
  if (read.timeout != unstated) return;
  read.timeout = read.any ? without_limit : core::timeout_default;
}

// Reads the content of one of a variant's alternatives. `is_first`: what it holds is of an earlier
// message.
template <class Held, class Variant>
void read_held(field_reader& from, Variant& to, bool is_first, reading& state) {
  auto* held = std::get_if<Held>(&to);
  if (held == nullptr) held = &to.template emplace<Held>();
  auto& read = content(*held);
  if (is_first) {
    read = {};
    prepare(read);
  }
  read_message(from, read, state);
}

// Readers of a variant's alternatives, by the numbers of their fields.
template <class Variant>
struct readers;
template <class... Held>
struct readers<std::variant<std::monostate, Held...>> {
  using variant = std::variant<std::monostate, Held...>;
  using reader = void (*)(field_reader&, variant&, bool, reading&);

  static constexpr std::size_t numbers = 64;
  static constexpr auto table = [] {
    std::array<reader, numbers> made{};
    ((made[core::record_of<unboxed<Held>>.number] = &read_held<Held, variant>), ...);
    return made;
  }();

  static reader of(std::uint32_t tag) noexcept {
    if ((tag & 7) != static_cast<std::uint32_t>(wire_type::content)) return nullptr;
    return tag >> 3 < numbers ? table[tag >> 3] : nullptr;
  }
};

using answer_value = decltype(core::answer::value);

}  // namespace

status wrong_secret_size(std::size_t bytes) {
  return {errc::invalid_argument, "A session's secret has " + std::to_string(bytes) +
                                      " bytes; it must have " +
                                      std::to_string(core::session_secret{}.size()) + "."};
}

void append_frame_by_records(std::string& out, core::client_message const& message) {
  auto const write = [&message](auto& to) {
    if (message.id.value != 0) to.put_number(client_field::id, message.id.value);
    if (message.answered_through != 0) {
      to.put_number(client_field::answered_through, message.answered_through);
    }
    if (message.task) to.put_number(client_field::task, message.task->value);
    std::visit(
        [&]<class Args>(Args const& what) {
          constexpr bool is_request = !std::is_same_v<Args, std::monostate>;
          int number = 0;
          if constexpr (is_request) number = core::record_of<Args>.number;
          bool const is_last = number > client_field::epoch;
          if (message.epoch != 0 && is_last) to.put_number(client_field::epoch, message.epoch);
          if constexpr (is_request) write_present<core::record_of<Args>.number, as::plain_t>(to, what);
          if (message.epoch != 0 && !is_last) to.put_number(client_field::epoch, message.epoch);
        },
        message.what);
  };
  field_counter count;
  write(count);
  append_length(out, count.bytes());
  out.reserve(out.size() + count.bytes());
  field_appender to{out};
  write(to);
}

status decode_client_by_records(std::string_view payload, core::client_message& to,
                                decoded_payload& from) {
  to.id = {};
  to.answered_through = 0;
  to.task.reset();
  to.epoch = 0;
  reading state;
  bool has_request = false;
  field_reader fields{payload};
  while (auto const tag = fields.next_tag()) {
    switch (tag) {
      case tag_of(client_field::id, wire_type::varint):
        to.id = request_id{fields.take_number()};
        break;
      case tag_of(client_field::answered_through, wire_type::varint):
        to.answered_through = fields.take_number();
        break;
      case tag_of(client_field::task, wire_type::varint):
        to.task = task_id{fields.take_number32()};
        break;
      case tag_of(client_field::epoch, wire_type::varint):
        to.epoch = fields.take_number();
        break;
      default:
        if (auto const read = readers<core::request>::of(tag)) {
          auto const before = to.what.index();
          read(fields, to.what, !has_request, state);
          if (std::exchange(has_request, true)) state.is_plain = false;
          static_cast<void>(before);
        } else {
          static_cast<void>(fields.take_any(tag));
          state.is_plain = false;
        }
    }
  }
  from.whole = payload;
  from.value = state.is_plain ? state.value : std::string_view{};
  from.is_plain = state.is_plain;
  if (!has_request) to.what.emplace<std::monostate>();
  if (!fields.succeeded()) {
    return {errc::invalid_argument, "A frame of " + std::to_string(payload.size()) +
                                        " bytes is not a valid ClientMessage."};
  }
  if (auto* const join = std::get_if<core::join_args>(&to.what)) settle(*join);
  bool const lacks_secret = std::holds_alternative<core::resume_args>(to.what) && !state.has_secret;
  if (!state.wrong.ok()) return std::move(state.wrong);
  if (lacks_secret) return wrong_secret_size(0);
  if (has_request || to.id.value == 0) return {};
  return {errc::invalid_argument,
          "Request " + std::to_string(to.id.value) +
              " is of a kind that this version does not know. Is the client newer?"};
}

void encode_by_records(core::answer const& answer, std::string& head, bytes& tail) {
  field_appender to{head};
  if (!answer.outcome.ok()) {
    write_present<server_field::status, as::plain_t>(to, answer.outcome);
  }
  if (auto const* const large = std::get_if<core::value_answer>(&answer.value);
      large && large->value.size() >= large_value_bytes) {
    core::value_answer others{{}, large->version, large->redeliveries};
    field_counter value_head;
    constexpr int value_field = 2;
    value_head.put_head(value_field, large->value.size());
    to.put_head(core::record_of<core::value_answer>.number,
                bytes_of_fields(others) + value_head.bytes() + large->value.size());
    write_fields(to, others);
    to.put_head(value_field, large->value.size());
    tail = large->value;
    return;
  }
  std::visit(
      [&]<class Held>(Held const& what) {
        if constexpr (!std::is_same_v<Held, std::monostate>) {
          constexpr int number = core::record_of<unboxed<Held>>.number;
          write_present<number, as::plain_t>(to, std::as_const(content(const_cast<Held&>(what))));
        }
      },
      answer.value);
}

result<server_message> decode_server_by_records(std::string_view payload) {
  server_message to;
  reading state;
  std::uint32_t body = 0;
  field_reader fields{payload};
  while (auto const tag = fields.next_tag()) {
    if (tag == tag_of(server_field::id, wire_type::varint)) {
      to.id = request_id{fields.take_number()};
    } else if (tag == tag_of(server_field::status, wire_type::content)) {
      read_message(fields, to.what.outcome, state);
    } else if (auto const read = readers<answer_value>::of(tag)) {
      read(fields, to.what.value, std::exchange(body, tag) != tag, state);
    } else {
      static_cast<void>(fields.take_any(tag));
    }
  }
  if (!fields.succeeded()) {
    return status{errc::invalid_argument, "A frame of " + std::to_string(payload.size()) +
                                              " bytes is not a valid ServerMessage."};
  }
  if (std::holds_alternative<boxed<core::hello_answer>>(to.what.value) && !state.has_secret) {
    return state.wrong.ok() ? wrong_secret_size(0) : std::move(state.wrong);
  }
  return to;
}

}  // namespace coxswain::wire
