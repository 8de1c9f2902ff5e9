#pragma once
// The response to each request. Reads are answered from `job_picture` and the functions of
// `server::server` that change nothing, so they are not recorded. Actions are inputs of the
// server's owner (`core::owner_input`), as when `coxswain run` reports that a process has ended:
// they are recorded as inputs of the core, and replayed. A session inside the process would need a
// handshake, heartbeats and acknowledgements, for two requests with immediate replies.
//
// Does no I/O. Not here: authentication (authenticator), HTTP's bytes (http_connection).

#include "coxswain/status/authenticator.hpp"
#include "coxswain/status/http.hpp"
#include "coxswain/status/job_picture.hpp"
#include "coxswain/status/source/job_source.hpp"
#include "coxswain/status/target.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coxswain::status_page {

class routes {
 public:
  // All must outlive it.
  routes(job_source& job, authenticator& gate, job_picture& picture, text_pool& texts)
      : job_{job}, gate_{gate}, picture_{picture}, texts_{texts} {}

  [[nodiscard]] http_answer answer(time_point now, http_request const& asked);

  // The response instead of the feed: OK if the feed is allowed.
  [[nodiscard]] status may_watch(http_request const& asked) const;
  [[nodiscard]] http_answer refusal(status const& why);

 private:
  // An authorized request.
  struct question {
    time_point now;
    http_request const& asked;
    target const& at;
    std::string name;  // what follows the route's path
    core::role as{};
  };
  using reply = http_answer (routes::*)(question const&);

  // Of what a path is one.
  enum class shown : std::uint8_t { any, running, recording };

  // A path that ends in a slash covers all below it, except the page's.
  struct route {
    std::string_view path;
    bool is_post{};
    bool is_public{};
    core::role needed{};
    reply by{};
    shown of{shown::any};
  };
  static std::span<route const> all();

  [[nodiscard]] bool has(route const& r) const;
  [[nodiscard]] http_answer answer_at(time_point now, http_request const& asked, target const& at);
  [[nodiscard]] http_answer route_to(route const& r, question& q);
  [[nodiscard]] http_answer not_found(std::string const& path);
  [[nodiscard]] http_answer not_allowed(route const& r);
  [[nodiscard]] http_answer text_of(unsigned code, std::string text);
  [[nodiscard]] http_answer json_of(std::string text);
  [[nodiscard]] static http_answer durably(http_answer made);
  [[nodiscard]] http_answer health_of(question const& q, bool asks_loop, bool asks_job);
  [[nodiscard]] std::string job_health(question const& q);
  [[nodiscard]] std::string leader_text(question const& q);

  http_answer site(question const& q);
  http_answer livez(question const& q);
  http_answer readyz(question const& q);
  http_answer healthz(question const& q);
  http_answer metrics(question const& q);
  http_answer state(question const& q);
  http_answer tasks(question const& q);
  http_answer task(question const& q);
  http_answer barriers(question const& q);
  http_answer why(question const& q);
  http_answer events(question const& q);
  http_answer keys(question const& q);
  http_answer key(question const& q);
  http_answer barrier(question const& q);
  http_answer role(question const& q);
  http_answer live(question const& q);
  http_answer moment(question const& q);
  http_answer preempt(question const& q);
  http_answer cancel(question const& q);
  http_answer stacks(question const& q);
  http_answer stop(question const& q);
  http_answer drain(question const& q);
  http_answer login(question const& q);

  job_source& job_;
  authenticator& gate_;
  job_picture& picture_;
  text_pool& texts_;
};

}  // namespace coxswain::status_page
