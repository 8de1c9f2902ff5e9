#include "coxswain/client/connection.hpp"

#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

constexpr duration peer_timeout_default = 100s;

std::uint64_t random_number() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

agent_options for_agent(client_options const& from, std::vector<net::endpoint> const& to,
                        bool has_tls) {
  agent_options options;
  for (auto const& endpoint : to) options.addresses.push_back(endpoint.text());
  // A certificate shows whose address it is.
  options.follows_others = has_tls;
  // A task of another job is refused at once; an observer need not know the job's name.
  options.hello.job = from.job;
  // The grant knows a guest's job.
  if (from.job.empty() && (from.task || from.any) && !from.is_guest())
    options.hello.job = "default";
  options.hello.attempt = from.attempt;
  options.hello.num_tasks = from.num_tasks;
  if (from.supervises) options.hello.supervises = from.task;
  options.hello.takes_stacks = from.wants_stacks != nullptr;
  options.hello.token = from.token;
  options.hello.label = from.label;
  if (from.is_guest())
    options.hello.acts_for = core::guest_args{from.pass->task, from.pass->secret};
  options.task = from.task;
  options.connect_timeout = from.connect_timeout;
  options.fence_after = from.fence_after;
  options.hosted_by_task = from.hosted_by_task;
  options.seed = random_number();
  return options;
}

std::shared_ptr<net::tls_context const> certificates_for(client_options const& o,
                                                         std::vector<net::endpoint> const& to) {
  bool const are_private =
      std::all_of(to.begin(), to.end(), [](auto& endpoint) { return endpoint.is_unix(); });
  if (!o.tls.is_wanted() || are_private) return nullptr;
  return std::make_shared<net::tls_context const>(net::tls_context::side::client, o.tls);
}

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;  // clang 14 does not deduce it

}  // namespace

connection::connection(asio::any_io_executor executor, client_options options,
                       std::vector<net::endpoint> const& to)
    : executor_{std::move(executor)},
      options_{std::move(options)},
      has_new_incarnation_{!options_.is_guest() && !options_.incarnation},
      task_{options_.task ? std::int64_t{options_.task->value} : -1},
      certificates_{certificates_for(options_, to)},
      agent_{for_agent(options_, to, certificates_ != nullptr)},
      spin_{options_.spin} {
  if (options_.is_guest()) options_.incarnation = options_.pass->self;
  if (has_new_incarnation_) options_.incarnation = coxswain::incarnation{random_number()};
}

void connection::start() {
  timer_.emplace(executor_);
  agent_.start(now());
  auto keeping = keep(shared_from_this());
  asio::co_spawn(executor_, std::move(keeping), asio::detached);
  pump();
}

connection::place connection::ask(question q, std::unique_ptr<waiter> who) {
  if (q.what == question::kind::stop && options_.is_guest()) {
    // Other programs are the same task: only the coordinator knows its steps.
    q = question{core::frozen_args{0, q.step}, without_limit};
  }
  if (q.what == question::kind::call) {
    auto const id = agent_.call(now(), std::move(q.request), q.timeout, {}, q.claimed_by);
    if (q.claimed_by) q.claimed_by->call = id;
    open_question asked;
    asked.who = std::move(who);
    if (q.on_progress) {
      asked.on_progress = std::make_shared<progress_callback>(std::move(q.on_progress));
    }
    calls_.emplace(id.value, std::move(asked));
    pump();
    return {question::kind::call, id.value};
  }
  open_wait asked;
  asked.what = q.what;
  asked.who = std::move(who);
  asked.step = q.step;
  waits_.emplace(++waits_count_, std::move(asked));
  if (q.what == question::kind::failure && failure_) {
    answer_waits(q.what, core::answer{{}, *failure_});
  }
  if (q.what == question::kind::stop) answer_stops();
  if (q.what == question::kind::ending) {
    auto const& ending = agent_.ending();
    answer_waits(q.what, ending ? core::answer{{}, *ending} : core::answer{});
  }
  if (agent_.over()) ended();
  return {q.what, waits_count_};
}

