#include "coxswain/client/client.hpp"

#include "coxswain/base/little_endian.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/client/connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace coxswain {
namespace {

constexpr std::size_t label_bytes_max = 256;

// "host:pid"
std::string label_of_process() {
  std::array<char, label_bytes_max> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  return std::string{name.data()} + ":" + std::to_string(::getpid());
}

std::vector<task_id> copy_of(std::span<task_id const> tasks) {
  return {tasks.begin(), tasks.end()};
}

core::barrier_args reduction_args(std::string_view name, core::reduction how,
                                  std::string_view operand) {
  core::barrier_args args;
  args.name = name;
  args.reduce = how;
  args.data = operand;
  return args;
}

question at_barrier(core::barrier_args args, barrier_options options) {
  args.participants = std::move(options.among);
  args.fail_when_lost = options.fail_when_lost;
  if (options.on_progress) args.progress_every = std::max<duration>(options.progress_every, 1ms);
  question q{std::move(args), options.timeout};
  q.on_progress = std::move(options.on_progress);
  return q;
}

// The answers, as what the calls give. `pending` is the question that was asked.

asio::awaitable<round_number> round_of(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::barrier_answer>(a).round;
}

asio::awaitable<std::vector<std::string>> gathered(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  std::vector<std::string> all;
  for (auto const& one : value_of<core::barrier_answer>(a).data) all.emplace_back(one.view());
  co_return all;
}

// What a reduction gave.
asio::awaitable<std::string> reduced(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  auto const& data = value_of<core::barrier_answer>(a).data;
  if (data.size() == 1) co_return std::string{data.front().view()};
  throw error{status{errc::internal, "the coordinator's answer has no result of a reduction"}};
}

template <class Number>
asio::awaitable<Number> reduced_number(asio::awaitable<core::answer> pending) {
  auto const result = co_await reduced(std::move(pending));
  if (result.size() == number_bytes) co_return from_little_endian<Number>(result);
  throw error{status{errc::internal, "the coordinator's answer to a reduction is no number"}};
}

asio::awaitable<bool> stops(asio::awaitable<core::answer> pending) {
  auto const a = co_await std::move(pending);
  throw_unless_ok(a);
  co_return std::holds_alternative<core::sync_point>(a.value);
}

asio::awaitable<core::global_topology> whole(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::move(value_of<core::global_topology>(a));
}

asio::awaitable<std::vector<core::alive_answer::task>> those_alive(
    asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::move(value_of<core::alive_answer>(a).tasks);
}

template <class Value>
asio::awaitable<Value> whole(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::move(value_of<Value>(a));
}

// Page by page.
asio::awaitable<core::snapshot> inspect_all(connection_ptr at) {
  core::snapshot all;
  core::inspect_args args;
  for (bool goes_on = true; goes_on;) {
    question q{args, patience};
    auto a = co_await ask(at, std::move(q));
    auto& page = *value_of<boxed<core::snapshot>>(a);
    auto const next = std::exchange(page.next_task, std::nullopt);
    if (args.first_task == task_id{}) {
      all = std::move(page);
    } else {
      std::move(page.tasks.begin(), page.tasks.end(), std::back_inserter(all.tasks));
    }
    goes_on = next && *next > args.first_task;
    if (goes_on) args.first_task = *next;
  }
  co_return all;
}

asio::awaitable<job_error> why_failed(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::move(value_of<job_error>(a));
}

asio::awaitable<bool> joined(connection_ptr at, question q) {
  need_session(at);
  bool const was_member = at->may_be_member();
  at->may_be_member(true);
  auto a = co_await ask(at, std::move(q));
  if (!a.outcome.ok() && a.outcome.code() != errc::unavailable) at->may_be_member(was_member);
  co_return value_of<core::join_answer>(a).already_started;
}

asio::awaitable<void> left(connection_ptr at, question q) {
  need_session(at);
  if (!at->may_be_member()) {
    at->close(false);
    co_return;
  }
  auto const a = co_await ask(at, std::move(q));
  if (a.outcome.code() != errc::invalid_argument) at->close(false);
  throw_unless_ok(a);
}

// What the calls come to was posted when the connection was closed, so it is over before this is.
asio::awaitable<void> closed(connection_ptr at) {
  if (!at) co_return;
  at->silence();
  at->close(true);
  co_await asio::post(at->executor(), asio::use_awaitable);
}

}  // namespace

client::client(std::shared_ptr<connection> c) : connection_{std::move(c)} {}
client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
  client old{std::exchange(connection_, std::move(other.connection_))};
  return *this;
}

client::~client() {
  if (!connection_) return;
  connection_->silence();
  connection_->close(true);
}

connection_ptr const& connection_of(client const& of) { return of.connection_; }

asio::awaitable<void> client::close() { return closed(std::move(connection_)); }

asio::awaitable<client> client::connect(client_options options) { return open(std::move(options)); }

asio::awaitable<client> client::open(client_options options) {
  bool const is_guest = options.is_guest();
  auto const to = net::endpoint::parse(is_guest ? "unix:" + options.pass->socket : options.address);
  if (!to) throw error{to.error()};
  if (options.label.empty()) options.label = label_of_process();
  auto executor = co_await asio::this_coro::executor;
  client opened{std::make_shared<connection>(std::move(executor), std::move(options), *to)};
  opened.connection_->start();
  question q{question::kind::opened};
  auto const a = co_await ask(opened.connection_, std::move(q));
  throw_unless_ok(a);
  co_return std::move(opened);
}

