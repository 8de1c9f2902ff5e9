// The client's calls for keys, queues and locks, and what they leave it holding.

#include "coxswain/client/asking.hpp"
#include "coxswain/client/client_calls.hpp"
#include "coxswain/client/whole_listing.hpp"
#include "coxswain/net/asio.hpp"

#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// From and to the messages.

std::string text(core::answer& a) {
  return std::string{value_of<core::value_answer>(a).value.view()};
}

// That there is no value is no failure.
std::optional<std::string> text_if_any(core::answer& a) {
  if (a.outcome.code() == errc::not_found) return std::nullopt;
  return text(a);
}

core::expected_value sent(std::variant<std::monostate, std::uint64_t, std::string> expected) {
  if (auto const* const version = std::get_if<std::uint64_t>(&expected)) return *version;
  if (auto* const value = std::get_if<std::string>(&expected)) return std::move(*value);
  return core::absent_value{};
}

std::uint64_t version(core::answer& a) { return value_of<core::stored_answer>(a).version; }

queue_item item(core::answer& a) {
  auto const& taken = value_of<core::value_answer>(a);
  queue_item made;
  made.value = taken.value.view();
  made.number = taken.version;
  made.redeliveries = taken.redeliveries.value_or(0);
  return made;
}

// That another one holds the lock is no failure.
std::optional<std::uint64_t> version_if_any(core::answer& a) {
  if (a.outcome.code() == errc::already_exists) return std::nullopt;
  return version(a);
}

// A value other than the expected one is not an error.
swap_result swapped(core::answer& a) {
  swap_result made;
  made.outcome = a.outcome;
  if (auto const* const found = std::get_if<core::value_answer>(&a.value)) {
    made.version = found->version;
    made.found.emplace(found->value.view());
  } else if (a.outcome.code() != errc::not_found) {
    made.version = value_of<core::stored_answer>(a).version;
  }
  return made;
}

asio::awaitable<std::vector<key_value>> listed(asio::awaitable<whole_listing> pending) {
  auto all = co_await std::move(pending);
  co_return std::move(all.entries);
}

// Page by page.
asio::awaitable<std::uint64_t> remove_pages(connection_ptr at, std::string directory, bool all,
                                            duration timeout) {
  std::uint64_t count = 0;
  std::string after;
  for (bool goes_on = true; goes_on;) {
    core::remove_tree_args args{directory, all, after};
    question q{std::move(args), timeout};
    auto a = co_await ask(at, std::move(q));
    auto& page = value_of<core::removed_answer>(a);
    count += page.count;
    goes_on = page.last > after;
    after = std::move(page.last);
  }
  co_return count;
}

}  // namespace

call<std::uint64_t> client_calls::put(std::string_view key, std::string_view value,
                                      put_options const& options) const {
  core::put_args args;
  args.key = key;
  args.value = value;
  args.overwrite = options.mode == put_mode::overwrite;
  args.ephemeral = options.lifetime == key_lifetime::ephemeral;
  return ask<std::uint64_t>(std::move(args), options);
}

call<std::uint64_t> client_calls::put_all(std::vector<std::pair<std::string, std::string>> entries,
                                          put_options const& options) const {
  core::put_all_args args;
  args.entries.reserve(entries.size());
  for (auto& [key, value] : entries) args.entries.push_back({std::move(key), std::move(value)});
  args.overwrite = options.mode == put_mode::overwrite;
  return ask<std::uint64_t>(std::move(args), options);
}

call<swap_result> client_calls::compare_and_set(std::string_view key, std::string_view value,
                                                expectation expected, key_lifetime lifetime,
                                                call_options const& options) const {
  core::compare_and_set_args args;
  args.key = key;
  args.value = value;
  args.expected = sent(std::move(expected.what_));
  args.ephemeral = lifetime == key_lifetime::ephemeral;
  return asking(at_, question{std::move(args), options.timeout}, swapped, true);
}

call<std::optional<std::string>> client_calls::try_get(std::string_view key,
                                                       call_options const& options) const {
  core::try_get_args args{std::string{key}};
  return asking(at_, question{std::move(args), options.timeout}, text_if_any, true);
}

asio::awaitable<std::vector<key_value>> client_calls::list(std::string_view directory,
                                                           call_options const& options) const {
  need_session(at_);
  return listed(list_whole(at_, std::string{directory}, options.timeout));
}

asio::awaitable<std::uint64_t> client_calls::remove_tree(std::string_view directory,
                                                         remove_mode mode,
                                                         call_options const& options) const {
  need_session(at_);
  return remove_pages(at_, std::string{directory}, mode == remove_mode::all, options.timeout);
}

call<queue_item> client_calls::pop(std::string_view queue, call_options const& options) const {
  core::pop_args args{std::string{queue}, options.timeout};
  return asking(at_, question{std::move(args), options.timeout}, item);
}

