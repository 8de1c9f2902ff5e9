#pragma once
// A write-ahead journal of the core's inputs. Nothing that the core says may leave the process
// before the inputs it had are durable; so after a crash, a new process that passes them to a new
// core continues where every peer believes it to be. Not here: how inputs become records
// (recording/recorder), the output that waits (held_output), files (file_journal).

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstdint>
#include <functional>
#include <optional>

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

  // The following are for journals that are not immediate. `call` is called, outside of all other
  // calls, when `durable` has grown or the journal has failed.
  virtual void when_changed(std::function<void()> call) { static_cast<void>(call); }

  // Makes batches durable if something waits for them (`is_awaited`), or if they have waited for
  // long. An error is final, as of commit.
  virtual status synchronize(time_point now, bool is_awaited) {
    static_cast<void>(now);
    static_cast<void>(is_awaited);
    return {};
  }

  // When `synchronize` has something to do, at the latest.
  [[nodiscard]] virtual std::optional<time_point> next_synchronization() const {
    return std::nullopt;
  }

  // Commits, and waits until everything is durable, where that may block.
  virtual status wait_until_durable() { return commit(); }

  // Of a journal that standbys follow: who leads, and what is not durable yet.
  [[nodiscard]] virtual std::optional<core::snapshot::leadership> leader(time_point now) const {
    static_cast<void>(now);
    return std::nullopt;
  }

  // Snapshots. Whether one would be worth its price, and none is being written.
  [[nodiscard]] virtual bool wants_snapshot() const { return false; }

  // Writes the state of `core`, which has had all inputs so far; these must be committed. If it is
  // written later, or in a child process where that is allowed (`may_fork`), `finish_snapshot` must
  // be called until it returns true. An error leaves everything as it was.
  virtual status write_snapshot(core::coordinator const& core, bool may_fork) {
    static_cast<void>(core);
    static_cast<void>(may_fork);
    return {};
  }

  // True if no snapshot is being written. `outcome`: of one that has just ended.
  [[nodiscard]] virtual bool finish_snapshot(status& outcome) {
    static_cast<void>(outcome);
    return true;
  }
};

}  // namespace coxswain::server
