/* A program in C without a coordinator. */
#include "coxswain/c/coxswain.h"

int main(void) {
  coxswain_client_options options = {.struct_size = sizeof options, .connect_timeout_ms = 1};
  coxswain_client* job = NULL;
  options.address.data = "unix:/nowhere";
  options.address.size = sizeof "unix:/nowhere" - 1;
  coxswain_status* problem = coxswain_client_connect(&options, &job);
  int const code = coxswain_status_code(problem);
  coxswain_status_destroy(problem);
  coxswain_client_destroy(job);
  return code != COXSWAIN_DEADLINE_EXCEEDED;
}
