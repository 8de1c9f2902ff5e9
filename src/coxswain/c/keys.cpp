// keys.h: keys, locks and queues, and the owning handles of these.

#include "coxswain/c/abi.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace coxswain;
using namespace coxswain::c;

// The client outlives the session's handles.
struct coxswain_item {
  std::shared_ptr<blocking_client> job;
  blocking_item held;
};

struct coxswain_held_lock {
  std::shared_ptr<blocking_client> job;
  blocking_lock held;
};

struct coxswain_key_watch {
  std::shared_ptr<blocking_client> job;
  blocking_key_watch watch;
};

struct coxswain_key_list : list_of<coxswain_key_value, std::vector<key_change>> {
  using list_of::list_of;
};

namespace coxswain::c {

coxswain_key_list* for_c(std::vector<key_change> all) {
  auto list = std::make_unique<coxswain_key_list>(std::move(all));
  for (auto const& entry : list->owner) {
    auto const value = entry.value ? string_of(*entry.value) : coxswain_string{};
    list->elements.push_back({string_of(entry.key), value, entry.version, !entry.value});
  }
  return list.release();
}

coxswain_key_list* for_c(std::vector<key_value> all) {
  std::vector<key_change> as_changes(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    as_changes[i].key = std::move(all[i].key);
    as_changes[i].value = std::move(all[i].value);
    as_changes[i].version = all[i].version;
  }
  return for_c(std::move(as_changes));
}

}  // namespace coxswain::c

namespace {

// For people, and programs that catch it: a call that found nothing.
template <class T>
T found(std::optional<T> value, errc code, char const* what, coxswain_string name,
        char const* why) {
  if (value) return std::move(*value);
  throw error{status{code, std::string{what} + " '" + std::string{view_of(name)} + "' " + why}};
}

expectation expected_by(coxswain_expectation const* given) {
  need(given, "what is expected");
  switch (given->what) {
    case COXSWAIN_EXPECT_ABSENT: return expectation::absent();
    case COXSWAIN_EXPECT_VERSION: return expectation::version(given->version);
    case COXSWAIN_EXPECT_VALUE: return expectation::value(view_of(given->value));
    default:
      throw error{status{errc::invalid_argument,
                         "what is expected is 0, 1 or 2, not " + std::to_string(given->what)}};
  }
}

}  // namespace

coxswain_status* coxswain_put(coxswain_client* client, coxswain_string key, coxswain_string value,
                              bool overwrite) {
  return outcome_of([&] {
    auto const mode = overwrite ? put_mode::overwrite : put_mode::create;
    job_of(client).put(view_of(key), view_of(value), mode);
  });
}

coxswain_status* coxswain_get(coxswain_client* client, coxswain_string key, int64_t timeout_ms,
                              coxswain_bytes** value) {
  return give(value, "where the value goes",
              [&] { return job_of(client).get(view_of(key), timeout_of(timeout_ms)); });
}

coxswain_status* coxswain_try_get(coxswain_client* client, coxswain_string key,
                                  coxswain_bytes** value) {
  return give(value, "where the value goes", [&] {
    return found(job_of(client).try_get(view_of(key)), errc::not_found, "key", key, "has no value");
  });
}

coxswain_status* coxswain_remove(coxswain_client* client, coxswain_string key, bool* removed) {
  return give(removed, [&] { return job_of(client).remove(view_of(key)); });
}

coxswain_status* coxswain_remove_tree(coxswain_client* client, coxswain_string directory, bool all,
                                      uint64_t* removed) {
  return give(removed, [&] {
    auto const mode = all ? remove_mode::all : remove_mode::tree;
    return job_of(client).remove_tree(view_of(directory), mode);
  });
}

coxswain_status* coxswain_increment(coxswain_client* client, coxswain_string key, int64_t by,
                                    int64_t* sum) {
  return give(sum, [&] { return job_of(client).increment(view_of(key), by); });
}

coxswain_status* coxswain_append(coxswain_client* client, coxswain_string key, coxswain_string more,
                                 uint64_t* version) {
  return give(version, [&] { return job_of(client).append(view_of(key), view_of(more)); });
}

coxswain_status* coxswain_compare_and_set(coxswain_client* client, coxswain_string key,
                                          coxswain_string value,
                                          coxswain_expectation const* expected, bool ephemeral,
                                          bool* stored, uint64_t* version, coxswain_bytes** found) {
  return give(stored, "where the outcome goes", [&] {
    auto const lifetime = ephemeral ? key_lifetime::ephemeral : key_lifetime::persistent;
    auto swap = job_of(client).compare_and_set(view_of(key), view_of(value), expected_by(expected),
                                               lifetime);
    auto* const other = found && swap.found ? for_c(std::move(*swap.found)) : nullptr;
    if (version) *version = swap.version;
    if (found) *found = other;
    return swap.outcome.ok();
  });
}

coxswain_key_value const* coxswain_key_list_data(coxswain_key_list const* list) {
  return data_of(list);
}
size_t coxswain_key_list_size(coxswain_key_list const* list) { return size_of(list); }
void coxswain_key_list_destroy(coxswain_key_list* list) { delete list; }

coxswain_status* coxswain_list(coxswain_client* client, coxswain_string directory,
                               coxswain_key_list** keys) {
  return give(keys, "where the list goes", [&] { return job_of(client).list(view_of(directory)); });
}

coxswain_status* coxswain_count(coxswain_client* client, coxswain_string directory,
                                uint64_t* count) {
  return give(count, "where the number goes",
              [&] { return job_of(client).count(view_of(directory)); });
}

