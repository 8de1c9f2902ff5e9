// Owning handles of coxswain.h: locks, and items taken from a queue.

#include "coxswain/c/borders.hpp"

#include <memory>
#include <string>
#include <utility>

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

coxswain_status* coxswain_lock(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                               uint64_t* token) {
  return outcome_of([&] {
    need(token, "where the token goes");
    *token = job_of(client).lock(view_of(name), timeout_of(timeout_ms));
  });
}

coxswain_status* coxswain_try_lock(coxswain_client* client, coxswain_string name, uint64_t* token) {
  return outcome_of([&] {
    need(token, "where the token goes");
    auto const taken = job_of(client).try_lock(view_of(name));
    if (!taken) {
      throw error{
          status{errc::already_exists, "lock '" + std::string{view_of(name)} + "' is held"}};
    }
    *token = *taken;
  });
}

coxswain_status* coxswain_unlock(coxswain_client* client, coxswain_string name, uint64_t token) {
  return outcome_of([&] { job_of(client).unlock(view_of(name), token); });
}

coxswain_status* coxswain_locked(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                 coxswain_held_lock** lock) {
  return outcome_of([&] {
    need(lock, "where the lock goes");
    auto taken = job_of(client).locked(view_of(name), timeout_of(timeout_ms));
    *lock = new coxswain_held_lock{client->job, std::move(taken)};
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
  return outcome_of([&] {
    auto const after = job_of(client).push(view_of(queue), view_of(value));
    if (length) *length = after;
  });
}

coxswain_status* coxswain_take(coxswain_client* client, coxswain_string queue, int64_t timeout_ms,
                               int64_t lease_ms, coxswain_item** item) {
  return outcome_of([&] {
    need(item, "where the item goes");
    auto const how = take_options{timeout_of(timeout_ms)}.with_lease(timeout_of(lease_ms));
    auto taken = job_of(client).take(view_of(queue), how);
    *item = new coxswain_item{client->job, std::move(taken)};
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
