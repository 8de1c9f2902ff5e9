#pragma once
// Resources of the machine, and files that other processes wait for.

#include "coxswain/net/endpoint.hpp"

#include <sys/resource.h>

#include <string>
#include <vector>

namespace coxswain::tools {

// Raises the soft limit of open files to the hard one. Gives the limits as they were before, which
// children should get back: programs that use select() do not bear high ones.
rlimit raise_descriptor_limit();

// There is a terminal that controls this process: closing it sends SIGHUP.
[[nodiscard]] bool has_terminal();

// It is one that a process of this machine can listen at.
[[nodiscard]] bool is_of_this_machine(net::socket_address const& address);

// "root@b12"; without a name, "user 1000@b12".
[[nodiscard]] std::string user_at_host();

// An address to listen on as other machines reach it: a wildcard is this host's name.
[[nodiscard]] std::string with_host_name(std::string const& listener);

// The file appears complete or not at all: it is written under another name and then renamed.
// Throws program_error.
void write_lines_atomically(std::string const& path, std::vector<std::string> const& lines);

// All that the file holds. Throws program_error (usage): it cannot be read; `option` is named.
[[nodiscard]] std::string read_file(std::string const& path, std::string const& option);

}  // namespace coxswain::tools
