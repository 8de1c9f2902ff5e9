// The read-only routes.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/status/json.hpp"
#include "coxswain/status/metrics.hpp"
#include "coxswain/status/process_usage.hpp"
#include "coxswain/status/routes.hpp"
#include "coxswain/status/site.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace coxswain::status_page {
namespace {

constexpr std::uint64_t keys_listed = 1'000;
constexpr std::uint64_t keys_listed_max = 10'000;
constexpr std::uint64_t events_last_max = 1'000'000;

// The values that one answer shows. A single one that is longer is left out.
constexpr std::size_t value_bytes_shown_max = 1024 * 1024;

// INVALID_ARGUMENT: it is no number, or above `most`.
result<std::uint64_t> number_of(std::string_view text, std::string_view what, std::uint64_t most) {
  std::uint64_t number{};
  auto const* const end = text.data() + text.size();
  auto const [parsed, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc{} && parsed == end && number <= most) return number;
  return status{errc::invalid_argument, std::string{what} + " is " + core::in_quotes(text) +
                                            ", not a number from 0 to " + std::to_string(most)};
}

// "never connected" is also written with an underscore.
std::optional<task_state> state_named(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  for (auto const s : {task_state::never_connected, task_state::joining, task_state::connected,
                       task_state::failed, task_state::left, task_state::returning}) {
    if (name(s) == text) return s;
  }
  return std::nullopt;
}

std::string tasks_json(core::snapshot const& job, std::optional<task_state> only) {
  json::array tasks;
  for (auto const& t : job.tasks) {
    if (!only || t.state == *only) tasks.push_back(object_of(t));
  }
  return serialized(json::object{{"tasks", std::move(tasks)}}) + "\n";
}

void add_value(json::object& to, bytes const& value) {
  if (value.size() > value_bytes_shown_max) {
    to["value"] = nullptr;
    to["value_too_long"] = true;
  } else {
    add_bytes(to, "value", value.view());
  }
}

json::object key_object(std::string const& key, std::uint64_t version, bytes const& value) {
  return json::object{{"key", key}, {"version", version}, {"bytes", value.size()}};
}

}  // namespace

// Public: it requests its data itself, with a token if needed.
http_answer routes::site(question const&) {
  auto a = text_of(200, std::string{status_page::site()});
  a.content_type = "text/html; charset=utf-8";
  a.fields.emplace_back("Content-Security-Policy", site_policy());
  return a;
}

// An answer shows that the loop turns.
http_answer routes::livez(question const& q) { return health_of(q, true, false); }
http_answer routes::readyz(question const& q) { return health_of(q, false, true); }
http_answer routes::healthz(question const& q) { return health_of(q, true, true); }

// Only a reader learns the details.
std::string routes::leader_text(question const& q) {
  auto const& leader = picture_.look(q.now)->leader;
  if (!leader) return {};
  if (!gate_.role_of(q.asked)) return "[+]leads the job\n";
  return "[+]leads the job: " + leader->address + ", term " + std::to_string(leader->term) +
         ", lag " + std::to_string(leader->lag_entries) + " entries, " +
         core::in_words(leader->lag) + "\n";
}

// The job's trouble is no reason to restart its coordinator, so the answer is 200 all the same.
// Only a reader learns the details.
std::string routes::job_health(question const& q) {
  auto const job = picture_.look(q.now);
  using kind = core::job_state::kind;
  auto const what = job->state.what;
  bool const is_trouble =
      what == kind::failed || what == kind::deadlock || what == kind::waiting || what == kind::slow;
  return (is_trouble ? "[!]job '" : "[+]job '") + job->job + "' " +
         (gate_.role_of(q.asked) ? job->state.headline : std::string{name_of(what)}) + "\n";
}

http_answer routes::health_of(question const& q, bool asks_loop, bool asks_job) {
  auto const* const running = job_.running();
  bool const asks_server = asks_job && running != nullptr;
  bool const is_open = !asks_server || running->is_serving();
  status const journal = asks_server ? running->journal_health() : status{};
  bool const is_fine = is_open && journal.ok();
  std::string text;
  if (q.at.query("verbose")) {
    if (asks_loop) text += "[+]loop ok\n";
    if (asks_job) {
      text += is_open ? "[+]listeners ok\n[+]not stopping ok\n"
                      : "[-]listeners failed: they are closed\n[-]not stopping failed: the "
                        "coordinator stops or has not begun\n";
      text += journal.ok() ? "[+]journal ok\n" : "[-]journal failed: " + journal.message() + "\n";
      text += leader_text(q);
    }
    if (asks_loop && asks_job) text += job_health(q);
    text += q.at.path().substr(1) + (is_fine ? " check passed\n" : " check failed\n");
  } else {
    text = is_fine   ? "ok\n"
           : is_open ? "the journal: " + journal.message() + "\n"
                     : "the coordinator accepts no connections\n";
  }
  return text_of(is_fine ? 200 : 503, std::move(text));
}

