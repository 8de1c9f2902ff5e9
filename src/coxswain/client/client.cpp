#include "coxswain/client/client.hpp"

#include "coxswain/client/asking.hpp"

#include <unistd.h>

#include <array>
#include <utility>

namespace coxswain {
namespace detail {
namespace {

constexpr std::size_t label_bytes_max = 256;

// "host:pid"
std::string label_of_process() {
  std::array<char, label_bytes_max> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name = {'?'};
  return std::string{name.data()} + ":" + std::to_string(::getpid());
}

// Throws the reason if there is none.
asio::awaitable<void> wait_for_session(connection_ptr at) {
  question q{question::kind::opened};
  auto const a = co_await ask(at, std::move(q));
  throw_unless_ok(a);
}

core::join_args join_of(connection const& at) {
  core::join_args args;
  args.self = at.incarnation();
  auto const& as = at.options();
  args.recoverable = as.recoverable;
  args.any = as.any && (!at.task() || at.epoch() > 0);
  args.member = as.member;
  args.placement = as.placement;
  return args;
}

question join_question(core::join_args args, join_options const& options) {
  args.take_over = options.take_over;
  bool const is_patient = args.any && options.timeout == core::timeout_default;
  return {std::move(args), is_patient ? without_limit : duration{options.timeout}};
}

asio::awaitable<bool> joined(connection_ptr at, question q) {
  bool const was_member = at->may_be_member();
  at->may_be_member(true);
  auto a = co_await ask(at, std::move(q));
  if (!a.outcome.ok() && a.outcome.code() != errc::unavailable) at->may_be_member(was_member);
  if (a.outcome.code() == errc::unavailable && !at->session()) co_await wait_for_session(at);
  co_return value_of<core::join_answer>(a).already_started;
}

std::vector<net::endpoint> addresses_for(client_options const& o) {
  if (o.is_guest()) {
    auto forwarder = net::endpoint::parse("unix:" + o.pass->socket);
    if (!forwarder) throw error{forwarder.error()};
    return {*std::move(forwarder)};
  }
  auto all = net::endpoint::parse_list(o.address);
  if (!all) throw error{all.error()};
  return *std::move(all);
}

connection_ptr start_connection(client_options options, asio::any_io_executor on) {
  auto const to = addresses_for(options);
  if (options.label.empty()) options.label = label_of_process();
  auto made = std::make_shared<connection>(std::move(on), std::move(options), to);
  made->start();
  return made;
}

asio::awaitable<void> left(connection_ptr at, question q) {
  if (!at->may_be_member()) {
    at->close(false);
    co_return;
  }
  auto const a = co_await ask(at, std::move(q));
  // ABORTED in an elastic job: the epoch is over, and the next one is to follow.
  bool const stays = a.outcome.code() == errc::invalid_argument ||
                     (a.outcome.code() == errc::aborted && at->epoch() > 0);
  if (!stays) at->close(false);
  throw_unless_ok(a);
}

// The completions of the calls were posted when the connection was closed, so they run before this.
asio::awaitable<void> closed(connection_ptr at) {
  if (!at) co_return;
  at->silence();
  at->close(true);
  co_await asio::post(at->executor(), asio::use_awaitable);
}

}  // namespace

asio::awaitable<client> client_calls::connect(client_options options) {
  auto executor = co_await asio::this_coro::executor;
  client opened{start_connection(std::move(options), std::move(executor))};
  co_await wait_for_session(connection_of(opened));
  co_return std::move(opened);
}

asio::awaitable<client> client_calls::connect_and_join(client_options options, join_options join) {
  auto executor = co_await asio::this_coro::executor;
  client opened{start_connection(std::move(options), std::move(executor))};
  auto const at = connection_of(opened);
  auto args = join_of(*at);
  args.with_hello = !args.any && at->has_new_incarnation();
  auto q = join_question(std::move(args), join);
  co_await joined(at, std::move(q));
  co_return std::move(opened);
}

asio::awaitable<bool> client_calls::join(join_options const& options) const {
  need_session(at_);
  return joined(at_, join_question(join_of(*at_), options));
}

asio::awaitable<void> client_calls::leave(leave_options const& options) const {
  need_session(at_);
  core::leave_args args;
  args.returning = options.returning;
  question q{args, options.timeout};
  return left(at_, std::move(q));
}

epoch client_calls::last_epoch() const { return at_ ? at_->whole_epoch() : epoch{}; }

asio::awaitable<void> client_calls::close() { return closed(std::move(at_)); }

}  // namespace detail

client::client(std::shared_ptr<detail::connection> at) : calls_{std::move(at)} {}
client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
  client old{std::move(*this)};
  calls_ = std::move(other.calls_);
  return *this;
}

detail::connection_ptr const& detail::connection_of(client const& of) { return of.calls_.at(); }

client::~client() {
  auto const& at = calls_.at();
  if (!at) return;
  at->silence();
  at->close(true);
}

client::executor_type client::get_executor() const {
  return calls_.at() ? calls_.at()->executor() : executor_type{};
}

std::uint64_t client::reconnects() const { return calls_.at() ? calls_.at()->reconnects() : 0; }
role client::role() const { return calls_.at() ? calls_.at()->role() : role::worker; }
std::uint32_t client::num_tasks() const { return calls_.at() ? calls_.at()->num_tasks() : 0; }
std::optional<task_id> client::task() const {
  return calls_.at() ? calls_.at()->task() : std::nullopt;
}
coxswain::incarnation client::incarnation() const {
  return calls_.at() ? calls_.at()->incarnation() : coxswain::incarnation{};
}

}  // namespace coxswain
