#include "tests/scenarios/transcript.hpp"

#include "coxswain/core/model/operations.hpp"
#include "tests/scenarios/words.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace coxswain::scenarios {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::istringstream in{std::string{line}};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string transcript::play(std::string_view scenario) {
  std::istringstream in{std::string{scenario}};
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("  ")) continue;  // an outcome of the last time
    text_ += line + "\n";
    if (!line.starts_with("> ")) continue;
    try {
      run(std::string_view{line}.substr(2));
    } catch (std::exception const& e) {
      throw std::runtime_error{"line " + std::to_string(number) + ": " + line + ": " + e.what()};
    }
  }
  return std::exchange(text_, {});
}

void transcript::run(std::string_view line) {
  std::vector<std::string> words = split(line);
  time_point const at = time_point{1h} + duration_of(word(words, 0));
  words.erase(words.begin());
  if (word(words, 0) == "job") {
    now_ = at;
    return start_job(words);
  }
  if (!coordinator_) throw std::runtime_error{"a scenario begins with a job"};
  if (words[0] == "stalled")
    now_ = at;  // all at once: the loop was stalled until then
  else
    advance(at);
  if (words[0] == "stop") {
    coordinator_->put_in(now_, core::stopped{"SIGTERM"});
  } else if (words[0] == "ended") {
    coordinator_->put_in(
        now_, core::process_ended{*task_of(word(words, 1)), {errc::internal, "killed by SIGKILL"}});
  } else if (words[0] != "passes" && words[0] != "stalled") {
    std::string const name = words[0];
    words.erase(words.begin());
    act(name, words);
  }
  coordinator_->advance(now_);
  take_outputs();
  coordinator_->check_invariants();
}

