#ifndef COXSWAIN_TESTS_C_JOB_H
#define COXSWAIN_TESTS_C_JOB_H
// What a plugin written in C does: runs the only task of a job.

#include "coxswain/c/coxswain.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the error, which the caller destroys; NULL on success. `greeting`: the value it read.
coxswain_status* live_in_c(char const* address, char* greeting, size_t greeting_size);

#ifdef __cplusplus
}
#endif

#endif
