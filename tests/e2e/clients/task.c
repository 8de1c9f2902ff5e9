/* Like coxswain-e2e-task, in C: coxswain-e2e-task-c FILE BARRIER joins, creates FILE and dies if
   FILE does not exist yet, meets the others and leaves. Without FILE (-) it does not die. */

#include "coxswain/c/coxswain.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void die_once(char const* file) {
  FILE* found = fopen(file, "r");
  if (!found) {
    found = fopen(file, "w");
    if (found) fclose(found);
    raise(SIGKILL);
  }
  fclose(found);
}

int main(int argc, char** argv) {
  coxswain_client* job = NULL;
  if (argc != 3) return 64;
  coxswain_string const name = {argv[2], strlen(argv[2])};
  coxswain_status* problem = coxswain_client_connect(NULL, &job);
  if (!problem) problem = coxswain_join(job, COXSWAIN_TIMEOUT_DEFAULT_MS, NULL);
  if (!problem && strcmp(argv[1], "-") != 0) die_once(argv[1]);
  if (!problem) problem = coxswain_barrier(job, name, 60000, NULL, 0, NULL);
  if (!problem) problem = coxswain_leave(job, 60000);
  if (problem) {
    coxswain_string const text = coxswain_status_message(problem);
    fprintf(stderr, "%.*s\n", (int)text.size, text.data);
  }
  int const code = problem != NULL;
  coxswain_status_destroy(problem);
  coxswain_client_destroy(job);
  return code;
}
