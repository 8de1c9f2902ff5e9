#pragma once
// The servers that a side may have besides the floor: the coordinator, as shipped, with its default
// options but for those that make the job; and servers of others, without persistence, in a
// temporary directory.

#include "load/address.hpp"
#include "servers/process.hpp"

#include "coxswain/core/config.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace coxswain::bench {

struct coordinator_plan {
  std::string listen;
  core::config job;
  tls_options tls;
  bool is_quiet{};  // does not print what is amiss
  // So much of what it is told is kept, to be handed out; none: as much as the shipped one keeps.
  std::optional<std::size_t> record_bytes_max;
};

// Serves until the process is killed. Tells `control` the address that can be connected to, and
// what it was told when it is asked for it. Throws coxswain::error: see server::server.
void serve_coordinator(coordinator_plan plan, channel& control);

enum class side_kind;

// Whether servers of this kind are programs of others.
[[nodiscard]] bool is_rival(side_kind kind) noexcept;

// Throws bench_error if the rival's program is not there, naming the Debian package, or if it
// cannot be reached in this way.
void need_rival(side_kind kind, bool over_unix_sockets);

// Where it may keep its files: in memory if it writes them while it works.
[[nodiscard]] std::string files_parent_of(side_kind kind);

// Becomes the rival's program, listening at `listen`; `control` is told where. It may keep files
// below `directory`; what it has to say is in the file `log` there. Throws bench_error.
[[noreturn]] void become_rival(side_kind kind, std::string const& listen,
                               std::string const& directory, channel& control);

// Waits until it can be connected to. `ending` says how its process has ended, if it has. Throws
// bench_error, with what it had to say.
void await_rival(address const& at, std::string const& directory,
                 std::function<std::optional<std::string>()> const& ending);

}  // namespace coxswain::bench
