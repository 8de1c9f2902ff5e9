// The routes that change the job.

#include "coxswain/server/entropy.hpp"
#include "coxswain/status/json.hpp"
#include "coxswain/status/routes.hpp"

#include <boost/json/parse.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace coxswain::status_page {
namespace {

constexpr std::size_t nesting_max = 8;

// INVALID_ARGUMENT: it is no JSON object.
result<json::object> object_in(std::string const& body) {
  json::parse_options how;
  how.max_depth = nesting_max;
  boost::system::error_code problem;
  auto parsed = json::parse(body, problem, {}, how);
  if (!problem && parsed.is_object()) return std::move(parsed.as_object());
  return status{errc::invalid_argument,
                "What is posted must be a JSON object" +
                    (problem ? ": " + problem.message() : std::string{"."})};
}

// INVALID_ARGUMENT: it has no such number.
result<std::uint32_t> task_in(json::object const& given) {
  auto const* const task = given.if_contains("task");
  if (task != nullptr && task->is_int64() && task->get_int64() >= 0 &&
      task->get_int64() <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(task->get_int64());
  }
  return status{errc::invalid_argument,
                R"("task" must be a task's number: {"task": 3, "in": "10m"})"};
}

// INVALID_ARGUMENT: it has no such text.
result<std::string> text_in(json::object const& given, std::string_view name) {
  auto const* const text = given.if_contains(name);
  if (text != nullptr && text->is_string()) return std::string{text->get_string()};
  return status{errc::invalid_argument, '"' + std::string{name} + "\" must be a text"};
}

// INVALID_ARGUMENT: it is no JSON object, or its reason is no text.
result<core::job_ended> end_in(http_request const& asked, core::job_end how) {
  auto const given = object_in(asked.body);
  if (!given) return given.error();
  core::job_ended end{{how, {}}, asked.peer + ", over HTTP"};
  if (!given->contains("reason")) return end;
  auto reason = text_in(*given, "reason");
  if (!reason) return reason.error();
  end.what.reason = *std::move(reason);
  return end;
}

}  // namespace

http_answer routes::preempt(question const& q) {
  auto const given = object_in(q.asked.body);
  if (!given) return refusal(given.error());
  auto const task = task_in(*given);
  if (!task) return refusal(task.error());
  auto const time = text_in(*given, "in");
  if (!time) return refusal(time.error());
  auto const in = duration_of(*time);
  if (!in) return refusal(in.error());
  if (status why = job_.running()->put_in(core::preempt_args{task_id{*task}, *in}); !why.ok())
    return refusal(why);
  json::object const done{{"task", *task}, {"in_ms", milliseconds_of(*in)}};
  return durably(json_of(serialized(done) + "\n"));
}

http_answer routes::cancel(question const& q) {
  auto const given = object_in(q.asked.body);
  if (!given) return refusal(given.error());
  auto const barrier = text_in(*given, "barrier");
  if (!barrier) return refusal(barrier.error());
  core::cancel_barrier_args what{*barrier, {}};
  if (auto const* const round = given->if_contains("round")) {
    if (!round->is_int64() || round->get_int64() < 1) {
      return refusal({errc::invalid_argument,
                      R"("round" must be a round's number: {"barrier": "step", "round": 3})"});
    }
    what.round = round_number{static_cast<std::uint64_t>(round->get_int64())};
  }
  auto const by = q.asked.peer + " over HTTP";
  if (status why = job_.running()->put_in(core::round_cancelled{what, by}); !why.ok())
    return refusal(why);
  return durably(json_of(serialized(json::object{{"cancelled", *barrier}}) + "\n"));
}

// With the number of an earlier response it changes nothing.
http_answer routes::stacks(question const& q) {
  auto const given = object_in(q.asked.body);
  if (!given) return refusal(given.error());
  auto const* const number = given->if_contains("number");
  if (number != nullptr && (!number->is_int64() || number->get_int64() < 1)) {
    return refusal(
        {errc::invalid_argument, R"("number" must be that of an earlier response: {"number": 7})"});
  }
  server::server& job = *job_.running();
  if (number == nullptr) {
    if (status why = job.put_in(core::stacks_args{}); !why.ok()) return refusal(why);
  }
  return json_of(serialized(object_of(job.stacks())) + "\n");
}

// The response is sent first: the program may end with the coordinator.
http_answer routes::stop(question const& q) {
  auto end = end_in(q.asked, core::job_end::stop);
  if (!end) return refusal(end.error());
  auto done = json_of("{\"stopping\":true}\n");
  done.code = 202;
  done.afterwards = [&job = *job_.running(), end = *std::move(end)] {
    static_cast<void>(job.put_in(end));
  };
  return done;
}

http_answer routes::drain(question const& q) {
  auto end = end_in(q.asked, core::job_end::drain);
  if (!end) return refusal(end.error());
  if (status why = job_.running()->put_in(*std::move(end)); !why.ok()) return refusal(why);
  return durably(json_of("{\"draining\":true}\n"));
}

http_answer routes::login(question const& q) {
  auto const given = object_in(q.asked.body);
  if (!given) return refusal(given.error());
  auto const token = text_in(*given, "token");
  if (!token) return refusal(token.error());
  auto done = json_of("{}\n");
  if (gate_.lets_everybody_in()) return done;
  auto cookie = gate_.log_in(*token, server::draw_secret());
  if (!cookie) return refusal(cookie.error());
  done.fields.emplace_back("Set-Cookie", *std::move(cookie));
  return done;
}

}  // namespace coxswain::status_page
