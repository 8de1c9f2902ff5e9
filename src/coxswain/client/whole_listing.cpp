#include "coxswain/client/whole_listing.hpp"

#include "coxswain/client/asking.hpp"

#include <map>
#include <optional>
#include <utility>

namespace coxswain::detail {
namespace {

constexpr int attempts = 8;

// The normal form of a path: no slashes at its ends, no runs of slashes.
std::string normal(std::string_view directory) {
  std::string path;
  for (char const c : directory) {
    if (c != '/' || (!path.empty() && path.back() != '/')) path.push_back(c);
  }
  if (path.ends_with('/')) path.pop_back();
  return path;
}

// Applies all changes since the version of the first page.
asio::awaitable<void> catch_up(connection_ptr at, std::string directory, std::uint64_t first,
                               whole_listing& all) {
  std::string const itself = normal(directory);
  std::map<std::string, key_value> by_key;
  for (auto& entry : all.entries) by_key.emplace(entry.key, std::move(entry));
  auto const last = std::exchange(all.version, first);
  while (all.version < last) {
    core::watch_keys_args args;
    args.directory = directory;
    args.after = all.version;
    args.timeout = duration::zero();
    question q{std::move(args), duration::zero()};
    auto a = co_await ask(at, std::move(q));
    auto& batch = value_of<core::key_changes_answer>(a);
    for (auto& change : batch.changes) {
      if (change.key == itself) continue;
      by_key.erase(change.key);
      if (!change.value) continue;
      std::string const key = change.key;
      by_key.emplace(
          key, key_value{std::move(change.key), std::string{change.value->view()}, change.version});
    }
    all.version = batch.version;
  }
  all.entries.clear();
  for (auto& [_, entry] : by_key) all.entries.push_back(std::move(entry));
}

asio::awaitable<whole_listing> list_once(connection_ptr at, std::string directory,
                                         duration timeout) {
  need_session(at);
  whole_listing all;
  std::string after;
  std::optional<std::uint64_t> first;
  for (bool goes_on = true; goes_on;) {
    core::list_args args{directory};
    args.after = after;
    args.version = first;
    question q{std::move(args), timeout};
    auto a = co_await ask(at, std::move(q));
    auto& page = value_of<core::listing_answer>(a);
    for (auto& entry : page.entries) {
      all.entries.push_back({std::move(entry.key), std::string{entry.value.view()}, entry.version});
    }
    all.version = page.version;
    if (!first) first = page.version;
    goes_on = page.more && !all.entries.empty() && all.entries.back().key > after;
    if (goes_on) after = all.entries.back().key;
  }
  if (all.version != *first) co_await catch_up(at, std::move(directory), *first, all);
  co_return all;
}

}  // namespace

asio::awaitable<whole_listing> list_whole(std::weak_ptr<connection> at, std::string directory,
                                          duration timeout) {
  for (int i = 1;; ++i) {
    try {
      auto all = co_await list_once(at.lock(), directory, timeout);
      co_return all;
    } catch (error const& e) {
      auto const code = e.outcome().code();
      // The deadline is that of catch_up: the connection was lost meanwhile.
      bool const may_succeed = code == errc::out_of_range || code == errc::deadline_exceeded;
      if (!may_succeed || i == attempts) throw;
    }
  }
}

}  // namespace coxswain::detail
