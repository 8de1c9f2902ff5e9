#pragma once
// Servers of others, as the benchmark starts them: without persistence, in a temporary directory.

#include "address.hpp"
#include "process.hpp"

#include <functional>
#include <optional>
#include <string>

namespace coxswain::bench {

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
