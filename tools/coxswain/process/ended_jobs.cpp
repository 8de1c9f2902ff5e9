#include "process/ended_jobs.hpp"

#include "process/user_directory.hpp"
#include "text/json.hpp"

#include "coxswain/net/descriptor.hpp"

#include <boost/json/parse.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::size_t jobs_kept = 20;
constexpr auto time_kept = std::chrono::hours{7 * 24};

// More than so many jobs have.
constexpr std::size_t ended_bytes_max = 1024 * 1024;
// Of the text of an end.
constexpr std::size_t how_bytes_max = 4096;

std::int64_t in_milliseconds(system_clock::time_point at) {
  return std::chrono::duration_cast<milliseconds>(at.time_since_epoch()).count();
}

std::string line_of(ended_job const& what) {
  return serialized(json::object{{"job", what.job},
                                 {"num_tasks", what.num_tasks},
                                 {"pid", what.pid},
                                 {"started_ms", in_milliseconds(what.started)},
                                 {"ended_ms", in_milliseconds(what.ended)},
                                 {"how", what.how.substr(0, how_bytes_max)},
                                 {"recording", what.recording}}) +
         '\n';
}

// None if it is not one of our lines.
std::optional<ended_job> job_in(std::string_view line) try {
  auto const value = json::parse(line);
  auto const& entry = value.as_object();
  ended_job what;
  what.job = entry.at("job").as_string();
  what.num_tasks = entry.at("num_tasks").to_number<std::uint32_t>();
  what.pid = entry.at("pid").to_number<pid_t>();
  what.started += milliseconds{entry.at("started_ms").to_number<std::int64_t>()};
  what.ended += milliseconds{entry.at("ended_ms").to_number<std::int64_t>()};
  what.how = entry.at("how").as_string();
  what.recording = entry.at("recording").as_string();
  return what;
} catch (std::exception const&) {
  return std::nullopt;
}

net::descriptor opened(if_missing what) {
  auto const path = state_directory(what) / "coxswain-ended-jobs";
  int const flags = what == if_missing::make ? O_RDWR | O_CREAT : O_RDONLY;
  net::descriptor file{
      ::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  struct stat found {};
  bool const is_ours = file && ::fstat(file.value(), &found) == 0 && S_ISREG(found.st_mode) &&
                       found.st_uid == ::geteuid();
  return is_ours ? std::move(file) : net::descriptor{};
}

// The newest last.
std::vector<ended_job> jobs_in(net::descriptor const& file) {
  std::string text(ended_bytes_max, '\0');
  auto const size = ::pread(file.value(), text.data(), text.size(), 0);
  std::string_view rest{text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  std::vector<ended_job> all;
  while (!rest.empty()) {
    auto const end = rest.find('\n');
    if (auto one = job_in(rest.substr(0, end))) all.push_back(*std::move(one));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return all;
}

}  // namespace

void remember(ended_job const& what) {
  auto const file = opened(if_missing::make);
  if (!file || ::flock(file.value(), LOCK_EX) != 0) return;
  auto all = jobs_in(file);
  all.push_back(what);
  std::string text;
  for (auto i = all.size() - std::min(all.size(), jobs_kept); i < all.size(); ++i) {
    text += line_of(all[i]);
  }
  // Cut only when all is written: then a full disk or a crash loses little.
  auto const written = ::pwrite(file.value(), text.data(), text.size(), 0);
  if (written == std::ssize(text)) static_cast<void>(::ftruncate(file.value(), written));
}

std::vector<ended_job> ended_jobs() {
  auto const file = opened(if_missing::fail);
  if (!file || ::flock(file.value(), LOCK_SH) != 0) return {};
  auto all = jobs_in(file);
  std::erase_if(all, [oldest = system_clock::now() - time_kept](ended_job const& one) {
    return one.ended < oldest;
  });
  return {all.rbegin(), all.rend()};
}

}  // namespace coxswain::tools
