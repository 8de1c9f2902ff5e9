#pragma once
// A write-ahead journal of the core's inputs. Nothing that the core says may leave the process
// before the inputs it had are committed; so after a crash, a new process that passes them to a new
// core continues where every peer believes it to be. Not here: how inputs become records
// (recording/recorder), files (journal_directory).

#include "coxswain/base/status.hpp"
#include "coxswain/wire/recording.hpp"

namespace coxswain::server {

class journal {
 public:
  journal() = default;
  journal(journal const&) = delete;
  journal& operator=(journal const&) = delete;
  virtual ~journal() = default;

  // A new coordinator, whose inputs follow.
  virtual void begin(wire::recording_head const& head) = 0;

  // The next input; kept in memory until it is committed.
  virtual void append(wire::record const& input) = 0;

  // Whether something was appended since the last commit.
  [[nodiscard]] virtual bool has_uncommitted() const noexcept = 0;

  // All inputs appended so far are kept from now on. An error is final: nothing that the core said
  // since the last commit may be sent, and no further input is taken.
  virtual status commit() = 0;
};

}  // namespace coxswain::server
