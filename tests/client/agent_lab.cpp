#include "tests/client/agent_lab.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/core/model/operations.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>
#include <variant>

namespace coxswain::test {
namespace {

constexpr std::string_view default_address = "b12:8476";

struct name_of_request {
  std::string operator()(core::resume_args const& a) const {
    std::string text = "resume";
    for (auto const& id : a.open)
      text += (&id == a.open.data() ? " " : ",") + std::to_string(id.value);
    return text;
  }
  std::string operator()(core::bye_args const& a) const {
    return a.abandoned ? "bye abandoned" : "bye";
  }
  // "get k 9 s", "join 5 s with hello".
  template <class Args>
  std::string operator()(Args const& a) const {
    std::string text{core::row_of(a).name};
    if constexpr (requires { a.key; }) text += " " + a.key;
    if constexpr (requires { a.name; }) text += " " + a.name;
    if constexpr (requires { a.queue; }) text += " " + a.queue;
    if constexpr (requires { a.request.value; }) text += " " + std::to_string(a.request.value);
    if constexpr (requires { a.timeout; }) text += " " + detail::text_of(a.timeout);
    if constexpr (requires { a.with_hello; }) text += a.with_hello ? " with hello" : "";
    return text;
  }
};

struct name_of_event {
  std::string operator()(agent_events::opened const&) const { return "opened"; }
  std::string operator()(agent_events::disconnected const&) const { return "disconnected"; }
  std::string operator()(agent_events::reconnected const& e) const {
    return "reconnected after " + detail::text_of(e.after);
  }
  std::string operator()(agent_events::goodbye_received const& e) const {
    return "goodbye " + std::string{name(e.what.why.code())};
  }
  std::string operator()(agent_events::job_failed const&) const { return "job failed"; }
  std::string operator()(agent_events::progressed const& e) const {
    return "progress of " + std::to_string(e.what.request.value);
  }
  std::string operator()(agent_events::freeze const& e) const {
    return "freeze " + std::to_string(e.agreement);
  }
  std::string operator()(agent_events::stacks_wanted const& e) const {
    return std::to_string(e.what.processes.size()) + " stacks wanted";
  }
  std::string operator()(agent_events::notice const& e) const { return "notice: " + e.text; }
  std::string operator()(agent_events::waiting const& e) const {
    return "waiting: " + e.text + (e.idle ? " (idle)" : "");
  }
  std::string operator()(agent_events::ended const& e) const {
    return "ended " + std::string{name(e.why.code())};
  }
};

std::vector<core::client_message> decoded(std::string const& bytes) {
  std::vector<core::client_message> messages;
  wire::frame_decoder decoder{wire::message_bytes_max};
  decoder.feed(bytes);
  for (;;) {
    auto const payload = decoder.next().value();
    if (!payload) return messages;
    messages.push_back(wire::decode_client(*payload).value());
  }
}

void add(std::string& line, std::string const& what) {
  if (!line.empty()) line += " | ";
  line += what;
}

}  // namespace

std::string text_of(core::client_message const& message) {
  std::string text = std::visit(name_of_request{}, message.what);
  if (message.id.value != 0) text = "#" + std::to_string(message.id.value) + " " + text;
  if (message.answered_through != 0) text += " ack=" + std::to_string(message.answered_through);
  return text;
}

std::string frame(request_id id, core::answer const& what) {
  auto const body = wire::encode(what);
  std::string bytes;
  wire::append_server_head(bytes, id, body.size());
  return bytes.append(body.head).append(body.tail.view());
}

core::hello_answer hello_answer() {
  core::hello_answer a;
  a.coordinator = incarnation{99};
  a.version = "1.2.3";
  a.session = session_id{7};
  a.secret = {1, 2, 3};
  a.num_tasks = 4;
  a.heartbeat_period = 10s;
  a.heartbeat_timeout = 30s;
  a.reconnect_grace = 2s;
  a.frame_bytes_max = 10'000;
  a.value_bytes_max = 5'000;
  a.key_bytes_max = 100;
  a.open_requests_max = 4096;
  return a;
}

core::answer answer_of(std::string value) {
  return {{}, core::value_answer{bytes{std::move(value)}, 1}};
}

core::answer goodbye(errc code, std::string reason, bool may_resume) {
  return {{}, core::goodbye{{code, std::move(reason)}, may_resume}};
}

core::answer unknown(std::vector<request_id> ids) {
  return {{}, core::resume_answer{std::move(ids)}};
}

agent_lab::agent_lab(agent_options options)
    : a{std::move(options)}, shows_addresses{a.address(0) != default_address} {}

agent_options agent_lab::default_options() {
  agent_options options;
  options.addresses = {std::string{default_address}};
  options.hello.job = "job";
  options.hello.label = "me:1";
  options.task = task_id{1};
  options.seed = 1;
  return options;
}

agent_lab agent_lab::open(agent_options options) {
  agent_lab lab{std::move(options)};
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, {{}, hello_answer()});
  BOOST_TEST(lab.out() == "hello | open | opened");
  return lab;
}

agent_lab& agent_lab::reply(time_point now, std::uint64_t id, core::answer const& what) {
  a.received(now, frame(request_id{id}, what));
  return *this;
}

agent_lab& agent_lab::lose(time_point now) {
  a.lost(now, {errc::unavailable, "connection reset"});
  return *this;
}

agent_lab& agent_lab::connected(time_point now, std::size_t address) {
  a.connected(now, address);
  return *this;
}

agent_lab& agent_lab::call(time_point now, core::request what, duration timeout) {
  a.call(now, std::move(what), timeout);
  return *this;
}

agent_lab& agent_lab::resume(time_point now, std::vector<request_id> not_held) {
  return connected(now).say(now, unknown(std::move(not_held)));
}

std::string agent_lab::out() {
  std::string line;
  std::string bytes;
  a.take_bytes(bytes);
  messages_ = decoded(bytes);
  if (!shows_waits) {
    std::erase_if(messages_, [](auto const& one) {
      return std::holds_alternative<core::ask_waiting_args>(one.what);
    });
  }
  for (auto const& message : messages_) add(line, text_of(message));
  std::vector<agent_command> commands;
  a.take_commands(commands);
  for (auto const command : commands) {
    add(line, std::string{command.opens() ? "open" : "close"} +
                  (shows_addresses ? " " + a.address(command.address) : ""));
  }
  a.take_completions(completions_);
  for (auto const& completion : completions_) {
    add(line, "done #" + std::to_string(completion.call.value) + " " +
                  std::string{name(completion.what.outcome.code())});
  }
  a.take_events(events_);
  if (!shows_waits) {
    std::erase_if(events_, [](auto const& one) {
      return std::holds_alternative<agent_events::waiting>(one);
    });
  }
  for (auto const& event : events_) add(line, std::visit(name_of_event{}, event));
  return line;
}

}  // namespace coxswain::test
