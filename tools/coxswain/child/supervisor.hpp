#pragma once
// A process that kills process groups when this one ends without having ended them, in whatever
// way: even by SIGKILL. It has a session of its own, and a name that is not ours, so that what is
// sent to our group, our terminal or our name spares it. Not here: what has left its group, which
// survives.

#include "coxswain/net/descriptor.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <span>

namespace coxswain::tools {

class supervisor {
 public:
  // Of a process group; 0: there is none. In memory that both processes share.
  using group = std::atomic<pid_t>;

  // For so many groups at once. Throws program_error: no process can be started.
  explicit supervisor(std::size_t groups_max = 1);
  // Kills nothing.
  ~supervisor();
  supervisor(supervisor const&) = delete;
  supervisor& operator=(supervisor const&) = delete;

  // Children write theirs before they exec: until then they keep us alive to the supervisor. It is
  // cleared before its leader is reaped, after which the number may be another's.
  [[nodiscard]] group& of(std::size_t child) const noexcept { return groups_[child]; }

 private:
  std::span<group> groups_;
  net::descriptor life_;  // open in this process only, so that its end can be read
  pid_t pid_{-1};
};

}  // namespace coxswain::tools