void connection::cancel(place where) {
  std::unique_ptr<waiter> who;
  if (where.what == question::kind::call) {
    auto const at = calls_.find(where.number);
    if (at == calls_.end()) return;
    who = std::move(at->second.who);
    calls_.erase(at);
    agent_.cancel(now(), request_id{where.number});
    pump();
  } else {
    auto const at = waits_.find(where.number);
    if (at == waits_.end()) return;
    who = std::move(at->second.who);
    waits_.erase(at);
  }
  who->complete(std::move(who), asio::error::operation_aborted, {});
}

void connection::abandon(claim const& of) {
  agent_.cancel(now(), of.call);
  pump();
}

void connection::close(bool abandoned) noexcept {
  try {
    agent_.bye(now(), abandoned);
    pump();
  } catch (...) {
    drop_all();
  }
}

// After each input to the agent.
void connection::pump() {
  if (auto const& epoch = agent_.epoch(); epoch.number != epoch_) {
    task_ = epoch.rank.value;
    epoch_ = epoch.number;
    sync_points_.end_epoch();
    frozen_for_ = 0;
  }
  agent_.take_commands(commands_);
  for (auto const what : commands_) perform(what);
  // The progress of a call comes before its end.
  agent_.take_events(events_);
  for (auto& what : events_) happened(what);
  agent_.take_completions(completions_);
  for (auto& completion : completions_) complete(std::move(completion));
  // An agreement begins after the answer of the one before, which may have come with it.
  if (auto const agreement = std::exchange(begins_, 0); agreement != 0) freeze(agreement);
  if (agent_.has_bytes()) request_flush();
  if (agent_.over()) ended();
  arm();
}

void connection::perform(agent_command what) {
  if (what.opens()) return open(what.address);
  auto const attempt = opening_.find(what.address);
  if (attempt != opening_.end()) {
    attempt->second->drop();
    opening_.erase(attempt);
  } else {
    write_out();
    drop_transport();
  }
}

void connection::open(std::size_t address) {
  reload_certificates();
  auto const& session = agent_.session();
  auto const longest = session ? session->heartbeat_timeout : peer_timeout_default;
  auto const to = net::endpoint::parse(agent_.address(address));
  bool const is_private = to && to->is_unix();
  auto over = std::make_shared<transport>(executor_, longest, is_private ? nullptr : certificates_);
  opening_[address] = over;
  auto serving = serve(shared_from_this(), std::move(over), address);
  asio::co_spawn(executor_, std::move(serving), asio::detached);
}

// Files can be replaced while this process runs; if they cannot be read, the previous ones stay in
// use.
void connection::reload_certificates() noexcept {
  if (!certificates_) return;
  try {
    certificates_ =
        std::make_shared<net::tls_context const>(net::tls_context::side::client, options_.tls);
  } catch (std::exception const&) {
  }
}

void connection::complete(agent_completion completion) {
  if (completion.call.value == freezing_) return agreed(completion.what);
  if (auto const* const joined = std::get_if<core::join_answer>(&completion.what.value)) {
    if (joined->task) task_ = joined->task->value;
  }
  auto const at = calls_.find(completion.call.value);
  if (at == calls_.end()) return;
  auto who = std::move(at->second.who);
  calls_.erase(at);
  who->complete(std::move(who), {}, std::move(completion.what));
}

