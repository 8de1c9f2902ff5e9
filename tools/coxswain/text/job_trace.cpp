#include "text/job_trace.hpp"

#include "text/json.hpp"

#include "coxswain/base/wall_time.hpp"
#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/wire/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

namespace coxswain::tools {
namespace {

// Behind all tasks.
constexpr std::uint32_t others_index = 1'000'000'000;

std::string quoted_json(std::string_view text) { return serialized(json::value(text)); }

// Microseconds, as trace events count.
std::string trace_time(duration at) {
  return fmt::format("{}.{:03}", at.count() / 1'000, at.count() % 1'000);
}

template <class Args>
constexpr bool is_meeting =
    std::is_same_v<Args, core::barrier_args> || std::is_same_v<Args, core::count_barrier_args> ||
    std::is_same_v<Args, core::join_args> || std::is_same_v<Args, core::leave_args> ||
    std::is_same_v<Args, core::next_epoch_args> ||
    std::is_same_v<Args, core::exchange_topology_args>;

bool meets(core::request const& what) {
  return std::visit([]<class Args>(Args const&) { return is_meeting<Args>; }, what);
}

// Whether a call that waits is worth a slice; a watch waits all the time.
bool is_shown(core::request const& what) {
  return std::visit(
      []<class Args>(Args const&) {
        return core::is_numbered<Args> && !core::operation_of<Args>.is(core::trait::watches);
      },
      what);
}

template <class Args>
bool holds(core::client_message const& message) {
  return std::holds_alternative<Args>(message.what);
}

}  // namespace

job_trace::job_trace(std::function<void(std::string_view)> write, wire::recording_head const& head)
    : write_{std::move(write)} {
  std::string job;
  for (auto const& [name, value] : head.settings) {
    if (name == "job") job = value;
  }
  write_(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"started":{}}},"traceEvents":[)",
                     quoted_json(rfc3339(head.started))));
  write_event(fmt::format(R"("ph":"M","name":"process_name","args":{{"name":{}}})",
                          quoted_json("job " + job)));
}

void job_trace::add(wire::record const& input, server::replay const& after) {
  using kind = wire::record_kind;
  switch (input.kind) {
    case kind::connected: {
      auto made = std::make_shared<session>();
      made->number = ++sessions_seen_;
      connections_[input.connection] = std::move(made);
      break;
    }
    case kind::message: received(input); break;
    case kind::closed:
    case kind::unreachable:
    case kind::exited:
    case kind::trunk_closed: disconnect(input.connection); break;
    default: break;
  }
  for (auto const& message : after.sent()) sent(input.at, message);
  // The slices that they connect are written.
  for (auto const& [from, to] : std::exchange(flows_, {})) write_flow(from, to.track, to.at);
  for (auto const& what : after.events()) reported(input.at, what);
}

// A session without a task or a call is not remembered.
void job_trace::disconnect(connection_id from) {
  auto const found = connections_.find(from);
  if (found == connections_.end()) return;
  auto const& gone = *found->second;
  if (!gone.task && gone.open.empty()) sessions_.erase(gone.id);
  connections_.erase(found);
}

void job_trace::received(wire::record const& input) {
  auto const found = connections_.find(input.connection);
  auto const message = wire::decode_client(input.content);
  if (found == connections_.end() || !message) return;
  if (auto const* const again = std::get_if<core::resume_args>(&message->what)) {
    auto const known = sessions_.find(again->session);
    if (known != sessions_.end()) found->second = known->second;
    return;
  }
  auto& by = *found->second;
  if (auto const* const hello = std::get_if<core::hello_args>(&message->what)) {
    if (hello->acts_for) by.task = hello->acts_for->task;
    return;
  }
  if (holds<core::join_args>(*message)) by.task = message->task;
  if (holds<core::leave_args>(*message) || holds<core::next_epoch_args>(*message)) {
    end_epoch(input.at, owners_[by.task]);
  }
  if (is_shown(message->what)) open(input.at, by, *message);
}

void job_trace::open(duration at, session& by, core::client_message const& message) {
  auto const whose = message.task ? owner{message.task} : by.task;
  auto& of = owners_[whose];
  call made{detail::text_of(message.what), at, free_lane(whose, of), meets(message.what)};
  if (made.meets) {
    auto& where = meetings_[made.name];
    ++where.open;
    where.last = {of.tracks[made.lane], at};
  }
  by.open[message.id] = whose;
  of.calls.emplace(call_key{by.number, message.id}, std::move(made));
}

void job_trace::sent(duration at, core::outgoing const& message) {
  auto const found = connections_.find(message.to);
  if (found == connections_.end()) return;
  auto const to = found->second;
  auto const* const hello = std::get_if<boxed<core::hello_answer>>(&message.what->value);
  if (hello != nullptr) {
    to->id = (*hello)->session;
    sessions_[to->id] = to;
  }
  if (message.in_reply_to != request_id{}) reply(at, *to, message);
}

void job_trace::reply(duration at, session& to, core::outgoing const& message) {
  auto const asked = to.open.find(message.in_reply_to);
  if (asked == to.open.end()) return;
  auto& of = owners_[asked->second];
  to.open.erase(asked);
  auto const which = of.calls.find({to.number, message.in_reply_to});
  if (which != of.calls.end()) {
    auto const& outcome = message.what->outcome;
    end(at, of, which, message.what.get(), outcome.ok() ? "" : name(outcome.code()));
  }
  if (auto const* const joined = std::get_if<core::join_answer>(&message.what->value)) {
    if (joined->task) to.task = joined->task;
    if (joined->epoch) begin_epoch(at, to, *joined->epoch);
  }
  if (auto const* const next = std::get_if<core::epoch_answer>(&message.what->value)) {
    begin_epoch(at, to, *next);
  }
}

