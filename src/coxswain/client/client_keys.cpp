// The client's calls for keys, queues and locks.

#include "coxswain/client/asking.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/client/whole_listing.hpp"

#include <utility>
#include <variant>

namespace coxswain {
namespace {

// The answers, as what the calls give. `pending` is the question that was asked.

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

asio::awaitable<std::vector<key_value>> listed(asio::awaitable<whole_listing> pending) {
  auto all = co_await std::move(pending);
  co_return std::move(all.entries);
}

// Page by page.
asio::awaitable<std::uint64_t> remove_pages(connection_ptr at, std::string directory, bool all) {
  std::uint64_t count = 0;
  std::string after;
  for (bool goes_on = true; goes_on;) {
    core::remove_tree_args args{directory, all, after};
    question q{std::move(args), patience};
    auto a = co_await ask(at, std::move(q));
    auto& page = value_of<core::removed_answer>(a);
    count += page.count;
    goes_on = page.last > after;
    after = std::move(page.last);
  }
  co_return count;
}

asio::awaitable<std::optional<std::uint64_t>> version_if_any(
    asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  std::optional<std::uint64_t> found;
  if (a.outcome.code() == errc::already_exists) co_return found;
  found = value_of<core::stored_answer>(a).version;
  co_return found;
}

asio::awaitable<bool> was_there(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::removed_answer>(a).count > 0;
}

asio::awaitable<std::int64_t> counter(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::counter_answer>(a).value;
}

asio::awaitable<std::uint64_t> version(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::stored_answer>(a).version;
}

asio::awaitable<std::uint64_t> counted(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  co_return value_of<core::count_answer>(a).count;
}

asio::awaitable<queue_item> item(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  auto const& taken = value_of<core::value_answer>(a);
  queue_item made;
  made.value = taken.value.view();
  made.number = taken.version;
  co_return made;
}

// What the coordinator found instead is no error.
asio::awaitable<swap_result> swapped(asio::awaitable<core::answer> pending) {
  auto a = co_await std::move(pending);
  swap_result made;
  made.outcome = a.outcome;
  if (auto const* const found = std::get_if<core::value_answer>(&a.value)) {
    made.version = found->version;
    made.found.emplace(found->value.view());
  } else if (a.outcome.code() != errc::not_found) {
    made.version = value_of<core::stored_answer>(a).version;
  }
  co_return made;
}

}  // namespace

asio::awaitable<std::uint64_t> client::put(std::string_view key, std::string_view value,
                                           put_mode mode, key_lifetime lifetime) {
  core::put_args args;
  args.key = key;
  args.value = value;
  args.overwrite = mode == put_mode::overwrite;
  args.ephemeral = lifetime == key_lifetime::ephemeral;
  return version(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::uint64_t> client::put_all(
    std::vector<std::pair<std::string, std::string>> entries, put_mode mode) {
  core::put_all_args args;
  args.entries.reserve(entries.size());
  for (auto& [key, value] : entries) args.entries.push_back({std::move(key), std::move(value)});
  args.overwrite = mode == put_mode::overwrite;
  return version(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<swap_result> client::compare_and_set(std::string_view key, std::string_view value,
                                                     expectation expected, key_lifetime lifetime) {
  core::compare_and_set_args args;
  args.key = key;
  args.value = value;
  args.expected = std::move(expected.what_);
  args.ephemeral = lifetime == key_lifetime::ephemeral;
  return swapped(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::uint64_t> client::append(std::string_view key, std::string_view more) {
  core::append_args args{std::string{key}, std::string{more}};
  return version(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::string> client::get(std::string_view key, time_limit timeout) {
  core::get_args args{std::string{key}, timeout};
  return text(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<std::optional<std::string>> client::try_get(std::string_view key) {
  core::try_get_args args{std::string{key}};
  return text_if_any(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::vector<key_value>> client::list(std::string_view directory) {
  return listed(list_whole(connection_, std::string{directory}));
}

asio::awaitable<bool> client::remove(std::string_view key) {
  core::remove_args args{std::string{key}};
  return was_there(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::uint64_t> client::remove_tree(std::string_view directory, remove_mode mode) {
  return remove_pages(connection_, std::string{directory}, mode == remove_mode::all);
}

asio::awaitable<std::int64_t> client::increment(std::string_view key, std::int64_t by) {
  core::increment_args args{std::string{key}, by};
  return counter(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::vector<key_value>> client::get_all(std::vector<std::string> keys,
                                                        time_limit timeout) {
  core::get_all_args args{std::move(keys), timeout};
  return entries(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<std::uint64_t> client::count(std::string_view directory) {
  core::count_keys_args args{std::string{directory}};
  return counted(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<std::uint64_t> client::push(std::string_view queue, std::string_view value) {
  core::push_args args{std::string{queue}, std::string{value}};
  return counted(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<queue_item> client::pop(std::string_view queue, time_limit timeout) {
  core::pop_args args{std::string{queue}, timeout};
  return item(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<std::uint64_t> client::lock(std::string_view name, time_limit timeout) {
  core::lock_args args{std::string{name}, timeout};
  return version(ask(connection_, question{std::move(args), timeout}));
}

asio::awaitable<std::optional<std::uint64_t>> client::try_lock(std::string_view name) {
  core::try_lock_args args{std::string{name}};
  return version_if_any(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<void> client::unlock(std::string_view name, std::uint64_t token) {
  core::unlock_args args{std::string{name}, token};
  return nothing(ask(connection_, question{std::move(args), patience}));
}

asio::awaitable<key_watch> client::watch(std::string_view directory,
                                         std::optional<std::uint64_t> after) {
  return key_watch::open(connection_, std::string{directory}, after);
}

}  // namespace coxswain
