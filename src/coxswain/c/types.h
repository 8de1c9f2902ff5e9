#ifndef COXSWAIN_TYPES_H
#define COXSWAIN_TYPES_H
// PUBLIC. The types that all calls of coxswain.h share: texts, bytes, outcomes and the client.

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

// Result bytes. Immutable, so threads may share them.
typedef struct coxswain_bytes coxswain_bytes;

// Valid as long as the bytes. Of NULL: empty.
coxswain_string coxswain_bytes_view(coxswain_bytes const* bytes);

// Frees them. They must not be used afterwards. May be NULL.
void coxswain_bytes_destroy(coxswain_bytes* bytes);

// The client.

#define COXSWAIN_TIMEOUT_DEFAULT_MS INT64_C(300000)
#define COXSWAIN_NO_TIMEOUT INT64_C(-1)  // waits for ever, as any negative timeout does

// A session with the coordinator, and its thread.
typedef struct coxswain_client coxswain_client;

#ifdef __cplusplus
}
#endif

#endif
