// How jemalloc is configured in the programs that are linked with it, unless MALLOC_CONF in the
// environment says otherwise.

#include <jemalloc/jemalloc.h>

// Declared by jemalloc, which reads it when it starts. With huge pages a coordinator of many tasks
// waits less for the memory of each (PERFORMANCE.md).
[[gnu::visibility("default")]] char const* malloc_conf = "thp:always";
