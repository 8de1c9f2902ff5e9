#pragma once
// A write-ahead journal of the core's inputs. Nothing that the core says may leave the process
// before the inputs it had are durable; so after a crash, a new process that passes them to a new
// core continues where every peer believes it to be. Not here: how inputs become records
// (recording/recorder), the output that waits (held_output), files (file_journal).

#include "coxswain/base/status.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstdint>

namespace coxswain::server {

class journal {
 public:
  journal() = default;
  journal(journal const&) = delete;
  journal& operator=(journal const&) = delete;
  virtual ~journal() = default;

  // A new coordinator, whose inputs follow.
  virtual void begin(wire::recording_head const& head) = 0;

  // The next input, which waits in memory to be committed.
  virtual void append(wire::record const& input) = 0;

  // Whether something was appended since the last commit.
  [[nodiscard]] virtual bool has_uncommitted() const noexcept = 0;

  // All inputs appended since the last commit become the next batch, which is on its way to be
  // durable. An error, also that of an earlier batch, is final: nothing that waits for a batch may
  // be sent, and no further input is taken.
  virtual status commit() = 0;

  // The numbers of the last batch, and of the last one that is durable, with all before it.
  [[nodiscard]] virtual std::uint64_t committed() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t durable() const noexcept = 0;

  // Whether a batch is durable as soon as it is committed.
  [[nodiscard]] virtual bool is_immediate() const noexcept = 0;
};

}  // namespace coxswain::server
