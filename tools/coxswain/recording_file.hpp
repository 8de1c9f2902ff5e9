#pragma once
// Files with recordings of a coordinator. Only their owner may read them: they hold what tasks
// said, and the secrets with which sessions are resumed.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::tools {

// A recording that grows while the coordinator runs.
class recording_file {
 public:
  // Throws program_error: the file cannot be made.
  explicit recording_file(std::string path);

  // A failure is said in the log, and ends the recording.
  void write(std::string_view bytes);

 private:
  struct close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, close> file_;
};

// Writes a whole recording to a file of this process in the directory for temporary files, and says
// so in the log; also if that is not possible.
void keep_recording(std::string const& recording);

}  // namespace coxswain::tools
