#ifndef COXSWAIN_H
#define COXSWAIN_H
// PUBLIC. Coxswain behind a C ABI, for runtimes that sit behind plugin boundaries: a process's
// membership in a job, its barriers, keys, locks and queues, and a monitor of all processes that
// reports lost ones. C11. Not here: what the calls mean in full (client.hpp), the coordinator.
//
//   coxswain_client* job = NULL;
//   coxswain_status* problem = coxswain_client_connect_and_join(
//       NULL, COXSWAIN_TIMEOUT_DEFAULT_MS, &job);  // from the environment
//   if (!problem) problem = coxswain_monitor_start(job, abort_collectives, runtime, &monitor);
//   if (problem) fprintf(stderr, "%s\n", coxswain_status_message(problem).data);
//   coxswain_status_destroy(problem);
//
// Outcomes: a function that can fail returns NULL if it did not, else a status that the caller
// destroys. No exception leaves any function, and no callback may throw one. If a function fails,
// its output arguments are unchanged. INVALID_ARGUMENT: a required pointer is NULL.
// RESOURCE_EXHAUSTED: a limit, which the text names; or "out of memory". Calls to the coordinator
// also fail with UNAVAILABLE (it is lost for good), PERMISSION_DENIED (the token's role does not
// suffice), FAILED_PRECONDITION (not joined; this client has left; or client used after fork),
// ABORTED (a newer incarnation of the task has taken its place), CANCELLED (the client was closed)
// and DEADLINE_EXCEEDED. Others are documented at the function.
//
// Strings are pairs of pointer and size and need no NUL at their end. Names, keys and texts are
// UTF-8; values are any bytes. Arguments are copied before the function returns.
//
// Timeouts are milliseconds; 0 asks for a reply now; negative ones, and those above 292 years,
// never expire. The coordinator keeps them.
//
// Growth: a struct passed by pointer begins with its size, as its user was compiled. Fields are
// only ever added at the end, and zero means that the field is not set; a field unknown to the
// other side counts as zero. Enumerators are added, never renumbered. Array elements
// (coxswain_string, coxswain_process, coxswain_process_info, coxswain_epoch_member) never change.
//
// Threads: every function may be called from any thread and, unless it says otherwise, by several
// at once with the same object. A call blocks its thread, and no other.
//
// Fork: in a child each call fails with FAILED_PRECONDITION; destroying a client and stopping a
// monitor do nothing there, and destroying an item or a held lock gives nothing back.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Text or bytes owned elsewhere. `data` may be NULL if `size` is 0.
typedef struct coxswain_string {
  char const* data;
  size_t size;
} coxswain_string;

// Outcomes.

// The canonical codes, numbered as in gRPC.
enum {
  COXSWAIN_OK = 0,
  COXSWAIN_CANCELLED = 1,
  COXSWAIN_UNKNOWN = 2,
  COXSWAIN_INVALID_ARGUMENT = 3,
  COXSWAIN_DEADLINE_EXCEEDED = 4,
  COXSWAIN_NOT_FOUND = 5,
  COXSWAIN_ALREADY_EXISTS = 6,
  COXSWAIN_PERMISSION_DENIED = 7,
  COXSWAIN_RESOURCE_EXHAUSTED = 8,
  COXSWAIN_FAILED_PRECONDITION = 9,
  COXSWAIN_ABORTED = 10,
  COXSWAIN_OUT_OF_RANGE = 11,
  COXSWAIN_UNIMPLEMENTED = 12,
  COXSWAIN_INTERNAL = 13,
  COXSWAIN_UNAVAILABLE = 14,
  COXSWAIN_DATA_LOSS = 15,
  COXSWAIN_UNAUTHENTICATED = 16
};

// An error; NULL means OK. Immutable, so threads may share it.
typedef struct coxswain_status coxswain_status;

// The canonical number; of NULL: COXSWAIN_OK.
int32_t coxswain_status_code(coxswain_status const* status);

// For people, beginning with the code's name: "DEADLINE_EXCEEDED: Barrier timed out. ...". Lives as
// long as the status, and a NUL follows it. Of NULL: "OK".
coxswain_string coxswain_status_message(coxswain_status const* status);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_status_destroy(coxswain_status* status);

// The client.

#define COXSWAIN_TIMEOUT_DEFAULT_MS INT64_C(300000)
#define COXSWAIN_NO_TIMEOUT INT64_C(-1)  // waits for ever, as any negative timeout does