asio::awaitable<void> client::leave(time_limit timeout) { return leave(leave_options{timeout}); }

asio::awaitable<void> client::leave(leave_options options) {
  core::leave_args args;
  args.returning = options.returning;
  question q{args, options.timeout};
  return left(connection_, std::move(q));
}

asio::awaitable<bool> client::join(time_limit timeout) { return join(join_options{timeout}); }

asio::awaitable<bool> client::join(join_options options) {
  core::join_args args;
  args.self = incarnation();
  args.take_over = options.take_over;
  if (connection_) args.recoverable = connection_->options().recoverable;
  question q{std::move(args), options.timeout};
  return joined(connection_, std::move(q));
}

asio::awaitable<void> client::reset() {
  core::reset_args args{incarnation()};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<round_number> client::barrier(std::string_view name, barrier_options options) {
  core::barrier_args args;
  args.name = name;
  return round_of(ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<std::vector<std::string>> client::all_gather(std::string_view name,
                                                             std::string_view data,
                                                             barrier_options options) {
  core::barrier_args args;
  args.name = name;
  args.gather = true;
  args.data = data;
  return gathered(ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<std::int64_t> client::reduce(std::string_view name, std::int64_t operand,
                                             reduction how, barrier_options options) {
  constexpr std::array kinds{core::reduction::sum_int64, core::reduction::min_int64,
                             core::reduction::max_int64};
  auto args =
      reduction_args(name, kinds.at(static_cast<std::size_t>(how)), to_little_endian(operand));
  return reduced_number<std::int64_t>(
      ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<double> client::reduce(std::string_view name, double operand, reduction how,
                                       barrier_options options) {
  constexpr std::array kinds{core::reduction::sum_double, core::reduction::min_double,
                             core::reduction::max_double};
  auto args =
      reduction_args(name, kinds.at(static_cast<std::size_t>(how)), to_little_endian(operand));
  return reduced_number<double>(ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<std::string> client::reduce_bits(std::string_view name, std::string_view operand,
                                                 bitwise how, barrier_options options) {
  auto const kind = how == bitwise::all ? core::reduction::bit_and : core::reduction::bit_or;
  auto args = reduction_args(name, kind, operand);
  return reduced(ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<round_number> client::all_equal(std::string_view name, std::string_view data,
                                                barrier_options options) {
  auto args = reduction_args(name, core::reduction::all_equal, data);
  return round_of(ask(connection_, at_barrier(std::move(args), std::move(options))));
}

asio::awaitable<void> client::cancel_barrier(std::string_view name,
                                             std::optional<round_number> round) {
  core::cancel_barrier_args args{std::string{name}, round};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<round_number> client::count_barrier(std::string_view name, std::uint32_t count,
                                                    time_limit timeout) {
  core::count_barrier_args args{std::string{name}, count, timeout};
  return round_of(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<job_error> client::failure() {
  return why_failed(ask(connection_, question{question::kind::failure}));
}

asio::awaitable<void> client::report_error(errc code, std::string_view message) {
  core::report_error_args args{status{code, std::string{message}}};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<void> client::preempt(time_limit in, std::optional<task_id> who) {
  if (!who) who = task();
  if (!who) throw error{status{errc::invalid_argument, "preempt: an observer must name a task"}};
  core::preempt_args args{*who, in};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<bool> client::reached_sync_point(std::uint64_t step) {
  return stops(ask(connection_, question{step}));
}

asio::awaitable<core::global_topology> client::exchange_topology(std::string_view platform,
                                                                 core::local_topology mine,
                                                                 time_limit timeout) {
  core::exchange_topology_args args{std::string{platform}, std::move(mine), timeout};
  return whole(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<core::snapshot> client::inspect() { return inspect_all(connection_); }

asio::awaitable<core::why_answer> client::why() {
  return whole<core::why_answer>(ask(connection_, question{core::why_args{}, patience}));
}

asio::awaitable<void> client::report_progress(std::uint64_t step) {
  core::report_progress_args args{step};
  return nothing(ask(connection_, question{args, patience}));
}

asio::awaitable<std::vector<core::alive_answer::task>> client::alive_tasks(
    std::span<task_id const> tasks, time_limit timeout) {
  core::alive_args args{copy_of(tasks), timeout};
  return those_alive(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<core::tasks_answer> client::watch_tasks(std::optional<std::uint64_t> after,
                                                        time_limit timeout) {
  core::watch_tasks_args args{after, timeout};
  return whole<core::tasks_answer>(ask(connection_, question{args, timeout}));
}

asio::awaitable<core::events_answer> client::watch_events(std::optional<std::uint64_t> after,
                                                          core::severity at_least,
                                                          time_limit timeout, std::uint32_t last) {
  core::watch_events_args args{after, at_least, timeout, last};
  return whole<core::events_answer>(ask(connection_, question{args, timeout}));
}

std::uint64_t client::reconnects() const { return connection_ ? connection_->reconnects() : 0; }
core::role client::role() const { return connection_ ? connection_->role() : core::role::worker; }
std::uint32_t client::num_tasks() const { return connection_ ? connection_->num_tasks() : 0; }
std::optional<task_id> client::task() const {
  return connection_ ? connection_->options().task : std::nullopt;
}
coxswain::incarnation client::incarnation() const {
  return connection_ ? connection_->incarnation() : coxswain::incarnation{};
}

}  // namespace coxswain