coxswain_status* coxswain_get_all(coxswain_client* client, coxswain_string const* keys,
                                  size_t key_count, int64_t timeout_ms,
                                  coxswain_key_list** values) {
  return give(values, "where the list goes", [&] {
    if (key_count > 0) need(keys, "the list of keys");
    std::vector<std::string> all;
    for (auto const& key : std::span{keys, key_count}) all.emplace_back(view_of(key));
    return job_of(client).get_all(std::move(all), timeout_of(timeout_ms));
  });
}

coxswain_status* coxswain_put_all(coxswain_client* client, coxswain_key_value const* entries,
                                  size_t entry_count, bool overwrite, uint64_t* version) {
  return give(version, [&] {
    if (entry_count > 0) need(entries, "the list of entries");
    std::vector<std::pair<std::string, std::string>> all;
    for (auto const& entry : std::span{entries, entry_count}) {
      all.emplace_back(view_of(entry.key), view_of(entry.value));
    }
    auto const mode = overwrite ? put_mode::overwrite : put_mode::create;
    return job_of(client).put_all(std::move(all), mode);
  });
}

coxswain_status* coxswain_watch(coxswain_client* client, coxswain_string directory,
                                uint64_t const* after, coxswain_key_watch** watch) {
  return give(watch, "where the watch goes", [&] {
    auto const since = after ? std::optional{*after} : std::nullopt;
    auto begun = job_of(client).watch(view_of(directory), since);
    return new coxswain_key_watch{client->job, std::move(begun)};
  });
}

coxswain_status* coxswain_key_watch_next(coxswain_key_watch* watch, int64_t timeout_ms,
                                         coxswain_key_list** changes) {
  return give(changes, "where the list goes", [&] {
    need(watch, "the watch");
    return watch->watch.next(timeout_of(timeout_ms));
  });
}

coxswain_status* coxswain_key_watch_list(coxswain_key_watch* watch, coxswain_key_list** keys) {
  return give(keys, "where the list goes", [&] {
    need(watch, "the watch");
    return watch->watch.list();
  });
}

uint64_t coxswain_key_watch_version(coxswain_key_watch const* watch) {
  return watch ? watch->watch.version() : 0;
}

void coxswain_key_watch_destroy(coxswain_key_watch* watch) { delete watch; }

coxswain_status* coxswain_lock(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                               uint64_t* token) {
  return give(token, "where the token goes",
              [&] { return job_of(client).lock(view_of(name), timeout_of(timeout_ms)); });
}

coxswain_status* coxswain_try_lock(coxswain_client* client, coxswain_string name, uint64_t* token) {
  return give(token, "where the token goes", [&] {
    return found(job_of(client).try_lock(view_of(name)), errc::already_exists, "lock", name,
                 "is held");
  });
}

coxswain_status* coxswain_unlock(coxswain_client* client, coxswain_string name, uint64_t token) {
  return outcome_of([&] { job_of(client).unlock(view_of(name), token); });
}

coxswain_status* coxswain_locked(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                 coxswain_held_lock** lock) {
  return give(lock, "where the lock goes", [&] {
    auto taken = job_of(client).locked(view_of(name), timeout_of(timeout_ms));
    return new coxswain_held_lock{client->job, std::move(taken)};
  });
}

uint64_t coxswain_held_lock_token(coxswain_held_lock const* lock) {
  return lock ? lock->held.token() : 0;
}

coxswain_status* coxswain_held_lock_unlock(coxswain_held_lock* lock) {
  return outcome_of([&] {
    need(lock, "the lock");
    lock->held.unlock();
  });
}

void coxswain_held_lock_destroy(coxswain_held_lock* lock) { delete lock; }

coxswain_status* coxswain_push(coxswain_client* client, coxswain_string queue,
                               coxswain_string value, uint64_t* length) {
  return give(length, [&] { return job_of(client).push(view_of(queue), view_of(value)); });
}

coxswain_status* coxswain_queue_length(coxswain_client* client, coxswain_string queue,
                                       uint64_t* length) {
  return give(length, "where the length goes",
              [&] { return job_of(client).queue_length(view_of(queue)); });
}

coxswain_status* coxswain_pop(coxswain_client* client, coxswain_string queue, int64_t timeout_ms,
                              coxswain_bytes** value) {
  return give(value, "where the value goes",
              [&] { return job_of(client).pop(view_of(queue), timeout_of(timeout_ms)).value; });
}

coxswain_status* coxswain_take(coxswain_client* client, coxswain_string queue, int64_t timeout_ms,
                               int64_t lease_ms, coxswain_item** item) {
  return give(item, "where the item goes", [&] {
    auto const how = take_options{timeout_of(timeout_ms)}.with_lease(timeout_of(lease_ms));
    auto taken = job_of(client).take(view_of(queue), how);
    return new coxswain_item{client->job, std::move(taken)};
  });
}

coxswain_string coxswain_item_value(coxswain_item const* item) {
  if (!item) return {nullptr, 0};
  return string_of(item->held.value());
}

uint64_t coxswain_item_number(coxswain_item const* item) { return item ? item->held.number() : 0; }

uint32_t coxswain_item_redeliveries(coxswain_item const* item) {
  return item ? item->held.redeliveries() : 0;
}

coxswain_status* coxswain_finish(coxswain_item* item) {
  return outcome_of([&] {
    need(item, "the item");
    item->held.finish();
  });
}

coxswain_status* coxswain_release(coxswain_item* item) {
  return outcome_of([&] {
    need(item, "the item");
    item->held.release();
  });
}

coxswain_status* coxswain_extend(coxswain_item* item, int64_t lease_ms) {
  return outcome_of([&] {
    need(item, "the item");
    item->held.extend(timeout_of(lease_ms));
  });
}

void coxswain_item_destroy(coxswain_item* item) { delete item; }