// A session with the coordinator, and its thread.
typedef struct coxswain_client coxswain_client;

enum {
  COXSWAIN_RECOVERABLE_DEFAULT = 0,  // as the coordinator's option says
  COXSWAIN_RECOVERABLE = 1,          // the task's failure does not fail the job
  COXSWAIN_NOT_RECOVERABLE = 2
};

enum { COXSWAIN_INFO = 0, COXSWAIN_WARNING = 1, COXSWAIN_ERROR = 2 };

// A line for a log: the connection was lost or restored, a call waits for long and for what. The
// text lives until the callback returns. Runs on the client's thread or on one that is in a call,
// so it must be quick. Calls with its own client fail there with FAILED_PRECONDITION.
typedef void (*coxswain_log_callback)(int32_t severity, coxswain_string text, void* user_data);

// Initialize to zero, then set `struct_size` and `address`.
typedef struct coxswain_client_options {
  size_t struct_size;  // sizeof(coxswain_client_options)

  // "host:port", "[v6]:port" or "unix:/path", or several of them, separated by commas: the client
  // uses whichever serves the job.
  coxswain_string address;
  bool has_task;  // without a task the client is an observer, and cannot join
  uint32_t task;
  uint32_t num_tasks;  // compared with the coordinator's; 0: not compared
  int32_t recoverable;
  coxswain_string job;  // empty: a task's is "default"
  // The token, if the coordinator requires one. Empty: COXSWAIN_TOKEN if `address` is
  // COXSWAIN_ADDRESS.
  coxswain_string token;
  coxswain_string label;       // its name in logs and errors; empty: "host:pid"
  uint64_t incarnation;        // distinguishes this process from an earlier one; 0: random
  int64_t connect_timeout_ms;  // how long to try; 0: COXSWAIN_TIMEOUT_DEFAULT_MS

  // TLS files in PEM; TLS is used if any of these is set. See coxswain/net/tls_options.hpp.
  coxswain_string tls_ca;
  coxswain_string tls_cert;
  coxswain_string tls_key;
  coxswain_string tls_peer_uri_prefix;

  coxswain_log_callback log;  // NULL: nothing is logged
  void* log_user_data;

  int64_t spin_us;  // how long to poll for replies before sleeping; see client_options::spin

  // Without a task: join as any, see client_options::any. The parts of a placement are separated by
  // slashes. A join then waits without limit with COXSWAIN_TIMEOUT_DEFAULT_MS.
  bool any;
  coxswain_string member;
  coxswain_string placement;
} coxswain_client_options;

// Opens a session, retrying while the coordinator is unreachable. If `options` is NULL they are
// read from the environment and the launcher's variables, as client_options::from_environment()
// does; not while another thread changes them. Under `coxswain task` a client of its task acts for
// the task that is joined already. DEADLINE_EXCEEDED: not in time; the text has the last error.
// FAILED_PRECONDITION (another job, protocol or number of tasks; one side speaks TLS and the other
// does not), UNAUTHENTICATED (the token; a certificate that either side refuses): at once.
// INVALID_ARGUMENT: an option is malformed, or not supported by this version of the library. A TLS
// file that cannot be read: NOT_FOUND, PERMISSION_DENIED or INVALID_ARGUMENT.
coxswain_status* coxswain_client_connect(coxswain_client_options const* options,
                                         coxswain_client** client);

// Connects and joins with one round trip less than coxswain_client_connect and coxswain_join. The
// errors of both; if the join fails, the session ends. `timeout_ms` is the join's, and begins when
// the session exists.
coxswain_status* coxswain_client_connect_and_join(coxswain_client_options const* options,
                                                  int64_t timeout_ms, coxswain_client** client);

// Ends the session: calls that other threads have open fail with CANCELLED, as do later ones, and
// monitors end. A task that has not left fails at once. A second call does nothing.
void coxswain_client_close(coxswain_client* client);

// Closes and frees it. No call of another thread may be in progress. Its monitors end, but must
// still be stopped. May be NULL.
void coxswain_client_destroy(coxswain_client* client);

// Known without a request. The first returns false if the client is an observer, or has no number
// yet.
bool coxswain_client_task(coxswain_client const* client, uint32_t* task);
uint32_t coxswain_client_num_tasks(coxswain_client const* client);
uint64_t coxswain_client_incarnation(coxswain_client const* client);

