// Answers, by the records of their structs (core/model/records).

#include "coxswain/wire/codec.hpp"

#include "coxswain/wire/alternatives.hpp"

#include <array>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {
namespace {

// The fields of ServerMessage beside its body.
namespace server_field {
constexpr int id = 1;
constexpr int status = 2;
}  // namespace server_field

// From this size on, the value of an answer is shared.
constexpr std::size_t large_value_bytes = 1024;

constexpr auto const& answer_readers = held_readers<decltype(core::answer::value)>;

// The value follows all other fields, in the tail.
void append_large(std::string& out, bytes& tail, core::value_answer const& from) {
  std::array<char, 3 * number_field_bytes_max> room;
  field_writer fields{room.data()};
  write_fields(fields, core::value_answer{{}, from.version, from.redeliveries});
  fields.put_head(value_field<core::value_answer>, from.value.size());
  std::array<char, number_field_bytes_max> first;
  field_writer head{first.data()};
  head.put_head(core::record_of<core::value_answer>.number,
                fields.written().size() + from.value.size());
  out.append(head.written()).append(fields.written());
  tail = from.value;
}

void append_body(std::string&, bytes&, std::monostate) {}

template <class Value>
void append_body(std::string& out, bytes& tail, Value const& what) {
  constexpr int number = core::record_of<Value>.number;
  if constexpr (std::is_same_v<Value, core::value_answer>) {
    if (what.value.size() >= large_value_bytes) return append_large(out, tail, what);
  }
  if (!is_short(what)) {
    return append_fields(out, [&](auto& to) { write_present<number, as::plain_t>(to, what); });
  }
  std::array<char, number_field_bytes_max + short_bytes_max> room;
  field_writer fields{room.data() + number_field_bytes_max};
  write_fields(fields, what);
  auto const bytes = fields.written().size();
  char* const begin = fields.begin() - (number < 16 ? 1 : 2) - varint_bytes(bytes);
  field_writer{begin}.put_head(number, bytes);
  out.append(begin, static_cast<std::size_t>(fields.begin() - begin) + bytes);
}

}  // namespace

encoded_answer encode(core::answer const& answer) {
  encoded_answer encoded;
  encode(answer, encoded.head, encoded.tail);
  return encoded;
}

void encode(core::answer const& answer, std::string& head, bytes& tail) {
  if (!answer.outcome.ok()) {
    append_fields(head, [&](auto& to) {
      write_present<server_field::status, as::plain_t>(to, answer.outcome);
    });
  }
  std::visit([&](auto const& what) { append_body(head, tail, content(what)); }, answer.value);
}

void append_server_head(std::string& out, request_id id, std::size_t body_bytes) {
  std::array<char, length_bytes + number_field_bytes_max> room;
  field_writer field{room.data() + length_bytes};
  field.put_number(server_field::id, id.value);
  auto const field_bytes = field.written().size();
  auto const length = length_prefix(field_bytes + body_bytes);
  std::copy(length.begin(), length.end(), room.begin());
  out.append(room.data(), length_bytes + field_bytes);
}

result<server_message> decode_server(std::string_view payload) {
  if (payload.size() > message_bytes_max) return invalid(payload.size(), "ServerMessage");
  server_message to;
  reading state;
  field_reader fields{payload};
  while (auto const tag = fields.next_tag()) {
    if (tag == tag_of(server_field::id, wire_type::varint)) {
      to.id = request_id{fields.take_number()};
    } else if (tag == tag_of(server_field::status, wire_type::content)) {
      read_message(fields, to.what.outcome, state);
    } else if (auto const read = answer_readers.of(tag)) {
      read(fields, to.what.value, false, state);
    } else {
      static_cast<void>(fields.take_any(tag));
    }
  }
  if (!fields.succeeded()) return invalid(payload.size(), "ServerMessage");
  if (std::holds_alternative<boxed<core::hello_answer>>(to.what.value)) {
    if (status wrong = check_secret("A HelloReply", state.secret_bytes); !wrong.ok()) return wrong;
  }
  return to;
}

}  // namespace coxswain::wire