void transcript::start_job(std::vector<std::string> const& words) {
  core::config c;
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto const equals = words[i].find('=');
    set_option(c, words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  clients_.clear();
  coordinator_ = std::make_unique<recorded_coordinator>(c, incarnation{1}, now_);
}

void transcript::set_option(core::config& of, std::string const& option, std::string const& value) {
  if (option == "tasks")
    of.num_tasks = static_cast<std::uint32_t>(std::stoul(value));
  else if (option == "grace")
    of.reconnect_grace = duration_of(value);
  else if (option == "heartbeat")
    of.heartbeat_timeout = duration_of(value);
  else if (option == "gather-max")
    of.gather_bytes_max = std::stoul(value);
  else if (option == "key-max")
    of.key_bytes_max = std::stoul(value);
  else if (option == "value-max")
    of.value_bytes_max = std::stoul(value);
  else if (option == "requests-max")
    of.open_requests_max = static_cast<std::uint32_t>(std::stoul(value));
  else if (option == "recoverable")
    of.recoverable = true;
  else if (option == "reports-ends")
    of.reports_ends = true;
  else if (option == "return")
    of.return_timeout = duration_of(value);
  else if (option == "spares")
    of.spares = static_cast<std::uint32_t>(std::stoul(value));
  else if (option == "elastic") {
    of.elastic = true;
    of.min_tasks = static_cast<std::uint32_t>(std::stoul(value));
  } else if (option == "epoch-timeout")
    of.epoch_timeout = duration_of(value);
  else if (option == "min-wait")
    of.min_wait = duration_of(value);
  else if (option == "last-call")
    of.last_call = duration_of(value);
  else if (option == "come-back")
    of.come_back = duration_of(value);
  else if (option == "assign")
    of.assign = value == "order"    ? core::assignment::order
                : value == "member" ? core::assignment::member
                                    : core::assignment::placement;
  else if (option == "progress-timeout")
    of.progress_timeout = duration_of(value);
  else if (option == "fail-without-progress")
    of.fail_without_progress = true;
  else if (option == "token")
    of.credentials.push_back({core::role::worker, value});
  else
    throw std::runtime_error{"no option is called " + option};
}

void transcript::act(std::string const& name, std::vector<std::string> const& words) {
  client& c = clients_[name];
  std::string const verb = word(words, 0);
  if (verb == "connects") return connect(name);
  if (verb == "cut" || verb == "unreachable") {
    c.is_connected = false;
    return coordinator_->lost(now_, c.connection,
                              verb == "cut" ? core::loss::closed : core::loss::unreachable);
  }
  if (verb == "deaf") {
    c.is_deaf = true;
    return;
  }
  if (verb == "reads-nothing") return coordinator_->write_blocked(now_, c.connection);
  if (verb == "reads-again") return coordinator_->write_progressed(now_, c.connection);
  if (verb == "garbage") return coordinator_->malformed(now_, c.connection, "garbage");
  if (verb == "resumes") return resume(c);
  if (verb == "visits") return greet(c, name, task_of(word(words, 1)));
  if (!c.session) greet(c, name);
  send(c, request_of(name, words));
}

core::request transcript::request_of(std::string const& name,
                                     std::vector<std::string> const& words) const {
  std::string const& verb = words[0];
  if (verb == "enrols") {
    core::join_args args{incarnation{std::stoull(word(words, 1))}, without_limit};
    args.any = true;
    args.member = name.substr(0, name.find('\''));
    args.placement.assign(words.begin() + 2, words.end());
    return args;
  }
  if (verb == "next-epoch") {
    return core::next_epoch_args{timeout_of(words, 1), clients_.at(name).epoch};
  }
  if (auto const what = scenarios::request_of(words)) return *what;
  throw std::runtime_error{name + " cannot do that"};
}

void transcript::connect(std::string const& name) {
  client& c = clients_[name];
  c.task = task_of(name);
  core::session_secret secret{};
  secret[0] = static_cast<std::uint8_t>(clients_.size());
  c.connection = coordinator_->connected(now_, "10.0.0.1:1", secret);
  c.is_connected = true;
  c.is_deaf = false;
}

void transcript::greet(client& c, std::string const& name, std::optional<task_id> as_guest_of) {
  connect(name);
  core::hello_args hello{.label = name};
  if (as_guest_of) {
    c.task = as_guest_of;
    hello.acts_for = core::guest_args{*as_guest_of, secret_of_grants};
  }
  coordinator_->received(now_, c.connection, {{}, 0, {}, hello});
  take_outputs();
}

void transcript::resume(client& c) {
  if (!c.session) throw std::runtime_error{"it has no session"};
  core::session_secret const secret = c.session->secret;
  c.connection = coordinator_->connected(now_, "10.0.0.1:2", secret);
  c.is_connected = true;
  c.is_deaf = false;
  core::resume_args args{
      .session = c.session->session, .secret = secret, .coordinator = c.session->coordinator};
  args.open.assign(c.open.begin(), c.open.end());
  coordinator_->received(now_, c.connection, {{}, c.answered, {}, args});
}

void transcript::send(client& c, core::request what) {
  core::client_message m;
  bool const is_answered =
      std::visit([]<class Args>(Args const&) { return core::is_numbered<Args>; }, what);
  if (is_answered) {
    m.id = request_id{++c.last.value};
    c.open.insert(m.id);
    m.task = c.task;
    m.epoch = c.epoch;
  }
  if (auto const* const w = std::get_if<core::cancel_args>(&what)) c.open.erase(w->request);
  m.answered_through = c.answered;
  m.what = std::move(what);
  coordinator_->received(now_, c.connection, std::move(m));
}

// In steps, like a loop, so that the passing time is no stall.
void transcript::advance(time_point to) {
  while (auto const next = coordinator_->next_deadline()) {
    if (*next > to) break;
    now_ = std::max(now_, *next);
    coordinator_->advance(now_);
    take_outputs();
  }
  now_ = to;
}

void transcript::take_outputs() {
  std::vector<core::outgoing> out;
  std::vector<core::event> events;
  coordinator_->take_outputs(now_, out, events);
  for (core::outgoing const& o : out) {
    auto const at = std::find_if(clients_.begin(), clients_.end(), [&](auto const& entry) {
      return entry.second.is_connected && entry.second.connection == o.to;
    });
    if (at == clients_.end()) continue;
    auto& [name, c] = *at;
    if (c.is_deaf) continue;
    if (auto const* const hello = std::get_if<boxed<core::hello_answer>>(&o.what->value)) {
      c.session = **hello;
      continue;
    }
    auto const* epoch = std::get_if<core::epoch_answer>(&o.what->value);
    auto const* const joined = std::get_if<core::join_answer>(&o.what->value);
    if (joined && joined->epoch) epoch = &*joined->epoch;
    if (epoch) c.epoch = epoch->number;
    std::string line = name;
    if (o.in_reply_to == request_id{}) {
      line += " is told";
    } else {
      line += " #" + std::to_string(o.in_reply_to.value);
      ++c.answered;
      c.open.erase(o.in_reply_to);
    }
    say(line + " " + in_words(*o.what));
  }
  for (core::event const& e : events) say("log: " + e.text);
}

void transcript::say(std::string const& line) {
  text_ += "  ";
  std::string const when = in_words(now_ - time_point{1h});
  text_ += when + std::string(when.size() < 8 ? 8 - when.size() : 1, ' ') + line + "\n";
}

}  // namespace coxswain::scenarios
