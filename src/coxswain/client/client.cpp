#include "coxswain/client/client.hpp"

#include "coxswain/client/connection.hpp"

#include <unistd.h>

#include <array>
#include <utility>
#include <variant>

namespace coxswain {
namespace {

using connection_ptr = std::shared_ptr<connection>;

// What the calls without a timeout wait at the most.
constexpr duration patience = core::timeout_default;

constexpr std::size_t label_bytes_max = 256;

// "host:pid"
std::string label_of_process() {
  std::array<char, label_bytes_max> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  return std::string{name.data()} + ":" + std::to_string(::getpid());
}

// Takes a question back when its coroutine is cancelled.
class take_back {
 public:
  take_back(connection_ptr const& from, connection::place where) : from_{from}, where_{where} {}

  void operator()(asio::cancellation_type) const {
    if (auto const still_there = from_.lock()) still_there->cancel(where_);
  }

 private:
  std::weak_ptr<connection> from_;
  connection::place where_;
};

// What begins every wait. A named class, and no lambda: see style.md, GCC 12.
class initiation {
 public:
  using executor_type = asio::any_io_executor;

  explicit initiation(connection_ptr at) : at_{std::move(at)} {}

  [[nodiscard]] executor_type get_executor() const noexcept { return at_->executor(); }

  template <class Handler>
  void operator()(Handler&& handler, question q) const {
    using handler_type = std::decay_t<Handler>;
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto who = std::make_unique<waiting_handler<handler_type>>(std::forward<Handler>(handler),
                                                               at_->executor());
    auto const where = at_->ask(std::move(q), std::move(who));
    if (slot.is_connected()) slot.template emplace<take_back>(at_, where);
  }

