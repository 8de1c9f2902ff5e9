#include "tests/wire/samples.hpp"

#include "coxswain/wire/frame.hpp"
#include "tests/wire/any_value.hpp"

#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

namespace coxswain::test {
namespace {

constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

// Calls `add` with the default value of each alternative, and with several random ones.
template <class... Held, class Add>
void for_samples_of(std::type_identity<std::variant<std::monostate, Held...>>, Add add) {
  random_source rng{std::uint64_t{17}};
  auto const add_some = [&]<class T>(std::type_identity<T>) {
    add(T{});
    for (int i = 0; i < 3; ++i) add(any_value<T>(rng));
  };
  (add_some(std::type_identity<Held>{}), ...);
}

std::string without_length(std::string frame) { return frame.erase(0, wire::length_bytes); }

}  // namespace

std::vector<core::client_message> sample_requests() {
  std::vector<core::client_message> made(1);
  made[0].answered_through = largest;
  for_samples_of(std::type_identity<core::request>{}, [&](core::request what) {
    auto const number = 300 + made.size();
    made.push_back({request_id{number}, 7, task_id{2}, std::move(what), number % 2 * largest});
  });
  return made;
}

std::vector<wire::server_message> sample_answers() {
  using body = decltype(core::answer::value);
  std::vector<wire::server_message> made;
  auto const add = [&](body value) {
    auto const number = 300 + made.size();
    status outcome{number % 3 == 0 ? errc::not_found : errc::ok, "There is no key 'a'."};
    if (outcome.ok()) outcome = {};
    made.push_back({request_id{number}, {std::move(outcome), std::move(value)}});
  };
  add({});
  for_samples_of(std::type_identity<body>{}, add);
  return made;
}

std::string payload_of(core::client_message const& message) {
  std::string frame;
  wire::append_frame(frame, message);
  return without_length(std::move(frame));
}

std::string payload_of(wire::server_message const& message) {
  auto const body = wire::encode(message.what);
  std::string frame;
  wire::append_server_head(frame, message.id, body.size());
  frame.append(body.head).append(body.tail.view());
  return without_length(std::move(frame));
}

}  // namespace coxswain::test
