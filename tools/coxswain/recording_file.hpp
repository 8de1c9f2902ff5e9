#pragma once
// Files with recordings of a coordinator. Only their owner may read them: they hold what tasks
// said, and the secrets with which sessions are resumed.

#include <cstdio>
#include <string>
#include <string_view>

namespace coxswain::tools {

// A recording that grows while the coordinator runs.
class recording_file {
 public:
  // A file of this name is replaced; a pipe or a device is written to. Throws program_error: the
  // file cannot be made.
  explicit recording_file(std::string path);

  ~recording_file();
  recording_file(recording_file const&) = delete;
  recording_file& operator=(recording_file const&) = delete;

  // A failure is said in the log, and ends the recording.
  void write(std::string_view bytes);

  // Nothing is written any more. Whether all of it was; if not, the log says so.
  bool finish();

 private:
  void fail();

  std::string path_;
  std::FILE* file_{};  // none: it is finished, or has failed
  bool has_failed_{};
};

// Writes a whole recording to a file in the user's state directory, of which the newest 20 are
// kept, and says so in the log; also if that is not possible.
void keep_recording(std::string const& recording);

}  // namespace coxswain::tools
