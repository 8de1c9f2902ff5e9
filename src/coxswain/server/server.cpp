#include "coxswain/server/server.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/base/heap.hpp"
#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/entropy.hpp"
#include "coxswain/server/journal/restore.hpp"
#include "coxswain/server/server_impl.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coxswain::server {
namespace {

// How long the server rests after an unexpected error.
constexpr duration rest_after_error = 100ms;

// How long an input may wait for others before it is written.
constexpr duration gathered_within = 10ms;

// The member function of the same name hides it.
using counts = statistics;

options checked(options o, shared_job const& job) {
  if (job.log) o.core.term = job.term;
  if (status why = check(o); !why.ok()) throw error{std::move(why)};
  o.core.started = wall_clock_now();
  o.xla.host = host_name();
  if (job.log || !o.journal.directory.empty()) expect_restarts(o);
  return o;
}

void keep_earliest(std::optional<time_point>& earliest, std::optional<time_point> other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

}  // namespace

server::impl::impl(asio::io_context& io, options o, shared_job job)
    : options_{checked(with_log(std::move(o)), job)},
      job_{std::move(job)},
      dispatch_{options_, origin()},
      poller_{io, *this, options_.spin},
      iteration_{dispatch_, poller_, options_, &clock_now},
      connections_{iteration_} {
  if (options_.tls.is_wanted()) {
    certificates_.emplace(net::tls_context::side::server, options_.tls);
    reload_at_ = deadline_after(clock_now(), options_.tls.reload_period);
  }
  auto const* const certificates = certificates_ ? &*certificates_ : nullptr;
  admission_.emplace(iteration_, connections_, options_, certificates);
  iteration_.now = clock_now();
  counts_.started = std::chrono::system_clock::now();
  if (journal_ && journal_->descriptor() >= 0) disk_.emplace(poller_, journal_->descriptor());
  if (job_.log) job_.log->when_changed([this] { poller_.request_iteration(); });
  if (downtime_) resume_job();
}

// The log may post handlers.
options server::impl::with_log(options o) {
  if (!o.log) return o;
  o.log = [this, log = std::move(o.log)](core::event const& e) {
    poller_.let_context_run();
    log(e);
  };
  return o;
}

core_origin server::impl::origin() {
  core_origin made{.self = draw_incarnation(), .now = made_at_ = clock_now()};
  if (job_.log) {
    made.log = job_.log.get();
    made.restored = std::move(job_.restored);
  } else if (!options_.journal.directory.empty()) {
    made.log = &journal_.emplace(options_.journal.directory, options_.journal.level);
    made.restored = restore(*journal_, options_, made.now, set_aside_);
    watch_.emplace(*journal_, options_.journal.bytes_max, made.restored.has_value());
  }
  log_ = made.log;
  if (made.restored) downtime_ = made.restored->downtime;
  return made;
}

void server::impl::resume_job() {
  duration const replay = clock_now() - made_at_;
  core::restarted what{*downtime_ + replay};
  if (job_.log) what.term = job_.term;
  static_cast<void>(put_in(what));
  if (options_.core.credentials.empty()) return;
  static_cast<void>(put_in(core::credentials_replaced{options_.core.credentials}));
}

asio::awaitable<void> server::impl::serve(std::shared_ptr<impl> self) {
  self->start();
  co_await self->finished_.wait();
  auto const& failure = self->iteration_.journal_failure;
  if (!failure.ok()) throw coxswain::error{failure};
}

asio::awaitable<void> server::impl::wait_done(std::shared_ptr<impl> self) {
  co_await self->job_done_.wait();
}

asio::awaitable<status> server::impl::wait_durable(std::shared_ptr<impl> self,
                                                   time_point give_up_at) {
  if (!self->is_over()) static_cast<void>(self->iteration_.commit());
  auto const batch = self->dispatch_.last_batch();
  if (self->is_over() || self->dispatch_.is_durable(batch)) co_return self->durability_of(batch);
  self->poller_.request_iteration();
  co_await durability_waits::wait(self->waits_, batch, give_up_at);
  co_return self->durability_of(batch);
}

status server::impl::durability_of(std::uint64_t batch) const {
  auto const& failure = iteration_.journal_failure;
  if (!failure.ok()) return {errc::unavailable, failure.message()};
  if (dispatch_.is_durable(batch)) return {};
  return {errc::unavailable, is_over() ? "the coordinator has ended before its journal had this"
                                       : "the journal has not confirmed this in time"};
}

void server::impl::start() {
  if (closed_ || finished_.is_open()) return;
  if (!set_aside_.empty()) iteration_.report(core::severity::warning, {set_aside_});
  poller_.start();
  admission_->start();
  poller_.request_iteration();
  is_started_ = true;
  if (!certificates_) return;
  bool const asks = !options_.tls.ca.empty();
  iteration_.report(core::severity::info, {"speaks TLS as ", certificates_->shown(),
                                           asks ? "; clients are asked for certificates" : ""});
}

void server::impl::stop(std::string reason) { end_with(core::stopped{std::move(reason)}); }

status server::impl::suspend(std::string reason) {
  if (log_ == nullptr)
    return {errc::failed_precondition, "Without a journal no job can be suspended."};
  end_with(core::suspended{std::move(reason)});
  is_suspended_ = true;
  return {};
}

void server::impl::end_with(core::owner_input what) {
  if (stop_by_ || closed_) return;
  static_cast<void>(put_in(std::move(what)));
  begin_end();
}

void server::impl::begin_end() {
  stop_by_ = deadline_after(iteration_.now, options_.linger);
  admission_->stop();
}

// A request has stopped the job, or a job that drains is over.
void server::impl::end_on_request() {
  auto const& logic = dispatch_.logic();
  bool const is_drained = logic.is_draining() && job_done_.is_open();
  if (is_drained) end_with(core::stopped{"the job was drained, and all tasks have left"});
  if (logic.is_stopping() && !stop_by_) begin_end();
}

void server::impl::reload_certificates() {
  if (!certificates_) return;
  reload_at_ = deadline_after(clock_now(), options_.tls.reload_period);
  if (!certificates_->reload()) return;
  report(core::severity::info, "new certificate in use: " + certificates_->shown());
}

void server::impl::report(core::severity level, std::string_view text) noexcept {
  iteration_.report(level, {text});
  poller_.request_iteration();
}

void server::impl::reload_now_and_then() noexcept {
  try {
    reload_certificates();
  } catch (std::exception const& e) {
    iteration_.report(
        core::severity::warning,
        {"certificates were not reloaded, the previous ones remain in use: ", e.what()});
  }
}

status server::impl::put_in(core::owner_input what) {
  if (auto const* const given = std::get_if<core::credentials_replaced>(&what)) {
    if (given->by.empty()) {
      return {errc::invalid_argument,
              "At least one token must remain: removing all would admit everyone."};
    }
    if (status why = core::check(given->by); !why.ok()) return why;
  }
  iteration_.now = clock_now();
  poller_.request_iteration();
  status const outcome = dispatch_.put_in(iteration_.now, std::move(what));
  if (!iteration_.commit()) return iteration_.journal_failure;
  if (log_ != nullptr) iteration_.journal_failure = log_->wait_until_durable();
  return iteration_.journal_failure.ok() ? outcome : iteration_.journal_failure;
}

// Nobody depends on it, so it does not wait for the journal.
void server::impl::ask_missing() {
  auto const now = clock_now();
  if (is_over() || !logic().has_to_ask(now)) return;
  iteration_.now = now;
  poller_.request_iteration();
  static_cast<void>(dispatch_.put_in(now, core::why_args{}));
}

void server::impl::close() noexcept {
  closed_ = true;
  if (!in_iteration_) tear_down();
}

void server::impl::tear_down() noexcept {
  admission_->clear();
  connections_.forget_all();
  disk_.reset();
  if (job_.log) job_.log->when_changed({});
  release_waiters();
}

void server::impl::release_waiters() noexcept {
  poller_.close();
  finished_.open();
  job_done_.open();
  waits_.open_all();
}

time_point server::impl::iteration_begins() noexcept {
  iteration_.now = iteration_began_ = clock_now();
  iteration_.bytes_read = iteration_.bytes_written = 0;
  try {
    dispatch_.begin();
  } catch (std::exception const&) {
  }
  admission_->iteration_begins();
  auto const due = std::exchange(iteration_due_, std::nullopt);
  if (due && *due <= iteration_.now) counts_.loop_lag.record(iteration_.now - *due);
  return iteration_began_;
}

// The log may call us back, and may even destroy the server: that waits until the iteration is
// over.
void server::impl::iteration_ends() noexcept {
  auto const self = shared_from_this();
  std::optional<time_point> next = iteration_.now + rest_after_error;
  in_iteration_ = true;
  try {
    serve_iteration();
    next = next_deadline();
  } catch (std::exception const& e) {
    iteration_.report(core::severity::error,
                      {"a loop iteration was cut short by an error: ", e.what()});
  }
  in_iteration_ = false;
  counts_.bytes_received += iteration_.bytes_read;
  duration const took = clock_now() - iteration_began_;
  counts_.iterations.record(took);
  counts_.iteration_max = std::max(counts_.iteration_max, took);
  if (closed_) tear_down();
  iteration_due_ = next;
  try {
    poller_.wake_at(next);
  } catch (std::bad_alloc const&) {
    poller_.request_iteration();  // which may have the memory of the iteration that has just ended
  }
}

void server::impl::serve_iteration() {
  iteration_.take_in();
  admission_->let_in();
  if (reload_at_ && *reload_at_ <= iteration_.now) reload_now_and_then();
  connections_.visit_due();
  // Input that arrived after the iteration's beginning may be unread, so deadlines since then do
  // not expire yet.
  dispatch_.advance(iteration_began_);
  log_state();
  iteration_.releases.look(dispatch_.rounds_ended());
  connections_.deliver();
  if (!(gathers_inputs() || iteration_.commit()) || !make_durable()) return fail();
  if (auto const took = iteration_.releases.stop()) counts_.releases.record(*took);
  connections_.clear_away();
  settle();
  look_after_journal();
}

void server::impl::log_state() {
  if (!options_.log) return;
  auto const& logic = dispatch_.logic();
  bool const has_ended = logic.error() || logic.is_stopping() || logic.done();
  if (!state_log_.is_due(iteration_.now, has_ended)) return;
  auto const line = state_log_.note(iteration_.now, has_ended, logic.state(iteration_.now));
  if (line) iteration_.report(core::severity::info, {*line});
}

core::snapshot server::impl::look() const {
  auto const now = clock_now();
  auto made = dispatch_.look(now);
  if (log_ != nullptr) made.leader = log_->leader(now);
  return made;
}

status server::impl::journal_health() const {
  if (watch_) return watch_->health();
  auto const leads = log_ == nullptr ? std::nullopt : log_->leader(clock_now());
  return leads ? check_lag(leads->lag, "etcd") : status{};
}

counts server::impl::counted() const {
  counts all = counts_;
  all.uptime = clock_now() - made_at_;
  admission_->count(all);
  all.bytes_sent = iteration_.bytes_sent;
  all.sends = iteration_.sends;
  dispatch_.count(all);
  if (journal_) all.journal = journal_->counted();
  return all;
}

// Wakes coroutines that wait for the present state.
void server::impl::settle() {
  if (dispatch_.done() && dispatch_.is_durable() && !job_done_.is_open()) {
    if (!done_since_) done_since_ = iteration_.now;
    bool const lingered = iteration_.now >= deadline_after(*done_since_, options_.linger);
    if (lingered || dispatch_.drained()) {
      job_done_.open();
      poller_.let_context_run();
    }
  }
  end_on_request();
  if (stop_by_ && (connections_.size() == 0 || iteration_.now >= *stop_by_)) finish();
  if (options_.owns_process && !is_heap_trimmed_) trim_heap();
}

void server::impl::trim_heap() {
  if (!dispatch_.logic().job_has_started()) return;
  coxswain::trim_heap();
  is_heap_trimmed_ = true;
}

void server::impl::finish() {
  connections_.end_all();
  connections_.deliver();
  connections_.clear_away();
  if (log_ != nullptr && iteration_.commit()) {
    iteration_.journal_failure = log_->wait_until_durable();
  }
  if (is_suspended_ && iteration_.commit()) {
    status const why = log_->write_snapshot(dispatch_.logic(), false);
    if (!why.ok()) iteration_.report(core::severity::warning, {why.message()});
  }
  release_waiters();
}

// Inputs that nothing has followed from share the batch of later ones: in a round of a barrier,
// those of all arrivals before the last iteration. All output has been committed.
bool server::impl::gathers_inputs() {
  bool const may =
      log_ != nullptr && log_->is_immediate() && log_->has_uncommitted() && !dispatch_.done();
  if (!may) {
    commit_by_.reset();
    return false;
  }
  if (!commit_by_) commit_by_ = iteration_.now + gathered_within;
  return iteration_.now < *commit_by_;
}

// Lets output leave whose inputs are durable now, and synchronizes those of other output.
bool server::impl::make_durable() {
  if (log_ == nullptr || log_->is_immediate()) return true;
  bool const is_awaited = dispatch_.awaits_durability() || !waits_.empty() ||
                          (dispatch_.done() && !job_done_.is_open());
  iteration_.journal_failure = log_->synchronize(iteration_.now, is_awaited);
  if (job_.log && dispatch_.logic().newer_term() && iteration_.journal_failure.ok()) {
    iteration_.journal_failure = {errc::aborted, "a client knows a newer coordinator of this job"};
  }
  if (!waits_.empty()) poller_.let_context_run();
  waits_.open([this](std::uint64_t batch) { return dispatch_.is_durable(batch); });
  if (iteration_.journal_failure.ok()) connections_.release();
  return iteration_.journal_failure.ok();
}

void server::impl::watch_journal() {
  if (auto const text = watch_->warning(iteration_.now)) {
    iteration_.report(core::severity::warning, {*text});
  }
  if (auto change = watch_->change_of_space(iteration_.now)) {
    static_cast<void>(dispatch_.put_in(iteration_.now, *std::move(change)));
    poller_.request_iteration();
  }
}

void server::impl::look_after_journal() {
  if (log_ == nullptr) return;
  if (watch_) watch_journal();
  status outcome;
  if (!log_->finish_snapshot(outcome)) return;
  if (outcome.ok() && log_->wants_snapshot()) {
    if (!iteration_.commit()) return fail();
    outcome = log_->write_snapshot(dispatch_.logic(), options_.owns_process);
  }
  if (!outcome.ok()) iteration_.report(core::severity::warning, {outcome.message()});
}

// Uncommitted output is discarded with the process.
void server::impl::fail() {
  iteration_.report(core::severity::error,
                    {iteration_.journal_failure.message(), ": the coordinator ends"});
  if (job_.log) connections_.leave_all(leads_no_more(iteration_.journal_failure.message()));
  connections_.end_all();
  closed_ = true;
}

std::optional<time_point> server::impl::next_deadline() const {
  auto next = dispatch_.next_deadline();
  keep_earliest(next, connections_.next_deadline());
  keep_earliest(next, admission_->next_deadline());
  keep_earliest(next, stop_by_);
  keep_earliest(next, state_log_.next());
  keep_earliest(next, reload_at_);
  if (log_ != nullptr) keep_earliest(next, log_->next_synchronization());
  keep_earliest(next, commit_by_);
  if (done_since_ && !job_done_.is_open()) {
    keep_earliest(next, deadline_after(*done_since_, options_.linger));
  }
  return next;
}

}  // namespace coxswain::server