// The calls of a task that is gone are not answered.
void job_trace::reported(duration at, core::event const& what) {
  bool const is_gone = what.kind == core::event_kind::failed || what.kind == core::event_kind::left;
  auto const found = what.task ? owners_.find(what.task) : owners_.end();
  if (is_gone && found != owners_.end()) {
    end_all(at, found->second, what.kind == core::event_kind::failed ? "task failed" : "");
  }
  if (what.level == core::severity::info) return;
  bool const has_track = found != owners_.end() && !found->second.tracks.empty();
  auto const scope =
      has_track ? fmt::format(R"("s":"t","tid":{})", found->second.tracks.front()) : R"("s":"g")";
  write_event(fmt::format(R"("ph":"i",{},"ts":{},"name":{})", scope, trace_time(at),
                          quoted_json(what.text)));
}

void job_trace::end_all(duration at, lanes& of, std::string_view outcome) {
  while (!of.calls.empty()) end(at, of, of.calls.begin(), nullptr, outcome);
  end_epoch(at, of);
}

void job_trace::end(duration at, lanes& of, std::map<call_key, call>::iterator which,
                    core::answer const* with, std::string_view outcome) {
  auto const ended = std::move(which->second);
  of.calls.erase(which);
  of.busy[ended.lane] = false;
  arrival const here{of.tracks[ended.lane], ended.since};
  bool is_last = false;
  if (ended.meets) {
    auto const where = meetings_.find(ended.name);
    bool const is_passed = with != nullptr && outcome.empty();
    is_last = is_passed && where->second.last == here;
    if (is_passed && !is_last) flows_.push_back({where->second.last, {here.track, at}});
    if (--where->second.open == 0) meetings_.erase(where);
  } else if (at == ended.since) {
    return;  // it did not wait
  }
  std::string arguments;
  if (is_last) arguments += R"(,"last":1)";
  if (!outcome.empty()) arguments += fmt::format(R"(,"outcome":{})", quoted_json(outcome));
  if (with != nullptr) {
    if (auto const* const passed = std::get_if<core::barrier_answer>(&with->value)) {
      arguments += fmt::format(R"(,"round":{})", passed->round.value);
    }
  }
  if (!arguments.empty()) arguments.erase(0, 1);
  write_slice(here.track, ended.name, ended.since, at, arguments);
}

void job_trace::begin_epoch(duration at, session& of, core::epoch_answer const& which) {
  of.task = which.rank;
  auto& mine = owners_[of.task];
  end_epoch(at, mine);
  if (mine.tracks.empty()) mine.busy[free_lane(of.task, mine)] = false;
  mine.in = epoch{which.number, which.size, at};
}

void job_trace::end_epoch(duration at, lanes& of) {
  if (!of.in) return;
  auto const ended = *std::exchange(of.in, std::nullopt);
  write_slice(of.tracks.front(), fmt::format("epoch {}", ended.number), ended.since, at,
              fmt::format(R"("tasks":{})", ended.size));
}

std::size_t job_trace::free_lane(owner whose, lanes& of) {
  auto const free = std::find(of.busy.begin(), of.busy.end(), false);
  auto const lane = static_cast<std::size_t>(free - of.busy.begin());
  if (free != of.busy.end()) {
    *free = true;
    return lane;
  }
  of.busy.push_back(true);
  of.tracks.push_back(++tracks_);
  auto title = whose ? fmt::format("task {}", whose->value) : std::string{"others"};
  if (lane > 0) title += fmt::format(" ({})", lane + 1);
  write_event(fmt::format(R"("ph":"M","tid":{},"name":"thread_name","args":{{"name":{}}})", tracks_,
                          quoted_json(title)));
  // In the order of the tasks.
  write_event(
      fmt::format(R"("ph":"M","tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}})",
                  tracks_, whose ? whose->value : others_index));
  return lane;
}

void job_trace::finish(duration at) {
  for (auto& [whose, of] : owners_) end_all(at, of, "unanswered");
  write_("\n]}\n");
}

void job_trace::write_slice(std::uint64_t track, std::string_view name, duration since,
                            duration until, std::string_view arguments) {
  write_event(fmt::format(R"("ph":"X","tid":{},"ts":{},"dur":{},"name":{},"args":{{{}}})", track,
                          trace_time(since), trace_time(until - since), quoted_json(name),
                          arguments));
}

void job_trace::write_flow(arrival const& from, std::uint64_t track, duration at) {
  auto const id = ++flows_written_;
  write_event(fmt::format(R"("ph":"s","id":{},"cat":"released","name":"released","tid":{},"ts":{})",
                          id, from.track, trace_time(from.at)));
  write_event(fmt::format(
      R"("ph":"f","bp":"e","id":{},"cat":"released","name":"released","tid":{},"ts":{})", id, track,
      trace_time(at)));
}

void job_trace::write_event(std::string_view members) {
  write_(fmt::format("{}\n{{\"pid\":1,{}}}", is_first_ ? "" : ",", members));
  is_first_ = false;
}

}  // namespace coxswain::tools