void connection::happened(agent_event& what) {
  std::visit(overloaded{
                 [this](agent_events::opened&) {
                   if (transport_) transport_->peer_timeout(agent_.session()->heartbeat_timeout);
                   answer_waits(question::kind::opened, {});
                 },
                 [this](agent_events::disconnected& e) {
                   report_event(client_event::kind::disconnected, std::move(e.why));
                 },
                 [this](agent_events::reconnected& e) {
                   report_event(client_event::kind::reconnected, status{errc::ok, text_of(e.after)},
                                core::severity::info);
                 },
                 [this](agent_events::goodbye_received& e) {
                   report_event(client_event::kind::goodbye, std::move(e.what.why));
                 },
                 [this](agent_events::job_failed& e) {
                   failure_ = std::move(e.what);
                   answer_waits(question::kind::failure, core::answer{{}, *failure_});
                 },
                 [this](agent_events::progressed& e) { report_event(std::move(e.what)); },
                 [this](agent_events::waiting& e) {
                   report_event(client_event::kind::waiting, status{errc::ok, std::move(e.text)},
                                e.idle ? core::severity::info : core::severity::warning);
                 },
                 [this](agent_events::notice& e) {
                   report_event(client_event::kind::notice, status{errc::ok, std::move(e.text)});
                 },
                 [this](agent_events::stacks_wanted& e) {
                   if (options_.wants_stacks) options_.wants_stacks(e.what);
                 },
                 [this](agent_events::freeze& e) { begins_ = e.agreement; },
                 [this](agent_events::ended& e) {
                   if (!agent_.session()) return;
                   report_event(client_event::kind::lost, e.why, core::severity::error);
                   if (failure_) return;
                   failure_.emplace();
                   failure_->cause.why = std::move(e.why);
                   answer_waits(question::kind::failure, core::answer{{}, *failure_});
                 },
             },
             what);
}

// This does not need the user's executor.
void connection::freeze(std::uint64_t agreement) {
  auto const step = sync_points_.freeze(agreement);
  if (!step) return;
  if (freezing_ != 0) agent_.cancel(now(), request_id{freezing_});
  frozen_for_ = agreement;
  freezing_ = agent_.call(now(), core::frozen_args{agreement, *step}, without_limit).value;
}

void connection::agreed(core::answer const& what) {
  freezing_ = 0;
  auto const* const point = std::get_if<core::sync_point>(&what.value);
  sync_points_.agreed(frozen_for_, point ? std::optional{point->step} : std::nullopt);
  if (!agent_.over()) answer_stops();
}

void connection::answer_stops() {
  for (auto at = waits_.begin(); at != waits_.end();) {
    auto& wait = at->second;
    auto const stops =
        wait.what == question::kind::stop ? sync_points_.reached(wait.step) : std::nullopt;
    if (!stops) {
      ++at;
      continue;
    }
    auto who = std::move(wait.who);
    core::answer reply;
    if (*stops) reply.value = core::sync_point{0, wait.step};
    at = waits_.erase(at);
    who->complete(std::move(who), {}, std::move(reply));
  }
}

// Nothing may wait any longer.
void connection::ended() {
  // A client that has left delays no task.
  bool const left = agent_.end().code() == errc::failed_precondition;
  answer_waits(question::kind::stop, core::answer{left ? status{} : agent_.end(), {}});
  answer_waits(question::kind::opened, core::answer{agent_.end(), {}});
  answer_waits(question::kind::failure,
               core::answer{{errc::cancelled, agent_.end().message()}, {}});
}

void connection::answer_waits(question::kind what, core::answer const& with) {
  for (auto at = waits_.begin(); at != waits_.end();) {
    if (at->second.what != what) {
      ++at;
      continue;
    }
    auto who = std::move(at->second.who);
    at = waits_.erase(at);
    who->complete(std::move(who), {}, with);
  }
}

void connection::report_event(client_event::kind what, status why, core::severity level) {
  if (!options_.on_event) return;
  auto call = [self = shared_from_this(), event = client_event{what, std::move(why), level}] {
    if (self->silent_) return;
    try {
      self->options_.on_event(event);
    } catch (...) {
      // Dropped, as options.hpp says: it must not end the user's io_context::run.
    }
  };
  asio::post(executor_, std::move(call));
}

void connection::report_event(core::barrier_progress what) {
  auto const at = calls_.find(what.request.value);
  if (at == calls_.end() || !at->second.on_progress) return;
  // Whatever ends the call is posted after this, so what the callback refers to is still there.
  auto call = [callback = at->second.on_progress, progress = std::move(what)] {
    try {
      (*callback)(progress);
    } catch (...) {
      // Dropped, as client.hpp says.
    }
  };
  asio::post(executor_, std::move(call));
}

}  // namespace coxswain::detail