call<taken_item> client_calls::take(std::string_view queue, take_options const& options) const {
  core::take_args args{std::string{queue}, options.timeout, options.lease};
  auto read = [at = std::weak_ptr{at_}](core::answer& a) { return taken_item{at, item(a)}; };
  return asking_with<taken_item>(at_, question{std::move(args), options.timeout}, std::move(read));
}

call<held_lock> client_calls::locked(std::string_view name, call_options const& options) const {
  core::lock_args args{std::string{name}, options.timeout};
  auto read = [at = std::weak_ptr{at_}, name = args.name](core::answer& a) {
    return held_lock{at, name, version(a)};
  };
  return asking_with<held_lock>(at_, question{std::move(args), options.timeout}, std::move(read));
}

call<std::optional<std::uint64_t>> client_calls::try_lock(std::string_view name,
                                                          call_options const& options) const {
  core::try_lock_args args{std::string{name}};
  return asking(at_, question{std::move(args), options.timeout}, version_if_any, true);
}

asio::awaitable<key_watch> client_calls::watch(std::string_view directory,
                                               std::optional<std::uint64_t> after,
                                               call_options const& options) const {
  need_session(at_);
  return key_watch::open(at_, std::string{directory}, after, options.timeout);
}

}  // namespace coxswain::detail

namespace coxswain {
namespace detail {
namespace {

// A reply that nobody waits for.
class unawaited final : public waiter {
 public:
  void complete(std::unique_ptr<waiter>, boost::system::error_code, core::answer) override {}
};

// Sends a request on the client's thread. A named class: see initiation.
class sending {
 public:
  sending(connection_ptr at, core::request what) : at_{std::move(at)}, what_{std::move(what)} {}

  void operator()() {
    question q{std::move(what_), core::timeout_default};
    static_cast<void>(at_->ask(std::move(q), std::make_unique<unawaited>()));
  }

 private:
  connection_ptr at_;
  core::request what_;
};

// From any thread.
void send(connection_ptr at, core::request what) noexcept {
  if (!at) return;
  try {
    auto const on = at->executor();
    asio::post(on, sending{std::move(at), std::move(what)});
  } catch (...) {  // out of memory: the lease expires, or the session ends
  }
}

// FAILED_PRECONDITION: the handle holds nothing.
client_calls calls_at(std::weak_ptr<connection> const& at) {
  if (auto is_there = at.lock()) return client_calls{std::move(is_there)};
  throw error{status{errc::failed_precondition,
                     "this handle holds nothing: it was given back or moved from, or its client is "
                     "closed"}};
}

}  // namespace

void client_calls::give_back(queue_item const& item) const noexcept {
  send(at_, core::update_lease_args{item.number, item.redeliveries, core::lease_change::release});
}

void client_calls::give_back(std::string lock, std::uint64_t token) const noexcept {
  send(at_, core::unlock_args{std::move(lock), token});
}

initiation begin_at(std::weak_ptr<connection> const& at) {
  auto const is_there = at.lock();
  return initiation{is_there ? is_there->executor() : asio::any_io_executor{}};
}

}  // namespace detail

taken_item::~taken_item() { give_back(); }

taken_item& taken_item::operator=(taken_item&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  at_ = std::exchange(other.at_, {});
  item_ = std::move(other.item_);
  return *this;
}

void taken_item::give_back() noexcept {
  detail::client_calls{std::exchange(at_, {}).lock()}.give_back(item_);
}

queue_item taken_item::detach() noexcept {
  at_.reset();
  return std::move(item_);
}

detail::call<void> taken_item::finishing(call_options const& options) {
  auto const calls = detail::calls_at(std::exchange(at_, {}));
  return calls.finish(item_, options);
}

detail::call<void> taken_item::releasing(call_options const& options) {
  auto const calls = detail::calls_at(std::exchange(at_, {}));
  return calls.release(item_, options);
}

detail::call<void> taken_item::extending(time_limit lease, call_options const& options) const {
  auto const calls = detail::calls_at(at_);
  return calls.extend(item_, lease, options);
}

held_lock::~held_lock() { give_back(); }

held_lock& held_lock::operator=(held_lock&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  at_ = std::exchange(other.at_, {});
  name_ = std::move(other.name_);
  token_ = other.token_;
  return *this;
}

void held_lock::give_back() noexcept {
  detail::client_calls{std::exchange(at_, {}).lock()}.give_back(std::move(name_), token_);
}

std::uint64_t held_lock::detach() noexcept {
  at_.reset();
  return token_;
}

detail::call<void> held_lock::unlocking(call_options const& options) {
  auto const calls = detail::calls_at(std::exchange(at_, {}));
  return calls.unlock(name_, token_, options);
}

}  // namespace coxswain