http_answer routes::state(question const& q) {
  http_answer a;
  a.body = picture_.text(q.now, "state", [&] { return status_json(*picture_.look(q.now)) + "\n"; });
  return a;
}

http_answer routes::metrics(question const& q) {
  http_answer a;
  a.content_type = metrics_type;
  a.body = picture_.text(q.now, "metrics", [&] {
    return status_page::metrics(job_.running()->statistics(), *picture_.look(q.now),
                                usage_of_this_process());
  });
  return a;
}

http_answer routes::tasks(question const& q) {
  std::optional<task_state> only;
  if (auto const wanted = q.at.query("state")) {
    only = state_named(*wanted);
    if (!only) {
      return refusal({errc::invalid_argument,
                      "There is no state " + core::in_quotes(*wanted) +
                          "; there are never_connected, joining, connected, failed, left and "
                          "returning"});
    }
  }
  http_answer a;
  a.body = picture_.text(q.now, "tasks " + std::string{only ? name(*only) : ""},
                         [&] { return tasks_json(*picture_.look(q.now), only); });
  return a;
}

http_answer routes::task(question const& q) {
  auto const job = picture_.look(q.now);
  auto const number = number_of(q.name, "The task", job->tasks.size() - 1);
  if (!number) return refusal({errc::not_found, number.error().message()});
  return json_of(serialized(object_of(job->tasks[*number])) + "\n");
}

http_answer routes::barriers(question const& q) {
  http_answer a;
  a.body = picture_.text(q.now, "barriers", [&] {
    json::array open;
    for (auto const& b : picture_.look(q.now)->barriers) open.push_back(object_of(b));
    return serialized(json::object{{"barriers", std::move(open)}}) + "\n";
  });
  return a;
}

http_answer routes::why(question const& q) {
  http_answer a;
  a.body = picture_.text(q.now, "why", [&] { return why_json(*picture_.why(q.now)) + "\n"; });
  return a;
}

http_answer routes::events(question const& q) {
  std::optional<std::uint64_t> after;
  if (auto const wanted = q.at.query("after")) {
    auto const number = number_of(*wanted, "The parameter after", job_.last_event());
    if (!number) return refusal(number.error());
    after = *number;
  }
  auto const level = severity_named(q.at.query("severity").value_or("info"));
  if (!level) {
    return refusal({errc::invalid_argument, "A severity is info, warning or error"});
  }
  auto const last =
      number_of(q.at.query("last").value_or("0"), "The parameter last", events_last_max);
  if (!last) return refusal(last.error());
  auto const found = job_.events(after, *level, *last);
  json::array entries;
  for (auto const& e : found.entries) entries.push_back(object_of(e));
  json::object const all{
      {"events", std::move(entries)}, {"through", found.through}, {"lost", found.lost}};
  return json_of(serialized(all) + "\n");
}

http_answer routes::role(question const& q) {
  return json_of(serialized(json::object{{"role", name(q.as)}}) + "\n");
}

http_answer routes::keys(question const& q) {
  auto const limit = number_of(q.at.query("limit").value_or(std::to_string(keys_listed)),
                               "The parameter limit", keys_listed_max);
  if (!limit) return refusal(limit.error());
  bool const with_values = q.at.query("values") == "1" && job_.running();
  auto const found =
      job_.keys(q.at.query("prefix").value_or(""), q.at.query("after").value_or(""), *limit + 1);
  json::array keys;
  std::size_t shown = 0;
  for (auto const& e : found.entries) {
    if (keys.size() == *limit || (with_values && shown > value_bytes_shown_max)) break;
    auto object = key_object(e.key, e.version, e.value);
    if (with_values) add_value(object, e.value);
    if (e.value.size() <= value_bytes_shown_max) shown += e.value.size();
    keys.push_back(std::move(object));
  }
  bool const has_more = keys.size() < found.entries.size();
  json::object const all{{"keys", std::move(keys)}, {"version", found.version}, {"more", has_more}};
  return json_of(serialized(all) + "\n");
}

http_answer routes::key(question const& q) {
  auto const found = job_.value(q.name);
  if (!found) return refusal(found.error());
  auto object = key_object(q.name, found->version, found->value);
  add_value(object, found->value);
  return json_of(serialized(object) + "\n");
}

http_answer routes::barrier(question const& q) {
  auto const all = job_.history(q.name);
  auto const barrier = "barrier " + core::in_quotes(q.name);
  if (all.passed.value > 0) {
    return durably(
        text_of(200, barrier + " was passed: round " + std::to_string(all.passed.value) + "\n"));
  }
  if (all.open.value > 0) {
    return text_of(503, barrier + " was not passed yet: " + all.missing + "\n");
  }
  return text_of(503, barrier + " was not passed yet: no task has come\n");
}

}  // namespace coxswain::status_page
