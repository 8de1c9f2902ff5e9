#ifndef COXSWAIN_TESTS_C_JOB_H
#define COXSWAIN_TESTS_C_JOB_H
// What a plugin written in C does: the life of the only task of a job.

#include "coxswain/c/coxswain.h"

#ifdef __cplusplus
extern "C" {
#endif

// Gives what went wrong, which the caller destroys; NULL if nothing did. `greeting`: what it read.
coxswain_status* live_in_c(char const* address, char* greeting, size_t greeting_size);

#ifdef __cplusplus
}
#endif

#endif
