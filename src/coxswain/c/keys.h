#ifndef COXSWAIN_KEYS_H
#define COXSWAIN_KEYS_H
// PUBLIC. The calls for keys, locks and queues. Their rules are those of coxswain.h, which includes
// this.

#include "coxswain/c/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Keys.

// Stores a value and wakes calls that wait for the key. ALREADY_EXISTS: it has a value, and
// `overwrite` is false; not if an earlier process of the same recoverable task has put the same.
coxswain_status* coxswain_put(coxswain_client* client, coxswain_string key, coxswain_string value,
                              bool overwrite);

// Waits until the key has a value. CANCELLED: the job failed, or the coordinator stops.
coxswain_status* coxswain_get(coxswain_client* client, coxswain_string key, int64_t timeout_ms,
                              coxswain_bytes** value);

// The key's value now. NOT_FOUND: it has none.
coxswain_status* coxswain_try_get(coxswain_client* client, coxswain_string key,
                                  coxswain_bytes** value);

// Removes the key and nothing below it. `removed`, unless NULL: whether it was there.
coxswain_status* coxswain_remove(coxswain_client* client, coxswain_string key, bool* removed);

// Removes everything below a directory, and the key equal to it. `removed`, unless NULL: how many
// keys were there. INVALID_ARGUMENT: the directory is the root ("" or "/"), and `all` is false.
coxswain_status* coxswain_remove_tree(coxswain_client* client, coxswain_string directory, bool all,
                                      uint64_t* removed);

// Adds to a decimal counter, zero if the key is missing. `sum`, unless NULL: what it is then.
// FAILED_PRECONDITION (the value is not a decimal 64-bit integer), OUT_OF_RANGE (the sum
// overflows).
coxswain_status* coxswain_increment(coxswain_client* client, coxswain_string key, int64_t by,
                                    int64_t* sum);

// Adds to the end of a value, empty if the key is missing. `version`, unless NULL: the key's new
// version.
coxswain_status* coxswain_append(coxswain_client* client, coxswain_string key, coxswain_string more,
                                 uint64_t* version);

enum { COXSWAIN_EXPECT_ABSENT = 0, COXSWAIN_EXPECT_VERSION = 1, COXSWAIN_EXPECT_VALUE = 2 };

// What coxswain_compare_and_set expects of a key.
typedef struct coxswain_expectation {
  int32_t what;
  uint64_t version;       // of COXSWAIN_EXPECT_VERSION
  coxswain_string value;  // of COXSWAIN_EXPECT_VALUE
} coxswain_expectation;

// Stores a value if the key is as expected, and sets `stored` to whether it was. `version`, unless
// NULL: the key's new or present one; 0: it is missing. `found`, unless NULL: the value that was
// there instead; NULL: none. `ephemeral`: the key is removed when this task fails or leaves.
coxswain_status* coxswain_compare_and_set(coxswain_client* client, coxswain_string key,
                                          coxswain_string value,
                                          coxswain_expectation const* expected, bool ephemeral,
                                          bool* stored, uint64_t* version, coxswain_bytes** found);

// A key, as an argument or in a list, whose texts live as long as the list.
typedef struct coxswain_key_value {
  coxswain_string key;
  coxswain_string value;
  uint64_t version;  // not of an argument
  bool is_removed;   // only of changes: the key has no value any more
} coxswain_key_value;

// A result list of keys. Immutable, so threads may share it.
typedef struct coxswain_key_list coxswain_key_list;

// Valid as long as the list. Of NULL: empty.
coxswain_key_value const* coxswain_key_list_data(coxswain_key_list const* list);
size_t coxswain_key_list_size(coxswain_key_list const* list);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_key_list_destroy(coxswain_key_list* list);

// All keys below a directory, at any depth, in their order; "" is the root.
coxswain_status* coxswain_list(coxswain_client* client, coxswain_string directory,
                               coxswain_key_list** keys);

// The number of these keys.
coxswain_status* coxswain_count(coxswain_client* client, coxswain_string directory,
                                uint64_t* count);

// Waits until all keys have a value, and returns them in the order of the call. Errors of
// coxswain_get.
coxswain_status* coxswain_get_all(coxswain_client* client, coxswain_string const* keys,
                                  size_t key_count, int64_t timeout_ms, coxswain_key_list** values);

// Stores all values, or none of them. `version`, unless NULL: that of the last. ALREADY_EXISTS: a
// key has a value, and `overwrite` is false. INVALID_ARGUMENT: duplicate key.
coxswain_status* coxswain_put_all(coxswain_client* client, coxswain_key_value const* entries,
                                  size_t entry_count, bool overwrite, uint64_t* version);

// The changes below a directory, in order, also while the client reconnects; for one thread at a
// time. It may outlive its client.
typedef struct coxswain_key_watch coxswain_key_watch;

// Watches from now on, or from the version that `after` points to, as lists and watches give it.
coxswain_status* coxswain_watch(coxswain_client* client, coxswain_string directory,
                                uint64_t const* after, coxswain_key_watch** watch);

// Waits for changes of keys below the directory and of the key equal to it; none if the timeout
// passes. OUT_OF_RANGE: the coordinator no longer keeps all of them; use coxswain_key_watch_list.
coxswain_status* coxswain_key_watch_next(coxswain_key_watch* watch, int64_t timeout_ms,
                                         coxswain_key_list** changes);

