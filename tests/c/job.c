#include "tests/c/job.h"

#include <string.h>

static coxswain_string string(char const* text) {
  coxswain_string made = {text, strlen(text)};
  return made;
}

static void count(coxswain_process_update const* update, void* user_data) {
  *(size_t*)user_data = update->process_count;
}

static coxswain_status* meet(coxswain_client* job, char* greeting, size_t greeting_size) {
  coxswain_bytes* value = NULL;
  coxswain_status* problem = coxswain_put(job, string("greeting"), string("hello"), false);
  if (!problem) problem = coxswain_get(job, string("greeting"), 60000, &value);
  if (!problem) problem = coxswain_barrier(job, string("read"), 60000, NULL, 0, NULL);
  coxswain_string const read = coxswain_bytes_view(value);
  if (read.size < greeting_size) {
    memcpy(greeting, read.data ? read.data : "", read.size);
    greeting[read.size] = '\0';
  }
  coxswain_bytes_destroy(value);
  return problem;
}

coxswain_status* live_in_c(char const* address, char* greeting, size_t greeting_size) {
  coxswain_client_options options = {.struct_size = sizeof options, .has_task = true, .task = 0};
  options.address = string(address);
  coxswain_client* job = NULL;
  coxswain_monitor* monitor = NULL;
  size_t processes = 0;
  coxswain_status* problem =
      coxswain_client_connect_and_join(&options, COXSWAIN_TIMEOUT_DEFAULT_MS, &job);
  if (!problem) problem = coxswain_monitor_start(job, count, &processes, &monitor);
  if (!problem) problem = meet(job, greeting, greeting_size);
  if (!problem) problem = coxswain_leave(job, 60000);
  coxswain_status_destroy(coxswain_monitor_stop(monitor));
  coxswain_client_destroy(job);
  return problem;
}
