#include "load/trunk.hpp"

#include "bench_error.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/routed.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::bench {

trunk::trunk() : decoder_{wire::message_bytes_max} {
  core::hello_args hello;
  hello.label = "bench-relay";
  hello.relay = true;
  wire::append_frame(output_, {{}, 0, {}, std::move(hello)});
}

void trunk::open(std::size_t connection) {
  routes_[++last_] = {connection, 0};
  numbers_[connection] = last_;
  wire::append_opened(output_, last_, {}, "a connection of the load");
}

void trunk::close(std::size_t connection) {
  auto const number = numbers_.extract(connection).mapped();
  routes_.erase(number);
  wire::append_closed(output_, number, true);
}

void trunk::send(std::size_t connection, std::string_view bytes) {
  auto const number = numbers_.at(connection);
  while (!bytes.empty()) {
    auto const some = bytes.substr(0, wire::route_content_max);
    wire::append_content_head(output_, number, some.size());
    output_ += some;
    bytes.remove_prefix(some.size());
  }
}

void trunk::receive(std::string_view bytes, taker const& take) {
  decoder_.feed(bytes);
  for (;;) {
    auto const payload = decoder_.next();
    if (!payload) throw bench_error{"a trunk got nonsense: " + payload.error().text()};
    if (!*payload) return;
    if (!wire::is_routed(**payload)) {
      take_own(**payload);
      continue;
    }
    auto const what = wire::decode_routed(**payload);
    if (!what) throw bench_error{"a trunk got nonsense: " + what.error().text()};
    if (what->what == wire::routed::kind::content) deliver(what->route, what->content, take);
    if (what->what != wire::routed::kind::shared) continue;
    auto to = what->to;
    while (auto const one = wire::take_receiver(to)) {
      frame_.clear();
      wire::append_server_head(frame_, one->id, what->content.size());
      frame_ += what->content;
      deliver(one->route, frame_, take);
    }
  }
}

void trunk::take_own(std::string_view payload) {
  auto const message = wire::decode_server(payload);
  if (!message) throw bench_error{"a trunk got nonsense: " + message.error().text()};
  if (auto const* const bye = std::get_if<core::goodbye>(&message->what.value)) {
    throw bench_error{"a trunk got a goodbye: " + bye->why.text()};
  }
}

void trunk::deliver(std::uint32_t number, std::string_view bytes, taker const& take) {
  auto const found = routes_.find(number);
  if (found == routes_.end()) return;
  auto& to = found->second;
  to.unreported += bytes.size();
  if (to.unreported >= wire::route_room_max / 2) {
    auto const room = static_cast<std::uint32_t>(std::exchange(to.unreported, 0));
    wire::append_room(output_, number, room);
  }
  take(to.connection, bytes);
}

}  // namespace coxswain::bench