// All keys below the directory; the watch then returns changes since.
coxswain_status* coxswain_key_watch_list(coxswain_key_watch* watch, coxswain_key_list** keys);

// All changes up to this version have been returned. Of NULL: 0.
uint64_t coxswain_key_watch_version(coxswain_key_watch const* watch);

// Frees it. May be NULL.
void coxswain_key_watch_destroy(coxswain_key_watch* watch);

// Waits until a lock is free and takes it for this client's session; `token` gets a number above
// those of all earlier locks. The session keeps it until `coxswain_unlock`, or until it ends.
// DEADLINE_EXCEEDED: the text names the holder. CANCELLED: as `coxswain_get`.
coxswain_status* coxswain_lock(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                               uint64_t* token);

// The same without waiting. ALREADY_EXISTS: the lock is held.
coxswain_status* coxswain_try_lock(coxswain_client* client, coxswain_string name, uint64_t* token);

// FAILED_PRECONDITION: the lock is not held with this token. PERMISSION_DENIED: another session
// holds it.
coxswain_status* coxswain_unlock(coxswain_client* client, coxswain_string name, uint64_t token);

// A lock that is held, as an owning handle; for one thread at a time. It may outlive its client,
// with whose session the lock is free anyway.
typedef struct coxswain_held_lock coxswain_held_lock;

// As coxswain_lock, with a handle. If the connection is lost meanwhile, the call keeps its place.
coxswain_status* coxswain_locked(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                 coxswain_held_lock** lock);

// The fencing token. Of NULL: 0.
uint64_t coxswain_held_lock_token(coxswain_held_lock const* lock);

// Unlocks, and waits for the outcome; the handle holds nothing then, whatever the outcome is.
// FAILED_PRECONDITION: it held nothing, or the session has lost the lock.
coxswain_status* coxswain_held_lock_unlock(coxswain_held_lock* lock);

// Frees it. Unlocks a lock that is still held, without waiting for the outcome. May be NULL.
void coxswain_held_lock_destroy(coxswain_held_lock* lock);

// Queues.

// Adds an item, which may be any bytes, at the end of a queue. `length`, unless NULL: how many
// items wait after it; 0 if a waiting call got it. RESOURCE_EXHAUSTED: the coordinator's memory.
coxswain_status* coxswain_push(coxswain_client* client, coxswain_string queue,
                               coxswain_string value, uint64_t* length);

// How many items wait in a queue, without those that are taken and not finished yet.
coxswain_status* coxswain_queue_length(coxswain_client* client, coxswain_string queue,
                                       uint64_t* length);

// Takes the first item of a queue, and waits for one if there is none. It is gone once this client
// has received it; coxswain_take loses none. CANCELLED: as coxswain_get.
coxswain_status* coxswain_pop(coxswain_client* client, coxswain_string queue, int64_t timeout_ms,
                              coxswain_bytes** value);

#define COXSWAIN_LEASE_DEFAULT_MS INT64_C(60000)

// An item that was taken from a queue, as an owning handle; for one thread at a time. It may
// outlive its client, with whose session the item has returned to its queue anyway.
typedef struct coxswain_item coxswain_item;

// Takes the first item of a queue under a lease; waits while there is none. The item is gone once
// it is finished. It returns to its place in the queue if it is released, its handle is destroyed,
// or the lease expires, and at once if the session or the process ends: no item is lost, but one
// can be processed twice. `lease_ms` is positive; negative: until the session ends. The lease
// begins when the coordinator gives the item; a lost connection that resumes neither ends nor
// extends it. If the client is closed while this waits, an item on its way returns, too.
// INVALID_ARGUMENT: `lease_ms` is 0. DEADLINE_EXCEEDED: no item in time; the text names who holds
// leased ones. CANCELLED: as coxswain_get.
coxswain_status* coxswain_take(coxswain_client* client, coxswain_string queue, int64_t timeout_ms,
                               int64_t lease_ms, coxswain_item** item);

// Valid as long as the handle, also when it holds nothing. Of NULL: empty.
coxswain_string coxswain_item_value(coxswain_item const* item);

// Increases with every push to any queue. Of NULL: 0.
uint64_t coxswain_item_number(coxswain_item const* item);

// How often the item was taken before and came back. Of NULL: 0.
uint32_t coxswain_item_redeliveries(coxswain_item const* item);

// The item is done, and gone. The handle holds nothing then, whatever the outcome is.
// FAILED_PRECONDITION: it held nothing, or the lease was over, so another may have got the item.
coxswain_status* coxswain_finish(coxswain_item* item);

// Hands the item back: it returns to its place in the queue. Otherwise as coxswain_finish.
coxswain_status* coxswain_release(coxswain_item* item);

// The lease expires this much later than now; negative: when the session ends. INVALID_ARGUMENT:
// `lease_ms` is 0. FAILED_PRECONDITION: the handle holds nothing, or the lease is over.
coxswain_status* coxswain_extend(coxswain_item* item, int64_t lease_ms);

// Frees it. Hands back an item that is still held, without waiting for the outcome. May be NULL.
void coxswain_item_destroy(coxswain_item* item);

#ifdef __cplusplus
}
#endif

#endif
