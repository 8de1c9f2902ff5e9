#include "coxswain/server/recording/settings.hpp"

#include "coxswain/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace coxswain::server {
namespace {

// Visits each option with its name, to be read or to be written.
template <class Config, class Visit>
void visit_options(Config& o, Visit visit) {
  visit("job", o.job);
  visit("num_tasks", o.num_tasks);
  visit("attempt", o.attempt);
  visit("credentials", o.credentials);
  visit("version", o.version);
  visit("heartbeat_timeout_ns", o.heartbeat_timeout);
  visit("reconnect_grace_ns", o.reconnect_grace);
  visit("reports_ends", o.reports_ends);
  visit("coordinator_return_ns", o.coordinator_return);
  visit("restart_grace_ns", o.restart_grace);
  visit("hosted_by_task", o.hosted_by_task);
  visit("hello_timeout_ns", o.hello_timeout);
  visit("stalled_reader_timeout_ns", o.stalled_reader_timeout);
  visit("join_barrier", o.join_barrier);
  visit("join_timeout_max_ns", o.join_timeout_max);
  visit("leave_barrier", o.leave_barrier);
  visit("leave_timeout_max_ns", o.leave_timeout_max);
  visit("leave_together", o.leave_together);
  visit("return_timeout_ns", o.return_timeout);
  visit("recoverable", o.recoverable);
  visit("waiting_log_period_ns", o.waiting_log_period);
  visit("progress_timeout_ns", o.progress_timeout);
  visit("fail_without_progress", o.fail_without_progress);
  visit("preemption_lead_ns", o.preemption_lead);
  visit("preemption_timeout_ns", o.preemption_timeout);
  visit("key_bytes_max", o.key_bytes_max);
  visit("value_bytes_max", o.value_bytes_max);
  visit("label_bytes_max", o.label_bytes_max);
  visit("error_bytes_max", o.error_bytes_max);
  visit("gather_bytes_max", o.gather_bytes_max);
  visit("memory_bytes_max", o.memory_bytes_max);
  visit("open_requests_max", o.open_requests_max);
  visit("open_requests_max_per_task", o.open_requests_max_per_task);
  visit("open_requests_max_per_reader", o.open_requests_max_per_reader);
  visit("owed_outcomes_max", o.owed_outcomes_max);
  visit("topology_platforms_max", o.topology_platforms_max);
  visit("idle_barriers_max", o.idle_barriers_max);
  visit("keys_per_call_max", o.keys_per_call_max);
  visit("keys_per_reader_call_max", o.keys_per_reader_call_max);
  visit("events_max", o.events_max);
  visit("event_bytes_max", o.event_bytes_max);
  visit("events_alike_max", o.events_alike_max);
  visit("changes_max", o.changes_max);
  visit("change_bytes_max", o.change_bytes_max);
  visit("changes_per_answer_max", o.changes_per_answer_max);
  visit("change_bytes_per_answer_max", o.change_bytes_per_answer_max);
  visit("changes_looked_at_max", o.changes_looked_at_max);
  visit("page_entries_max", o.page_entries_max);
  visit("participants_per_picture_max", o.participants_per_picture_max);
  visit("page_bytes_max", o.page_bytes_max);
}

std::string text_of(std::string const& value) { return value; }
std::string text_of(time_limit value) { return std::to_string(value.count()); }
template <class Number>
std::string text_of(std::optional<Number> value) {
  return value ? std::to_string(*value) : "";
}
std::string text_of(std::vector<core::credential> const& value) { return recorded(value); }
template <class Number>
std::string text_of(Number value) {
  return std::to_string(value);
}

template <class Number>
bool read(std::string const& text, Number& into) {
  auto const end = text.data() + text.size();
  auto const [at, problem] = std::from_chars(text.data(), end, into);
  return problem == std::errc{} && at == end;
}
bool read(std::string const& text, std::string& into) {
  into = text;
  return true;
}
bool read(std::string const& text, std::vector<core::credential>& into) {
  auto all = recorded_credentials(text);
  if (all) into = *std::move(all);
  return all.has_value();
}
bool read(std::string const& text, bool& into) {
  into = text == "1";
  return into || text == "0";
}
bool read(std::string const& text, time_limit& into) {
  duration::rep count{};
  if (!read(text, count)) return false;
  into = duration{count};
  return true;
}
template <class Number>
bool read(std::string const& text, std::optional<Number>& into) {
  if (text.empty()) return true;
  return read(text, into.emplace());
}

}  // namespace

std::string recorded_token(std::size_t index) { return "token-" + std::to_string(index + 1); }

// "reader token-1, worker token-2"
std::string recorded(std::vector<core::credential> const& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::string{name(all[i].as)} + ' ' + recorded_token(i);
  }
  return text;
}

std::optional<std::vector<core::credential>> recorded_credentials(std::string const& text) {
  std::vector<core::credential> all;
  for (std::string_view rest = text; !rest.empty();) {
    auto const one = rest.substr(0, rest.find(','));
    auto const space = one.find(' ');
    auto const as = core::role_named(one.substr(0, space));
    if (!as || space == std::string_view::npos) return std::nullopt;
    all.push_back({*as, std::string{one.substr(space + 1)}});
    rest.remove_prefix(std::min(rest.size(), one.size() + std::string_view{", "}.size()));
  }
  return all;
}

settings settings_of(core::config const& o) {
  settings all;
  visit_options(
      o, [&all](auto const* name, auto const& value) { all.emplace_back(name, text_of(value)); });
  return all;
}

core::config config_of(settings const& from) {
  core::config o;
  for (auto const& [given_name, given] : from) {
    visit_options(o, [&given_name = given_name, &given = given](std::string_view name,
                                                                auto& value) {
      if (name != given_name || read(given, value)) return;
      throw error{{errc::invalid_argument, "The option " + given_name + " of the recording is '" +
                                               given + "', which is not a valid value."}};
    });
  }
  return o;
}

core::config config_of(wire::recording_head const& from) {
  auto made = config_of(from.settings);
  made.started = from.started;
  return made;
}

}  // namespace coxswain::server
