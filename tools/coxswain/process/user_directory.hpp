#pragma once
// The directories of this user: for finding running programs, and for files to read later. Not
// here: their content.

#include "coxswain/base/status.hpp"
#include "coxswain/net/descriptor.hpp"

#include <filesystem>
#include <vector>

namespace coxswain::tools {

// $XDG_RUNTIME_DIR/coxswain if that variable names a directory, and coxswain-UID below the
// directory for temporary files. The first one is preferred; a process with another environment may
// have preferred the other one.
[[nodiscard]] std::vector<std::filesystem::path> runtime_directories();

enum class if_missing : std::uint8_t { fail, make };

// $XDG_STATE_HOME/coxswain, or ~/.local/state/coxswain. The directory for temporary files if there
// is neither, or it is to be made and cannot be written to.
[[nodiscard]] std::filesystem::path state_directory(if_missing what);

// Opens a directory that only this user can access: content that others could have put there is
// ignored.
//   NOT_FOUND            there is none, and it is not to be made
//   FAILED_PRECONDITION  it belongs to another user, or others can enter it
//   UNAVAILABLE          anything else
[[nodiscard]] result<net::descriptor> open_private(std::filesystem::path const& path,
                                                   if_missing what);

}  // namespace coxswain::tools
