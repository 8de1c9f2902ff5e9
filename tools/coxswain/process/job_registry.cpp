#include "process/job_registry.hpp"

#include "process/ended_jobs.hpp"
#include "process/machine.hpp"
#include "process/user_directory.hpp"
#include "terminal/table.hpp"
#include "text/job_words.hpp"
#include "text/json.hpp"

#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/json/parse.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

using std::chrono::milliseconds;

// More than any of our files has.
constexpr std::size_t file_bytes_max = 64 * 1024;

// Of a file that is not whole yet.
constexpr std::string_view unfinished = ".new-";

std::string absolute(std::string const& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

std::string entry_text(registered_job const& what) {
  json::object entry{
      {"job", what.job},
      {"address", what.address},
      {"token", what.token},
      {"is_everywhere", what.is_everywhere},
      {"tls_ca", what.tls.ca},
      {"tls_cert", what.tls.cert},
      {"tls_key", what.tls.key},
      {"tls_peer_uri_prefix", what.tls.peer_uri_prefix},
      {"page", what.page},
      {"num_tasks", what.num_tasks},
      {"pid", what.pid},
      {"started_ms",
       std::chrono::duration_cast<milliseconds>(what.started.time_since_epoch()).count()},
  };
  return serialized(entry) + '\n';
}

// None if it is not one of our files.
std::optional<registered_job> parsed(std::string_view text) try {
  auto const value = json::parse(text);
  auto const& entry = value.as_object();
  auto const word = [&](char const* name) { return std::string{entry.at(name).as_string()}; };
  registered_job what;
  what.job = word("job");
  what.address = word("address");
  what.token = word("token");
  what.is_everywhere = entry.at("is_everywhere").as_bool();
  what.tls.ca = word("tls_ca");
  what.tls.cert = word("tls_cert");
  what.tls.key = word("tls_key");
  what.tls.peer_uri_prefix = word("tls_peer_uri_prefix");
  what.page = word("page");
  what.num_tasks = entry.at("num_tasks").to_number<std::uint32_t>();
  what.pid = entry.at("pid").to_number<pid_t>();
  what.started += milliseconds{entry.at("started_ms").to_number<std::int64_t>()};
  return what;
} catch (std::exception const&) {
  return std::nullopt;
}

void remember_end(registered_job const& what, std::string how, std::string recording) {
  remember({what.job, what.num_tasks, what.pid, what.started, std::chrono::system_clock::now(),
            std::move(how), std::move(recording)});
}

std::optional<registered_job> content_of(net::descriptor const& file) {
  std::string text(file_bytes_max, '\0');
  auto const size = ::pread(file.value(), text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  return parsed({text.data(), static_cast<std::size_t>(size)});
}

// The content of the file of a live process. A stale file is removed.
std::optional<registered_job> read_entry(int directory, char const* name) {
  net::descriptor const file{
      ::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat found {};
  if (!file || ::fstat(file.value(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  if (found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) return std::nullopt;
  if (::flock(file.value(), LOCK_SH | LOCK_NB) == 0) {
    // Unless it was just replaced: its name is that of another file then.
    bool const is_stale = ::fstat(file.value(), &found) == 0 && found.st_nlink > 0 &&
                          ::unlinkat(directory, name, 0) == 0;
    auto const killed = is_stale ? content_of(file) : std::nullopt;
    if (killed) remember_end(*killed, "its coordinator was killed", {});
    return std::nullopt;
  }
  return content_of(file);
}

void add_entries(std::vector<registered_job>& to, std::filesystem::path const& path) {
  auto opened = open_private(path, if_missing::fail);
  if (!opened) return;
  auto const directory = opened->value();
  struct closing {
    void operator()(DIR* list) const { ::closedir(list); }
  };
  std::unique_ptr<DIR, closing> const list{::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0))};
  if (!list) return;
  while (auto const* const one = ::readdir(list.get())) {
    if (one->d_name[0] == '.') continue;
    if (auto entry = read_entry(directory, one->d_name)) to.push_back(*std::move(entry));
  }
}

}  // namespace

std::string reachable(std::string const& listener) {
  auto const parsed = net::endpoint::parse(listener).value();
  if (parsed.host() == "0.0.0.0") return fmt::format("127.0.0.1:{}", parsed.port());
  if (parsed.host() == "::") return fmt::format("[::1]:{}", parsed.port());
  return parsed.text();
}

registered_job described(server::options const& of, std::string const& listener, std::string page) {
  registered_job what;
  what.job = of.core.job;
  what.address = reachable(listener);
  what.is_everywhere = what.address != net::endpoint::parse(listener).value().text();
  what.token = core::worker_token(of.core.credentials);
  what.tls = of.tls;
  for (auto* file : {&what.tls.ca, &what.tls.cert, &what.tls.key}) {
    *file = absolute(*file);
  }
  what.page = std::move(page);
  what.num_tasks = of.core.num_tasks;
  what.pid = ::getpid();
  what.started = std::chrono::system_clock::now();
  return what;
}

job_registration::job_registration(registered_job what) : what_{std::move(what)} {
  std::string problem;
  for (auto const& path : runtime_directories()) {
    auto opened = open_private(path, if_missing::make);
    if (!opened) {
      problem = opened.error().message();
      continue;
    }
    directory_ = *std::move(opened);
    write();
    return;
  }
  spdlog::warn("other commands will not find this job by themselves: {}", problem);
}

// It appears whole and locked.
void job_registration::write() {
  name_ = fmt::format("{}-{}", what_.pid, what_.started.time_since_epoch().count());
  auto const beside = fmt::format("{}{}", unfinished, name_);
  ::unlinkat(directory_.value(), beside.c_str(), 0);
  net::descriptor file{::openat(directory_.value(), beside.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  auto const text = entry_text(what_);
  bool const is_written =
      file && ::flock(file.value(), LOCK_EX | LOCK_NB) == 0 &&
      ::write(file.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::renameat(directory_.value(), beside.c_str(), directory_.value(), name_.c_str()) == 0;
  if (is_written) {
    file_ = std::move(file);
    return;
  }
  spdlog::warn("other commands will not find this job by themselves: {}", std::strerror(errno));
  ::unlinkat(directory_.value(), beside.c_str(), 0);
}

void job_registration::replace_token(std::string token) {
  what_.token = std::move(token);
  if (file_) write();
}

void job_registration::note(core::event const& what) {
  using kind = core::event_kind;
  if (end_.empty() && (what.kind == kind::job_failed || what.kind == kind::stopping)) {
    end_ = what.text;
  }
}

job_registration::~job_registration() {
  if (!file_) return;
  ::unlinkat(directory_.value(), name_.c_str(), 0);
  remember_end(what_, std::move(end_), std::move(recording_));
}

std::string jobs_text(std::vector<registered_job> const& all) {
  table shown{{"job"}, {"tasks", align::right}, {"started"}, {"pid", align::right}, {"address"},
              {"page"}};
  for (auto const& one : all) {
    shown.add({one.job, std::to_string(one.num_tasks), local_time_text(one.started),
               std::to_string(one.pid), one.address, one.page.empty() ? "-" : one.page});
  }
  return shown.text();
}

registered_job const* job_at(std::string const& addresses,
                             std::vector<registered_job> const& jobs) {
  for (auto const& at : net::endpoint::parse_list(addresses).value()) {
    auto const has_its_port = [&](registered_job const& one) {
      return one.address == at.text() || one.address.ends_with(fmt::format(":{}", at.port()));
    };
    bool const may_be = std::any_of(jobs.begin(), jobs.end(), has_its_port);
    auto const found = may_be ? at.resolve(net::endpoint::purpose::connect)
                              : result<std::vector<net::socket_address>>{};
    if (!found) continue;
    for (auto const& address : *found) {
      for (auto const& one : jobs) {
        bool const is_its = one.address == address.text() ||
                            (one.is_everywhere && has_its_port(one) && is_of_this_machine(address));
        if (is_its) return &one;
      }
    }
  }
  return nullptr;
}

std::vector<registered_job> running_jobs() {
  std::vector<registered_job> all;
  for (auto const& path : runtime_directories()) add_entries(all, path);
  std::sort(all.begin(), all.end(), [](registered_job const& a, registered_job const& b) {
    return std::pair{a.started, a.pid} > std::pair{b.started, b.pid};
  });
  return all;
}

}  // namespace coxswain::tools
