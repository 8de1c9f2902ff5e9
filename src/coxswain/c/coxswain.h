#ifndef COXSWAIN_H
#define COXSWAIN_H
// PUBLIC. Coxswain behind a C ABI, for runtimes that sit behind plugin boundaries: a process's
// membership in a job, its barriers, keys, locks and queues (keys.h), and a monitor of all
// processes that reports lost ones. C11. Not here: what the calls mean in full (client.hpp), the
// coordinator.
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
// (coxswain_string, coxswain_process, coxswain_process_info, coxswain_epoch_member,
// coxswain_key_value, coxswain_wait) and coxswain_expectation never change.
//
// Threads: every function may be called from any thread and, unless it says otherwise, by several
// at once with the same object. A call blocks its thread, and no other.
//
// Fork: in a child each call fails with FAILED_PRECONDITION; destroying a client and stopping a
// monitor do nothing there, and destroying an item or a held lock gives nothing back.

#include "coxswain/c/keys.h"
#include "coxswain/c/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The client.

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

  bool has_attempt;
  uint64_t attempt;        // the launcher's restart count; that of the coordinator must not differ
  int64_t fence_after_ms;  // how long without a message until all calls fail; 0: the default, see
                           // client_options::fence_after
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

// Clears the error of this recoverable task, which has failed, so that it may join again.
// FAILED_PRECONDITION: it has not failed, or the job has, or the job is elastic. ABORTED: another
// incarnation of it has failed.
coxswain_status* coxswain_reset(coxswain_client* client);

// Declares this task failed; the job fails, unless the task is recoverable. INVALID_ARGUMENT: the
// code is OK or invalid.
coxswain_status* coxswain_report_error(coxswain_client* client, int32_t code,
                                       coxswain_string message);

// Barriers.

// Waits until all `participants` have called, the caller among them; with `participant_count` 0:
// all tasks of the job. `round`, unless NULL: the number of the round. INTERNAL (a participant
// died, failed or left), CANCELLED (the round was cancelled), INVALID_ARGUMENT (participants
// differ). The text names the missing tasks.
coxswain_status* coxswain_barrier(coxswain_client* client, coxswain_string name, int64_t timeout_ms,
                                  uint32_t const* participants, size_t participant_count,
                                  uint64_t* round);

// A result list of texts or bytes. Immutable, so threads may share it.
typedef struct coxswain_string_list coxswain_string_list;

// Valid as long as the list. Of NULL: empty.
coxswain_string const* coxswain_string_list_data(coxswain_string_list const* list);
size_t coxswain_string_list_size(coxswain_string_list const* list);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_string_list_destroy(coxswain_string_list* list);

// A barrier that gathers the `data` of all participants, in task order. Errors of coxswain_barrier;
// RESOURCE_EXHAUSTED: all the data together exceeds the coordinator's limit.
coxswain_status* coxswain_all_gather(coxswain_client* client, coxswain_string name,
                                     coxswain_string data, int64_t timeout_ms,
                                     uint32_t const* participants, size_t participant_count,
                                     coxswain_string_list** gathered);

// Ends the open round of a barrier for all callers with CANCELLED; with a `round` other than 0,
// only that one. FAILED_PRECONDITION: no such round is open. PERMISSION_DENIED: not a participant.
coxswain_status* coxswain_cancel_barrier(coxswain_client* client, coxswain_string name,
                                         uint64_t round);

// Waits until `count` such calls are open, of tasks or observers; its names are separate from those
// of coxswain_barrier. `round`, unless NULL: the number of the round. INVALID_ARGUMENT: others wait
// with a different count.
coxswain_status* coxswain_count_barrier(coxswain_client* client, coxswain_string name,
                                        uint32_t count, int64_t timeout_ms, uint64_t* round);

// Steps.

// Announces that a task will be preempted in `in_ms`: all tasks then agree on a step at which they
// stop together. `task` may be NULL: this one. FAILED_PRECONDITION: the task has already gone, or
// the job has failed. INVALID_ARGUMENT: no such task, or an observer named none.
coxswain_status* coxswain_preempt(coxswain_client* client, int64_t in_ms, uint32_t const* task);

// Every task must call it at each step it reaches, in rising order. `stops` is true once for each
// agreement after coxswain_preempt: at the first step at or past the agreed one, where all tasks
// save their state. Waits only during an agreement.
coxswain_status* coxswain_reached_sync_point(coxswain_client* client, uint64_t step, bool* stops);

// Reports the step that this task has reached, for status, top and the page.
coxswain_status* coxswain_report_progress(coxswain_client* client, uint64_t step);

enum {
  COXSWAIN_WAIT_BARRIER = 0,
  COXSWAIN_WAIT_COUNT_BARRIER = 1,
  COXSWAIN_WAIT_JOIN = 2,
  COXSWAIN_WAIT_LEAVE = 3,
  COXSWAIN_WAIT_TOPOLOGY = 4,
  COXSWAIN_WAIT_ALIVE = 5,
  COXSWAIN_WAIT_PREEMPTION = 6,
  COXSWAIN_WAIT_GET = 7,
  COXSWAIN_WAIT_GET_ALL = 8,
  COXSWAIN_WAIT_POP = 9,
  COXSWAIN_WAIT_LOCK = 10
};

// Calls that wait for the same. The texts live as long as the list.
typedef struct coxswain_wait {
  int32_t what;
  bool is_deadlocked;
  uint32_t others;          // callers outside the job
  coxswain_string name;     // of the barrier, platform, key, queue or lock
  coxswain_string waiting;  // the tasks that wait, such as "0,2-5"
  coxswain_string missing;  // what they wait for; empty: no particular task
  int64_t age_ms;           // of the oldest call
} coxswain_wait;

// A result list of waits. Immutable, so threads may share it.
typedef struct coxswain_wait_list coxswain_wait_list;

// Valid as long as the list. Of NULL: empty.
coxswain_wait const* coxswain_wait_list_data(coxswain_wait_list const* list);
size_t coxswain_wait_list_size(coxswain_wait_list const* list);

// The deadlocked tasks, which wait for each other or for something that no task is left to do, and
// why; empty: none.
coxswain_string coxswain_wait_list_deadlock(coxswain_wait_list const* list);

// Frees it. It must not be used afterwards. May be NULL.
void coxswain_wait_list_destroy(coxswain_wait_list* list);

// Every waiting call, grouped by what it waits for; any client may ask.
coxswain_status* coxswain_why(coxswain_client* client, coxswain_wait_list** waits);

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

// The end of the job.

// Ends the job at once, for this reason: all calls fail with it, and all sessions end, also this
// one. PERMISSION_DENIED: the token is not that of an operator.
coxswain_status* coxswain_stop_job(coxswain_client* client, coxswain_string reason);

// From now on nobody may join, and the job ends when all its tasks have left; a second call changes
// nothing. PERMISSION_DENIED: the token is not that of an operator.
coxswain_status* coxswain_drain_job(coxswain_client* client, coxswain_string reason);

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
