#pragma once
// A coordinator, xla_service and clients of it in virtual time, without HTTP/2:
//
//   harness h{2};
//   auto const c = h.connect();
//   auto const first = h.call(c, method::register_task, {.task = {{0}}, .self = incarnation{10}});
//   BOOST_TEST(h.text(first) == "waits");
//
// Calls are of the third generation by default (`h.of`). A result is a line such as "OK", "waits"
// or "INTERNAL: text", with its payloads.

#include "coxswain/xla/codec.hpp"
#include "tests/xla/xla_service_over_core.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::xla::test {

class harness final : public xla_service_over_core {
 public:
  explicit harness(std::uint32_t num_tasks, bool strict = false,
                   core::config config = core::config{}, int services = 1)
      : xla_service_over_core{num_tasks, strict, std::move(config), services} {}

  using xla_service_over_core::call;
  call_id call(connection_id on, method what, request asked,
               std::optional<duration> timeout = std::nullopt) {
    if (of == generation::third && what != method::register_task && !asked.service) {
      asked.service = coordinator_self;
    }
    method_path const path{what, of};
    return call(on, path_of(path), encode_request(path, asked), timeout);
  }

  // "waits", "OK", or the code's name, a colon and the text; "gone" for an unknown call.
  std::string text(call_id which) const {
    auto const* const r = find(which);
    if (!r) return "waits";
    return r->how.ok() ? "OK" : std::string{name(r->how.code)} + ": " + r->how.text;
  }
  std::string code(call_id which) const {
    auto const whole = text(which);
    return whole.substr(0, whole.find(':'));
  }
  std::string message(call_id which) const {
    auto const* const r = find(which);
    BOOST_REQUIRE(r);
    return r->what.head + std::string{r->what.tail.view()};
  }
  outcome const& how(call_id which) const {
    auto const* const r = find(which);
    BOOST_REQUIRE(r);
    return r->how;
  }
  bool is_service_error(call_id which) const {
    return how(which).details.find("CoordinationServiceError") != std::string::npos;
  }
  // The order in which calls were answered.
  std::size_t place(call_id which) const {
    for (std::size_t i = 0; i < replies_.size(); ++i) {
      if (replies_[i].to == which) return i;
    }
    return replies_.size();
  }

  // All tasks register, each on its own connection or all on `on`, with incarnation 10 + task.
  std::vector<connection_id> start(std::uint32_t num_tasks,
                                   std::optional<connection_id> on = std::nullopt) {
    std::vector<connection_id> all;
    std::vector<call_id> calls;
    for (std::uint32_t i = 0; i < num_tasks; ++i) {
      all.push_back(on.value_or(connection_id{}));
      if (!on) all.back() = connect();
      calls.push_back(call(all.back(), method::register_task, by(i)));
    }
    for (auto const one : calls) BOOST_REQUIRE_EQUAL(text(one), "OK");
    return all;
  }

  // A request of a task.
  static request by(std::uint32_t task) {
    request made;
    made.task = task_name{static_cast<std::int32_t>(task)};
    made.self = incarnation{10 + task};
    return made;
  }
  static request about(std::uint32_t task, std::string name, std::string value = {}) {
    request made = by(task);
    made.name = std::move(name);
    made.value = std::move(value);
    return made;
  }
  static request meet(std::uint32_t task, std::string name, std::int64_t counter = 0,
                      std::int64_t timeout_ms = 30'000) {
    request made = about(task, std::move(name));
    made.counter = counter;
    made.timeout_ms = timeout_ms;
    return made;
  }

  generation of{generation::third};
  std::vector<connection_id> pings;
  std::vector<connection_id> goodbyes;
  std::vector<std::string> logged;

 private:
  reply const* find(call_id which) const {
    auto const at = place(which);
    return at == replies_.size() ? nullptr : &replies_[at];
  }
  void take(effect what) override {
    if (auto* const r = std::get_if<reply>(&what)) {
      BOOST_TEST((find(r->to) == nullptr));  // one reply to each call
      replies_.push_back(std::move(*r));
    } else if (auto const* const p = std::get_if<ping>(&what)) {
      pings.push_back(p->to);
    } else if (auto* const e = std::get_if<core::event>(&what)) {
      logged.push_back(std::move(e->text));
    } else {
      goodbyes.push_back(std::get<goodbye>(what).to);
    }
  }

  std::vector<reply> replies_;
};

}  // namespace coxswain::xla::test
