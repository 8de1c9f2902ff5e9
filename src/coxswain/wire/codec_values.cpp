// The values in encoded requests: how long they are, and others in their places.

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/field_writer.hpp"

#include <optional>

namespace coxswain::wire {
namespace {

// The bytes of the fields with this number.
std::size_t bytes_of(std::string_view message, int number) {
  std::size_t bytes = 0;
  while (auto const one = take_field(message)) {
    if (one->number == static_cast<std::uint64_t>(number)) bytes += one->content.size();
  }
  return bytes;
}

std::size_t bytes_of_entries(std::string_view put_all) {
  std::size_t bytes = 0;
  while (auto const one = take_field(put_all)) {
    if (one->number != v1::PutAll::kEntriesFieldNumber) continue;
    bytes += bytes_of(one->content, v1::PutAll::Entry::kValueFieldNumber);
  }
  return bytes;
}

// The number of the field that is the value of a request which has one; zero for others.
int value_field_of(std::uint64_t request) {
  switch (request) {
    case v1::ClientMessage::kPutFieldNumber: return v1::Put::kValueFieldNumber;
    case v1::ClientMessage::kBarrierFieldNumber: return v1::Barrier::kDataFieldNumber;
    case v1::ClientMessage::kAppendFieldNumber: return v1::Append::kValueFieldNumber;
    case v1::ClientMessage::kPushFieldNumber: return v1::Push::kValueFieldNumber;
    default: return 0;
  }
}

// The values in a request, which can be as large as a frame.
std::size_t value_bytes_of(field const& request) {
  auto const of = [&](int number) { return bytes_of(request.content, number); };
  if (int const value = value_field_of(request.number)) return of(value);
  switch (request.number) {
    case v1::ClientMessage::kPutAllFieldNumber: return bytes_of_entries(request.content);
    case v1::ClientMessage::kCompareAndSetFieldNumber:
      return of(v1::CompareAndSet::kValueFieldNumber) +
             of(v1::CompareAndSet::kExpectedValueFieldNumber);
    default: return 0;
  }
}

// Where the only one of some fields lies in a message; nothing if there are none or several.
struct location {
  field what;
  std::string_view before;
  std::string_view after;
};
template <class Wanted>
std::optional<location> locate_only(std::string_view message, Wanted wanted) {
  std::optional<location> found;
  for (auto rest = message; !rest.empty();) {
    auto const begin = message.size() - rest.size();
    auto const one = take_field(rest);
    bool const is_wanted = one && wanted(one->number);
    if (!one || (is_wanted && found)) return std::nullopt;
    if (is_wanted) found = {*one, message.substr(0, begin), rest};
  }
  return found;
}

}  // namespace

bool append_with_value(std::string& out, std::string_view payload, std::string_view value) {
  auto const request =
      locate_only(payload, [](auto number) { return value_field_of(number) != 0; });
  if (!request) return false;
  auto const [what, before, after] = *request;
  int const number = value_field_of(what.number);
  auto const old = locate_only(
      what.content, [number](auto one) { return one == static_cast<std::uint64_t>(number); });
  if (!old) return false;
  auto const others = old->before.size() + old->after.size();
  out += before;
  append_field_head(out, static_cast<int>(what.number), others + content_field_bytes(value.size()));
  out += old->before;
  append_field_head(out, number, value.size());
  out.append(value).append(old->after).append(after);
  return true;
}

std::size_t bytes_beside_values(std::string_view payload) {
  std::size_t bytes = payload.size();
  while (auto const request = take_field(payload)) bytes -= value_bytes_of(*request);
  return bytes;
}

}  // namespace coxswain::wire
