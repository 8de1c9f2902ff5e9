// The values in encoded requests: how long they are, and others in their places.

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/field_reader.hpp"
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

// The only one of some fields of a message; nothing if there are none or several, or if the message
// is not as encoders write it.
struct location {
  std::uint64_t number{};
  std::string_view whole;
  std::string_view content;
};
template <class Wanted>
std::optional<location> locate_only(std::string_view message, Wanted wanted) {
  location found;
  field_reader from{message};
  auto const* begin = message.data();
  while (auto const tag = from.next_tag()) {
    auto const content = from.take_any(tag);
    auto const* const end = from.position();
    if (std::uint64_t const number = tag >> 3; wanted(number)) {
      if (found.number != 0) return std::nullopt;
      found = {number, {begin, end}, content};
    }
    begin = end;
  }
  return from.succeeded() && found.number != 0 ? std::optional{found} : std::nullopt;
}

char const* end_of(std::string_view text) { return text.data() + text.size(); }

}  // namespace

bool append_with_value(std::string& out, std::string_view payload, std::string_view value) {
  auto const request =
      locate_only(payload, [](std::uint64_t number) { return value_field_of(number) != 0; });
  if (!request) return false;
  int const number = value_field_of(request->number);
  auto const old = locate_only(request->content, [number](std::uint64_t one) {
    return one == static_cast<std::uint64_t>(number);
  });
  if (!old) return false;
  auto const others = request->content.size() - old->whole.size();
  auto const begin = out.size();
  out.resize(begin + payload.size() - old->content.size() + value.size() + varint_bytes_max);
  field_writer to{out.data() + begin};
  to.put({payload.data(), request->whole.data()});
  to.put_head(static_cast<int>(request->number), others + content_field_bytes(value.size()));
  to.put({request->content.data(), old->whole.data()});
  to.put_head(number, value.size());
  to.put(value);
  to.put({end_of(old->whole), end_of(payload)});
  out.resize(begin + to.written().size());
  return true;
}

std::size_t bytes_beside_values(std::string_view payload) {
  std::size_t bytes = payload.size();
  while (auto const request = take_field(payload)) bytes -= value_bytes_of(*request);
  return bytes;
}

}  // namespace coxswain::wire