 private:
  connection_ptr at_;
};

void need_session(connection_ptr const& at) {
  if (at) return;
  throw error{
      status{errc::failed_precondition, "this client has no session: it was not connected"}};
}

asio::awaitable<core::answer> ask(connection_ptr at, question q) {
  need_session(at);
  using signature = void(boost::system::error_code, core::answer);
  return asio::async_initiate<asio::use_awaitable_t<> const, signature>(
      initiation{std::move(at)}, asio::use_awaitable, std::move(q));
}

void throw_unless_ok(core::answer const& a) {
  if (a.outcome.ok()) return;
  if (auto const* details = std::get_if<barrier_failure>(&a.value)) {
    throw error{a.outcome, *details};
  }
  throw error{a.outcome};
}

template <class Value>
Value& value_of(core::answer& a) {
  throw_unless_ok(a);
  if (auto* value = std::get_if<Value>(&a.value)) return *value;
  throw error{status{errc::internal, "the coordinator's answer does not fit the question"}};
}

std::vector<task_id> copy_of(std::span<task_id const> tasks) {
  return {tasks.begin(), tasks.end()};
}

// The answers, as what the calls give. `pending` is the question that was asked.

asio::awaitable<void> nothing(asio::awaitable<core::answer> pending) {
  auto const a = co_await std::move(pending);
  throw_unless_ok(a);
}

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

asio::awaitable<std::string> text(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::string{value_of<core::value_answer>(a).value.view()};
}

asio::awaitable<std::optional<std::string>> text_if_any(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  std::optional<std::string> found;
  if (a.outcome.code() == errc::not_found) co_return found;
  found.emplace(value_of<core::value_answer>(a).value.view());
  co_return found;
}

asio::awaitable<std::vector<key_value>> entries(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  std::vector<key_value> all;
  for (auto& one : value_of<core::listing_answer>(a).entries) {
    all.push_back({std::move(one.key), std::string{one.value.view()}, one.version});
  }
  co_return all;
}

asio::awaitable<std::uint64_t> removed(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::removed_answer>(a).count;
}

asio::awaitable<std::int64_t> counter(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::counter_answer>(a).value;
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

asio::awaitable<core::snapshot> picture(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return std::move(value_of<core::snapshot>(a));
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
  at->close(false);
  throw_unless_ok(a);
}

}  // namespace

// --- Opening and closing ---------------------------------------------------------------------

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

asio::awaitable<client> client::connect(client_options options) { return open(std::move(options)); }

asio::awaitable<client> client::open(client_options options) {
  auto const to = net::endpoint::parse(options.address);
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

asio::awaitable<void> client::leave(duration timeout) {
  question q{core::leave_args{}, timeout};
  return left(connection_, std::move(q));
}

asio::awaitable<bool> client::join(duration timeout) {
  question q{core::join_args{incarnation(), timeout}, timeout};
  return joined(connection_, std::move(q));
}

// --- Barriers --------------------------------------------------------------------------------

asio::awaitable<round_number> client::barrier(std::string_view name, duration timeout,
                                              std::span<task_id const> among) {
  core::barrier_args args;
  args.name = name;
  args.participants = copy_of(among);
  return round_of(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<round_number> client::barrier(std::string_view name, barrier_options options) {
  core::barrier_args args;
  args.name = name;
  args.participants = std::move(options.among);
  if (options.on_progress) args.progress_every = options.progress_every;
  question q{std::move(args), options.timeout};
  q.on_progress = std::move(options.on_progress);
  return round_of(ask(connection_, std::move(q)));
}

asio::awaitable<std::vector<std::string>> client::all_gather(std::string_view name,
                                                             std::string_view data,
                                                             duration timeout,
                                                             std::span<task_id const> among) {
  core::barrier_args args;
  args.name = name;
  args.participants = copy_of(among);
  args.gather = true;
  args.data = data;
  return gathered(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<void> client::cancel_barrier(std::string_view name,
                                             std::optional<round_number> round) {
  core::cancel_barrier_args args{std::string{name}, round};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<round_number> client::count_barrier(std::string_view name, std::uint32_t count,
                                                    duration timeout) {
  core::count_barrier_args args{std::string{name}, count, timeout};
  return round_of(ask(connection_, question{std::move(args), timeout}));
}

// --- Keys ------------------------------------------------------------------------------------

asio::awaitable<void> client::put(std::string_view key, std::string_view value, put_mode mode) {
  core::put_args args{std::string{key}, std::string{value}, mode == put_mode::overwrite};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::string> client::get(std::string_view key, duration timeout) {
  core::get_args args{std::string{key}, timeout};
  return text(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<std::optional<std::string>> client::try_get(std::string_view key) {
  core::try_get_args args{std::string{key}};
  return text_if_any(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::vector<key_value>> client::list(std::string_view directory) {
  core::list_args args{std::string{directory}};
  return entries(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::uint64_t> client::remove(std::string_view key, remove_mode mode) {
  core::remove_args args{std::string{key}, mode == remove_mode::everything};
  return removed(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::int64_t> client::increment(std::string_view key, std::int64_t by) {
  core::increment_args args{std::string{key}, by};
  return counter(ask(connection_, question{std::move(args), patience}));
}

// --- The job ---------------------------------------------------------------------------------

asio::awaitable<job_error> client::failure() {
  return why_failed(ask(connection_, question{question::kind::failure}));
}

asio::awaitable<void> client::report_error(errc code, std::string_view message) {
  core::report_error_args args{status{code, std::string{message}}};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<void> client::preempt(duration in, std::optional<task_id> who) {
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
                                                                 duration timeout) {
  core::exchange_topology_args args{std::string{platform}, std::move(mine), timeout};
  return whole(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<core::snapshot> client::inspect() {
  return picture(ask(connection_, question{core::inspect_args{}, patience}));
}

std::uint64_t client::reconnects() const { return connection_ ? connection_->reconnects() : 0; }
std::uint32_t client::num_tasks() const { return connection_ ? connection_->num_tasks() : 0; }
std::optional<task_id> client::task() const {
  return connection_ ? connection_->options().task : std::nullopt;
}
coxswain::incarnation client::incarnation() const {
  return connection_ ? connection_->incarnation() : coxswain::incarnation{};
}

}  // namespace coxswain