// Joins the job and waits until all tasks have. `already_started`, unless NULL: whether the job had
// started before. DEADLINE_EXCEEDED (some are missing), ALREADY_EXISTS (a newer incarnation of the
// task joined meanwhile), ABORTED (another live incarnation holds the task; or the job has failed).
coxswain_status* coxswain_join(coxswain_client* client, int64_t timeout_ms, bool* already_started);

// Waits until all tasks leave, then ends the session, whatever the outcome. It does not wait in a
// job whose tasks are all recoverable, nor with timeout 0. The task has finished: barriers that
// need it fail. INTERNAL (a task died or did not leave in time), FAILED_PRECONDITION (the job had
// failed: the task has left alone).
coxswain_status* coxswain_leave(coxswain_client* client, int64_t timeout_ms);

// Leaves at once; the next process of this task is expected to join: barriers wait for it, and if
// it does not join within the coordinator's return timeout (10 min) the task fails.
// INVALID_ARGUMENT (the task is not recoverable; the session continues), else as coxswain_leave.
coxswain_status* coxswain_leave_to_return(coxswain_client* client);

// Declares this task failed; the job fails, unless the task is recoverable. INVALID_ARGUMENT: the
// code is OK or invalid.
coxswain_status* coxswain_report_error(coxswain_client* client, int32_t code,
                                       coxswain_string message);

// Barriers and keys.

// Waits until all `participants` have called, the caller among them; with `participant_count` 0:
// all tasks of the job. `round`, unless NULL: the number of the round. INTERNAL (a participant
// died, failed or left), CANCELLED (the round was cancelled), INVALID_ARGUMENT (participants
// differ). The text names the missing tasks.
coxswain_status* coxswain_barrier(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                  uint32_t const* participants, size_t participant_count,
                                  uint64_t* round);

// Result bytes. Immutable, so threads may share them.
typedef struct coxswain_bytes coxswain_bytes;

// Valid as long as the bytes. Of NULL: empty.
coxswain_string coxswain_bytes_view(coxswain_bytes const* bytes);

// Frees them. They must not be used afterwards. May be NULL.
void coxswain_bytes_destroy(coxswain_bytes* bytes);

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

// Elastic jobs.

// A numbered membership of the job: how many tasks it has, the number of this one, and how many
// members of the epoch before are lost and have joined. Initialize to zero, then set `struct_size`.
typedef struct coxswain_epoch {
  size_t struct_size;  // sizeof(coxswain_epoch)

  uint64_t number;
  uint32_t size;
  uint32_t rank;
  uint32_t lost;
  uint32_t joined;
  // Where the coordinator sees task 0. Valid until the client's next coxswain_next_epoch.
  coxswain_string address;
} coxswain_epoch;

// Waits until the next epoch begins: when all members have called this, or have failed or left, and
// there are enough. Until then this task takes part in nothing. CANCELLED: it is not in the next
// epoch, and has left. DEADLINE_EXCEEDED: the text names those that have not called. ABORTED: it is
// no member any more (join again), or the job has failed. FAILED_PRECONDITION: the job is not
// elastic. INVALID_ARGUMENT: `struct_size` is not set. One call at a time.
coxswain_status* coxswain_next_epoch(coxswain_client* client, int64_t timeout_ms,
                                     coxswain_epoch* epoch);

// Whether the present epoch is to end, or has ended: then call coxswain_next_epoch when possible.
// Does not wait.
coxswain_status* coxswain_epoch_wanted(coxswain_client* client, bool* wanted);

// A member of an epoch. Its texts live as long as the list.
typedef struct coxswain_epoch_member {
  coxswain_string name;  // coxswain_client_options.member
  coxswain_string label;
  coxswain_string address;  // of its connection
  uint64_t incarnation;
  bool is_survivor;  // of the epoch before
} coxswain_epoch_member;

// A result list of members: that of task 0 first. Immutable, so threads may share it.
typedef struct coxswain_epoch_member_list coxswain_epoch_member_list;

// Valid as long as the list. Of NULL: empty.
coxswain_epoch_member const* coxswain_epoch_member_list_data(
    coxswain_epoch_member_list const* list);
size_t coxswain_epoch_member_list_size(coxswain_epoch_member_list const* list);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_epoch_member_list_destroy(coxswain_epoch_member_list* list);

