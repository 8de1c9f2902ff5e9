#pragma once
// Protobuf reports wrong UTF-8 on stderr, which is of no interest to tests. From version 22 on it
// has no handler that could be replaced.

#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

namespace coxswain::test {

#if __has_include(<google/protobuf/stubs/logging.h>)
struct quiet_protobuf {
  google::protobuf::LogHandler* before = google::protobuf::SetLogHandler(nullptr);
  ~quiet_protobuf() { google::protobuf::SetLogHandler(before); }
};
#else
struct quiet_protobuf {};
#endif

}  // namespace coxswain::test
