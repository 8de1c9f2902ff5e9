#include "coxswain/status/routes.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/status/live_feed.hpp"

#include <array>

namespace coxswain::status_page {
namespace {

bool is_look(std::string_view method) { return method == "GET" || method == "HEAD"; }

// Whether the path covers all below it.
bool is_above(std::string_view path) { return path.size() > 1 && path.ends_with('/'); }

}  // namespace

std::span<routes::route const> routes::all() {
  using enum core::role;
  static constexpr std::array<route, 23> known{{
      {"/", false, true, reader, &routes::site},
      {"/livez", false, true, reader, &routes::livez},
      {"/readyz", false, true, reader, &routes::readyz},
      {"/healthz", false, true, reader, &routes::healthz},
      {"/metrics", false, false, reader, &routes::metrics, shown::running},
      {"/barrier/", false, false, reader, &routes::barrier},
      {"/api/v1/state", false, false, reader, &routes::state},
      {"/api/v1/tasks", false, false, reader, &routes::tasks},
      {"/api/v1/tasks/", false, false, reader, &routes::task},
      {"/api/v1/barriers", false, false, reader, &routes::barriers},
      {"/api/v1/why", false, false, reader, &routes::why},
      {"/api/v1/events", false, false, reader, &routes::events},
      {"/api/v1/keys", false, false, reader, &routes::keys},
      {"/api/v1/keys/", false, false, reader, &routes::key},
      {"/api/v1/role", false, false, reader, &routes::role},
      {"/api/v1/live", false, false, reader, &routes::live},
      {"/api/v1/moment", false, false, reader, &routes::moment, shown::recording},
      {"/api/v1/preempt", true, false, operator_, &routes::preempt, shown::running},
      {"/api/v1/cancel", true, false, operator_, &routes::cancel, shown::running},
      {"/api/v1/stacks", true, false, operator_, &routes::stacks, shown::running},
      {"/api/v1/stop", true, false, operator_, &routes::stop, shown::running},
      {"/api/v1/drain", true, false, operator_, &routes::drain, shown::running},
      {"/login", true, true, reader, &routes::login},
  }};
  return known;
}

http_answer routes::answer(time_point now, http_request const& asked) {
  picture_.renew(now);
  if (texts_.is_full() && !is_probe(asked.target)) {
    return refusal(
        {errc::unavailable, "Too many replies are waiting to be read by others; try again later."});
  }
  if (status why = gate_.checked_host(asked); !why.ok()) {
    auto wrong = refusal(why);
    wrong.code = 421;
    return wrong;
  }
  auto const at = target::parse(asked.target);
  if (!at) return refusal(at.error());
  auto const moment = at->query("at");
  if (!moment || !job_.recorded()) return answer_at(now, asked, *at);
  auto const since_start = duration_of(*moment);
  if (!since_start) return refusal(since_start.error());
  job_.go_to(*since_start);
  picture_.forget();
  auto made = answer_at(now, asked, *at);
  job_.go_to(std::nullopt);
  picture_.forget();
  return made;
}

http_answer routes::answer_at(time_point now, http_request const& asked, target const& at) {
  question q{now, asked, at, {}, {}};
  for (auto const& r : all()) {
    if (!has(r)) continue;
    bool const fits = is_above(r.path) ? at.path().starts_with(r.path) && at.path() != r.path
                                       : at.path() == r.path;
    if (!fits) continue;
    if (is_above(r.path)) q.name = at.path().substr(r.path.size());
    return route_to(r, q);
  }
  return not_found(at.path());
}

bool routes::has(route const& r) const {
  bool const is_recording = job_.recorded().has_value();
  return r.of == shown::any || (r.of == shown::recording) == is_recording;
}

http_answer routes::route_to(route const& r, question& q) {
  if (r.is_post ? q.asked.method != "POST" : !is_look(q.asked.method)) return not_allowed(r);
  if (r.is_post) {
    // A page of another origin can post texts and forms, but no JSON without being allowed to.
    auto const type = q.asked.content_type.substr(0, q.asked.content_type.find(';'));
    if (type != json_type) {
      auto wrong = refusal(
          {errc::invalid_argument, "What is posted must have the Content-Type application/json."});
      wrong.code = 415;
      return wrong;
    }
    if (status why = authenticator::checked_origin(q.asked); !why.ok()) return refusal(why);
  }
  if (!r.is_public) {
    auto const as = gate_.role_of(q.asked);
    if (!as) return refusal(as.error());
    q.as = job_.running() ? *as : core::role::reader;
    if (status why = core::permission(q.as, r.needed, "do this"); !why.ok()) return refusal(why);
  }
  return (this->*r.by)(q);
}

http_answer routes::refusal(status const& why) {
  http_answer a;
  a.code = http_code(why.code());
  a.body = texts_.share(error_json(why));
  if (why.code() == errc::unauthenticated) a.fields.emplace_back("WWW-Authenticate", "Bearer");
  return a;
}

http_answer routes::not_found(std::string const& path) {
  std::string text = "There is nothing at " + core::in_quotes(path) + ". There is";
  for (auto const& r : all()) {
    if (!has(r)) continue;
    text += r.path == all().front().path ? " " : ", ";
    text += std::string{r.is_post ? "POST " : ""} + std::string{r.path};
    if (is_above(r.path)) text += "NAME";
  }
  return refusal({errc::not_found, std::move(text)});
}

http_answer routes::not_allowed(route const& r) {
  std::string const allowed = r.is_post ? "POST" : "GET, HEAD";
  auto wrong = refusal({errc::unimplemented, std::string{r.path} + " takes " + allowed + " only."});
  wrong.code = 405;
  wrong.fields.emplace_back("Allow", allowed);
  return wrong;
}

http_answer routes::text_of(unsigned code, std::string text) {
  http_answer a;
  a.code = code;
  a.content_type = plain_type;
  a.body = texts_.share(std::move(text));
  return a;
}

http_answer routes::json_of(std::string text) {
  http_answer a;
  a.body = texts_.share(std::move(text));
  return a;
}

// For what must not be revoked by another coordinator.
http_answer routes::durably(http_answer made) {
  made.awaits_durability = true;
  return made;
}

status routes::may_watch(http_request const& asked) const {
  if (status why = gate_.checked_host(asked); !why.ok()) return why;
  if (status why = authenticator::checked_origin(asked); !why.ok()) return why;
  if (auto const as = gate_.role_of(asked); !as) return as.error();
  if (texts_.is_full())
    return {errc::unavailable, "Too many replies are waiting to be read by others."};
  return {};
}

http_answer routes::live(question const&) {
  auto wrong = refusal({errc::failed_precondition, "This is a WebSocket: request an upgrade."});
  wrong.code = 426;
  wrong.fields.emplace_back("Upgrade", "websocket");
  wrong.fields.emplace_back("Connection", "Upgrade");
  return wrong;
}

// What the feed of a running job begins with.
http_answer routes::moment(question const& q) {
  auto const events = job_.events(std::nullopt, core::severity::info, events_at_first);
  return json_of(whole_job(*picture_.look(q.now), *picture_.why(q.now), events, job_.address(),
                           job_.recorded()) +
                 "\n");
}

}  // namespace coxswain::status_page