// The members of the present epoch; any client may ask. `epoch`, unless NULL: its number.
// FAILED_PRECONDITION: the job is not elastic, or no epoch has begun.
coxswain_status* coxswain_epoch_members(coxswain_client* client,
                                        coxswain_epoch_member_list** members, uint64_t* epoch);

// The most tasks that the next epochs have; any client may ask. INVALID_ARGUMENT: fewer than the
// job's minimum, or more than its maximum. FAILED_PRECONDITION: the job is not elastic, or has
// failed.
coxswain_status* coxswain_resize(coxswain_client* client, uint32_t num_tasks);

// Processes.

// A task in one of its incarnations.
typedef struct coxswain_process {
  uint32_t task;
  uint64_t incarnation;
} coxswain_process;

// A result list of processes. Immutable, so threads may share it.
typedef struct coxswain_process_list coxswain_process_list;

// Valid as long as the list. Of NULL: empty.
coxswain_process const* coxswain_process_list_data(coxswain_process_list const* list);
size_t coxswain_process_list_size(coxswain_process_list const* list);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_process_list_destroy(coxswain_process_list* list);

// Which of `tasks`, including the caller, are alive; with `task_count` 0: of all tasks. Waits until
// each connected one has made the same query; all get the same list, in task order.
// INVALID_ARGUMENT: the caller is not in `tasks`.
coxswain_status* coxswain_alive_tasks(coxswain_client* client, uint32_t const* tasks,
                                      size_t task_count, int64_t timeout_ms,
                                      coxswain_process_list** alive);

enum {
  COXSWAIN_PROCESS_UNSPECIFIED = 0,
  COXSWAIN_PROCESS_UNINITIALIZED = 1,  // never connected, or joining
  COXSWAIN_PROCESS_DISCONNECTED = 2,   // has left, for good or to return
  COXSWAIN_PROCESS_CONNECTED = 3,
  COXSWAIN_PROCESS_ERROR = 4  // has failed
};

typedef struct coxswain_process_info {
  uint32_t task;
  uint64_t incarnation;  // of the last process that held the task; 0: none
  int32_t state;
  int32_t error_code;
  coxswain_string error_message;  // without the code's name
} coxswain_process_info;

// All that it points to is valid until the callback returns.
typedef struct coxswain_process_update {
  size_t struct_size;  // as the library was compiled; do not read fields beyond it

  uint64_t version;                        // grows with every change
  coxswain_process_info const* processes;  // all tasks of the job, in their order
  size_t process_count;
  coxswain_process const* lost;  // were connected in the last call, and are not or were replaced
  size_t lost_count;
  coxswain_status const* ended;  // NULL: the monitor continues; else why it ended, in its last call
} coxswain_process_update;

// One call at a time, on the monitor's thread, which handles no signals. May block, and call any
// function but coxswain_monitor_stop. Changes that occur meanwhile are reported together.
typedef void (*coxswain_monitor_callback)(coxswain_process_update const* update, void* user_data);

// Reports all changes of the job's processes.
typedef struct coxswain_monitor coxswain_monitor;

// Reports all processes at once, and then after each change, until it is stopped or the client ends
// or has lost the coordinator; continues when the job has failed. The first call reports no lost
// processes.
coxswain_status* coxswain_monitor_start(coxswain_client* client, coxswain_monitor_callback callback,
                                        void* user_data, coxswain_monitor** monitor);

// Waits for a running callback, and frees the monitor; no callback begins afterwards. No call of
// another thread with it may be in progress. May be NULL. FAILED_PRECONDITION: called in the
// callback; nothing was done.
coxswain_status* coxswain_monitor_stop(coxswain_monitor* monitor);

// Notes a failure detected locally, before the coordinator reports it; the callback reports
// processes lost by it. Does nothing before the first snapshot. NOT_FOUND: there is no such task.
// INVALID_ARGUMENT: the code is OK or invalid.
coxswain_status* coxswain_monitor_mark_failed(coxswain_monitor* monitor, uint32_t task,
                                              int32_t error_code, coxswain_string error_message);

// Whether all members are connected in exactly these incarnations, according to the newest
// snapshot; check it before starting something with them. OK before the first snapshot. Does not
// block. FAILED_PRECONDITION: one is not; the text names it.
coxswain_status* coxswain_monitor_check_current(coxswain_monitor const* monitor,
                                                coxswain_process const* members,
                                                size_t member_count);

#ifdef __cplusplus
}
#endif

#endif
