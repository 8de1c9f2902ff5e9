#include "coxswain/xla/codec.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/xla/fields.hpp"

#include <utility>

namespace coxswain::xla {
namespace {

// The numbers of a request's fields; zero: it has none.
struct numbers {
  std::uint8_t incarnations{};
  std::uint8_t task{};
  std::uint8_t self{};
  std::uint8_t name{};
  std::uint8_t pair{};  // KeyValueEntry
  std::uint8_t overwrite{};
  std::uint8_t number{};
  std::uint8_t timeout{};
  std::uint8_t tasks{};
  std::uint8_t counter{};
  std::uint8_t code{};
  std::uint8_t text{};
};

constexpr numbers numbers_of(method_path of) {
  bool const third = of.of == generation::third;
  switch (of.what) {
    case method::register_task: return {.task = 5, .self = 3};
    case method::heartbeat:
      return third ? numbers{.incarnations = 1, .task = 3, .self = 2}
                   : numbers{.task = 4, .self = 3};
    case method::shutdown_task:
    case method::poll_for_error:
      return third ? numbers{.incarnations = 1, .task = 2} : numbers{.task = 1};
    case method::watch_tasks:
      return third ? numbers{.incarnations = 1, .number = 2} : numbers{.number = 2};
    case method::insert_key_value:
      return third ? numbers{.incarnations = 1, .pair = 2, .overwrite = 3}
                   : numbers{.pair = 1, .overwrite = 2};
    case method::get_key_value:
    case method::try_get_key_value:
    case method::get_key_value_dir:
    case method::delete_key_value:
      return third ? numbers{.incarnations = 1, .name = 2} : numbers{.name = 1};
    case method::increment_key_value:
      return third ? numbers{.incarnations = 1, .name = 2, .number = 3}
                   : numbers{.name = 1, .number = 2};
    case method::barrier:
      return third ? numbers{.incarnations = 1,
                             .task = 5,
                             .name = 2,
                             .timeout = 3,
                             .tasks = 4,
                             .counter = 6}
                   : numbers{.task = 4, .name = 1, .timeout = 2, .tasks = 3, .counter = 5};
    case method::cancel_barrier:
      return third ? numbers{.incarnations = 1, .task = 4, .name = 2, .counter = 3}
                   : numbers{.task = 2, .name = 1, .counter = 3};
    case method::get_alive_tasks:
      return third ? numbers{.incarnations = 1, .task = 2, .tasks = 3}
                   : numbers{.task = 1, .tasks = 2};
    case method::report_error:
      return third ? numbers{.incarnations = 1, .task = 2, .code = 3, .text = 4}
                   : numbers{.task = 5, .code = 1, .text = 2};
  }
  return {};
}

// Calls `use` for each field. False: these are not fields, or `use` found a malformed one.
template <class Use>
bool each_field(std::string_view message, Use use) {
  while (!message.empty()) {
    auto const field = wire::take_field(message);
    if (!field || field->number == 0 || !use(*field)) return false;
  }
  return true;
}

std::int32_t as_int32(std::uint64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

bool take_fixed64(wire::field const& from, std::uint64_t& into) {
  if (from.content.size() != number_bytes) return false;
  into = from_little_endian<std::uint64_t>(from.content);
  return true;
}

bool take_text(wire::field const& from, std::string& into) {
  if (!core::is_utf8(from.content)) return false;
  into = from.content;
  return true;
}

bool take_task(std::string_view message, task_name& into) {
  return each_field(message, [&](wire::field const& f) {
    if (f.number == 1) return take_text(f, into.job);
    if (f.number == 2) into.id = as_int32(f.value);
    if (f.number == 3) into.recoverable = f.value != 0;
    return true;
  });
}

bool take_pair(std::string_view message, request& into) {
  return each_field(message, [&](wire::field const& f) {
    if (f.number == 1) return take_text(f, into.name);
    if (f.number == 2) into.value = f.content;
    return true;
  });
}

bool take_incarnations(std::string_view message, request& into) {
  std::uint64_t self = into.self.value;
  std::uint64_t service = 0;
  bool const is_well_formed = each_field(message, [&](wire::field const& f) {
    if (f.number == 2) return take_fixed64(f, self);
    if (f.number == 3) return take_fixed64(f, service);
    return true;
  });
  into.self = incarnation{self};
  into.service = incarnation{service};
  return is_well_formed;
}

bool take_member(generation of, wire::field const& f, std::vector<task_name>& into) {
  if (of == generation::second) {
    return into.size() < tasks_max && take_task(f.content, into.emplace_back());
  }
  if (f.content.empty()) {  // not packed
    into.push_back({as_int32(f.value)});
    return into.size() <= tasks_max;
  }
  std::string_view packed = f.content;
  while (!packed.empty()) {
    auto const number = wire::take_varint(packed);
    if (!number || into.size() == tasks_max) return false;
    into.push_back({as_int32(*number)});
  }
  return true;
}

// A field whose number is zero in the table is never met: no field has that number.
bool take(generation of, numbers const& n, wire::field const& f, request& into) {
  if (f.number == n.incarnations) return take_incarnations(f.content, into);
  if (f.number == n.task) {
    if (of == generation::second) return take_task(f.content, into.task.emplace());
    into.task = task_name{as_int32(f.value)};
  } else if (f.number == n.self) {
    return take_fixed64(f, into.self.value);
  } else if (f.number == n.name) {
    return take_text(f, into.name);
  } else if (f.number == n.pair) {
    return take_pair(f.content, into);
  } else if (f.number == n.overwrite) {
    into.overwrite = f.value != 0;
  } else if (f.number == n.number) {
    into.number = static_cast<std::int64_t>(f.value);
  } else if (f.number == n.timeout) {
    into.timeout_ms = static_cast<std::int64_t>(f.value);
  } else if (f.number == n.tasks) {
    return take_member(of, f, into.tasks);
  } else if (f.number == n.counter) {
    into.counter = static_cast<std::int64_t>(f.value);
  } else if (f.number == n.code) {
    into.code = as_int32(f.value);
  } else if (f.number == n.text) {
    return take_text(f, into.text);
  }
  return true;
}

status malformed(method_path of) {
  return {errc::invalid_argument,
          std::string{name(of.what)} +
              ": the request is malformed, or one of its strings is not UTF-8"};
}

bool is_negative(request const& what) {
  if (what.task && what.task->id < 0) return true;
  for (task_name const& name : what.tasks) {
    if (name.id < 0) return true;
  }
  return false;
}

std::string encode_task(task_name const& what) {
  std::string out;
  append_text(out, 1, what.job);
  append_integer(out, 2, what.id);
  append_number(out, 3, what.recoverable ? 1 : 0);
  return out;
}

void append_task(std::string& out, generation of, unsigned field, task_name const& what) {
  if (of == generation::third) return append_integer(out, field, what.id);
  append_content(out, field, encode_task(what));
}

void append_member(std::string& out, generation of, unsigned field,
                   std::vector<task_name> const& tasks) {
  if (tasks.empty()) return;
  if (of == generation::second) {
    for (task_name const& task : tasks) append_content(out, field, encode_task(task));
    return;
  }
  std::string packed;
  for (task_name const& task : tasks) append_varint(packed, static_cast<std::uint64_t>(task.id));
  append_content(out, field, packed);
}

}  // namespace

result<request> decode(method_path of, std::string_view message) {
  request made;
  auto const n = numbers_of(of);
  bool const third = of.of == generation::third;
  // Zero is not on the wire.
  if (third && n.task != 0) made.task.emplace();
  if (third && n.incarnations != 0) made.service.emplace();
  bool const is_well_formed =
      each_field(message, [&](wire::field const& f) { return take(of.of, n, f, made); });
  if (!is_well_formed) return malformed(of);
  if (n.task != 0 && !made.task) {
    return status{errc::invalid_argument, std::string{name(of.what)} + ": no task is named"};
  }
  if (is_negative(made)) {
    return status{errc::invalid_argument,
                  std::string{name(of.what)} + ": a task has a negative number"};
  }
  return made;
}

std::string encode_incarnation(incarnation self) {
  std::string out;
  append_fixed64(out, 1, self.value);
  return out;
}

encoded_reply encode_key_value(std::string_view key, bytes value) {
  auto const key_head = key.empty() ? 0 : head_bytes(key.size());
  auto const value_head = value.size() == 0 ? 0 : head_bytes(value.size());
  auto const pair_bytes = key_head + key.size() + value_head + value.size();
  encoded_reply made;
  made.head.reserve(head_bytes(pair_bytes) + key_head + key.size() + value_head);
  append_head(made.head, 1, pair_bytes);
  append_text(made.head, 1, key);
  if (value.size() != 0) append_head(made.head, 2, value.size());
  made.tail = std::move(value);
  return made;
}

void append_listed(std::string& reply, std::string_view key, std::string_view value) {
  std::string pair;
  append_text(pair, 1, key);
  if (!value.empty()) append_head(pair, 2, value.size());
  append_head(reply, 2, pair.size() + value.size());
  reply += pair;
  reply += value;
}

std::string encode_counter(std::int64_t counter) {
  std::string out;
  append_integer(out, 1, counter);
  return out;
}

std::string encode_alive(generation of, std::vector<task_name> const& tasks,
                         std::vector<incarnation> const& incarnations) {
  std::string out;
  append_member(out, of, 1, tasks);
  if (incarnations.empty()) return out;
  append_head(out, 2, incarnations.size() * number_bytes);
  for (incarnation const incarnation : incarnations) out += to_little_endian(incarnation.value);
  return out;
}

std::string encode_tasks(generation of, std::vector<task_info> const& tasks, std::int64_t version) {
  std::string out;
  for (task_info const& task : tasks) {
    std::string info;
    append_task(info, of, 1, task.task);
    append_number(info, 2, static_cast<std::uint64_t>(task.is));
    if (!task.error.ok()) {
      append_number(info, 3, static_cast<std::uint64_t>(task.error.code()));
      append_text(info, 4, task.error.message());
      std::string payload;
      append_task(payload, of, 4, task.task);
      append_content(info, 5, payload);
    }
    append_fixed64(info, 6, task.self.value);
    append_content(out, 1, info);
  }
  append_integer(out, 2, version);
  return out;
}

std::string encode_request(method_path of, request const& what) {
  auto const n = numbers_of(of);
  std::string out;
  if (n.incarnations != 0) {
    std::string both;
    append_fixed64(both, 2, what.self.value);
    append_fixed64(both, 3, what.service.value_or(incarnation{}).value);
    append_content(out, n.incarnations, both);
  }
  if (n.self != 0) append_fixed64(out, n.self, what.self.value);
  if (n.task != 0 && what.task) append_task(out, of.of, n.task, *what.task);
  if (n.name != 0) append_text(out, n.name, what.name);
  if (n.pair != 0) {
    std::string pair;
    append_text(pair, 1, what.name);
    append_text(pair, 2, what.value);
    append_content(out, n.pair, pair);
  }
  if (n.overwrite != 0) append_number(out, n.overwrite, what.overwrite ? 1 : 0);
  if (n.number != 0) append_integer(out, n.number, what.number);
  if (n.timeout != 0) append_integer(out, n.timeout, what.timeout_ms);
  if (n.tasks != 0) append_member(out, of.of, n.tasks, what.tasks);
  if (n.counter != 0) append_integer(out, n.counter, what.counter);
  if (n.code != 0) append_integer(out, n.code, what.code);
  if (n.text != 0) append_text(out, n.text, what.text);
  return out;
}

}  // namespace coxswain::xla
