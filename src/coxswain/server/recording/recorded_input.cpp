#include "coxswain/server/recording/recorded_input.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/server/recording/settings.hpp"
#include "coxswain/wire/codec.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::server {
namespace {

error malformed(char const* what) { return error{{errc::invalid_argument, what}}; }

task_id task_of(wire::record const& input) {
  return task_id{static_cast<std::uint32_t>(input.number)};
}

core::owner_input preemption(wire::record const& input) {
  duration::rep nanoseconds{};
  auto const* const end = input.content.data() + input.content.size();
  if (std::from_chars(input.content.data(), end, nanoseconds).ptr != end) {
    throw malformed("A preemption of the recording has no time.");
  }
  return core::preempt_args{task_of(input), duration{nanoseconds}};
}

core::owner_input restart(wire::record const& input) {
  core::restarted what{duration{static_cast<duration::rep>(input.number)}};
  if (input.content.empty()) return what;
  auto const* const end = input.content.data() + input.content.size();
  if (std::from_chars(input.content.data(), end, what.term.emplace()).ptr != end) {
    throw malformed("A restart of the recording has no valid term.");
  }
  return what;
}

core::owner_input cancellation(wire::record const& input) {
  auto const end = input.content.find('\0');
  if (end == input.content.npos) {
    throw malformed("A cancelled round of the recording has no barrier.");
  }
  core::cancel_barrier_args what;
  what.name = input.content.substr(0, end);
  if (input.number > 0) what.round = round_number{input.number};
  return core::round_cancelled{std::move(what), std::string{input.content.substr(end + 1)}};
}

core::owner_input job_end(wire::record const& input) {
  auto const end = input.content.find('\0');
  bool const is_known = input.number <= static_cast<std::uint64_t>(core::job_end::drain);
  if (end == input.content.npos || !is_known) {
    throw malformed("An end of the job of the recording does not say by whom, or how.");
  }
  return core::job_ended{
      {static_cast<core::job_end>(input.number), std::string{input.content.substr(end + 1)}},
      std::string{input.content.substr(0, end)}};
}

core::owner_input request(wire::record const& input) {
  auto message = wire::decode_client(input.content);
  if (!message) throw error{message.error()};
  if (std::holds_alternative<core::why_args>(message->what)) return core::why_args{};
  if (auto* const stacks = std::get_if<core::stacks_args>(&message->what)) return *stacks;
  if (auto* const stack = std::get_if<core::report_stack_args>(&message->what)) {
    return std::move(*stack);
  }
  throw malformed("The recording has a request that its owner cannot make.");
}

core::owner_input credentials(std::string const& text) {
  auto all = recorded_credentials(text);
  if (all) return core::credentials_replaced{*std::move(all)};
  throw malformed("The recording replaces tokens by what is none.");
}

}  // namespace

void put_in(core::coordinator& into, time_point now, wire::record const& input) {
  using kind = wire::record_kind;
  std::string content{input.content};
  auto const from = input.connection;
  // The outcome was for the owner.
  auto const put = [&](core::owner_input what) {
    static_cast<void>(into.put_in(now, std::move(what)));
  };
  switch (input.kind) {
    case kind::event:
    case kind::sent: return;
    case kind::connected:
      if (into.connected(now, std::move(content), input.secret.value_or(core::session_secret{})) ==
          from) {
        return;
      }
      throw malformed("The recording is of a coordinator that numbers connections in another way.");
    case kind::message: {
      auto message = wire::decode_client(input.content);
      if (!message) throw error{message.error()};
      if (auto* const stores = std::get_if<core::put_args>(&message->what);
          stores && input.number != 0) {
        if (input.number > wire::message_bytes_max) throw malformed("A value is too large.");
        stores->value.assign(input.number, '\0');
      }
      return into.received(now, from, *std::move(message));
    }
    case kind::heard: return into.heard(now, from);
    case kind::malformed: return into.malformed(now, from, std::move(content));
    case kind::closed: return into.lost(now, from, core::loss::closed);
    case kind::unreachable: return into.lost(now, from, core::loss::unreachable);
    case kind::exited: return into.lost(now, from, core::loss::exited);
    case kind::trunk_closed: return into.lost(now, from, core::loss::trunk_closed);
    case kind::vouched: return into.vouched(now, from);
    case kind::write_blocked: return into.write_blocked(now, from);
    case kind::write_progressed: return into.write_progressed(now, from);
    case kind::task_ended:
      return put(core::process_ended{task_of(input), {input.code, std::move(content)}});
    case kind::stopped: return put(core::stopped{std::move(content)});
    case kind::advanced: return into.advance(now);
    case kind::reading_paused: return into.reading_paused(now, from);
    case kind::reading_resumed: return into.reading_resumed(now, from);
    case kind::preempted: return put(preemption(input));
    case kind::credentials_replaced: return put(credentials(content));
    case kind::round_cancelled: return put(cancellation(input));
    case kind::suspended: return put(core::suspended{std::move(content)});
    case kind::storing_refused: return put(core::storing_refused{std::move(content)});
    case kind::restarted: return put(restart(input));
    case kind::job_ended: return put(job_end(input));
    case kind::owner_request: return put(request(input));
  }
}

}  // namespace coxswain::server
