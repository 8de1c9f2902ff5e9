#pragma once
// Silences Protobuf's reports of invalid UTF-8 on stderr. Version 22 and later have no replaceable
// handler.

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
