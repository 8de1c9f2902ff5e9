#pragma once
// The output of one connection, in order. Small bodies are copied into buffers, large ones are
// referenced; both are gathered for one write. Buffers stay small: moving one of many megabytes
// would take too long for a loop iteration. At most a limit's worth is encoded at a time, and less
// when memory is scarce: further replies wait unencoded until there is room (§16.1). An
// empty outbox keeps some 2 KiB at the most. Output may be held back until what it follows from is
// durable. Not here: writing, and routing of answers (dispatch).

#include "coxswain/base/fifo.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/encoder.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

class outbox {
 public:
  // `memory` counts all of it as in transit. Replies wait beyond `bytes_max`, and when `memory` has
  // no room, of which a part is left to others; but one is always encoded when nothing else is
  // queued.
  outbox(meter_ptr memory, std::size_t bytes_max);
  ~outbox();
  outbox(outbox const&) = delete;
  outbox& operator=(outbox const&) = delete;

  // Adds a reply, or a push with id zero. Ignored after a goodbye; a barrier's progress is dropped
  // when something waits.
  void push(request_id id, core::answer_ptr const& what, encoder& by);

  // From now on, before anything was pushed, output is held back until it is released. Throws
  // std::bad_alloc.
  void hold() { held_ = std::make_unique<held>(); }
  [[nodiscard]] bool holds() const noexcept { return held_ != nullptr; }

  // The following are only for an outbox that holds output back. The end of all output that was
  // encoded so far, as a position: it counts bytes since the beginning.
  [[nodiscard]] std::int64_t end() const noexcept {
    return held_->begin + static_cast<std::int64_t>(queued_);
  }

  // Whether output was added since the last call.
  [[nodiscard]] bool has_grown() noexcept { return std::exchange(held_->seen, end()) != end(); }

  // Output up to this position may be written.
  void release(std::int64_t position) noexcept { held_->released = position; }

  // Whether any was released.
  [[nodiscard]] bool has_released() const noexcept { return held_->released > 0; }

  // Puts a whole message before all that is held back. Nothing else may be writable.
  void overtake(std::string message);

  // Fills `into` with the next writable output, and returns the part that was filled: empty if
  // there is none. Valid until push or written.
  [[nodiscard]] std::span<iovec const> fill(std::span<iovec> into) const;

  // This many bytes were written. Encodes waiting replies that have room now.
  void written(std::size_t count, encoder& by);

  // These bytes end it in place of a goodbye, for a peer that does not speak the protocol.
  void end_with(std::string_view bytes);

  // `write` appends bytes of another protocol to the string that it is given.
  template <class Write>
  void append(Write write) {
    auto const before = last_.copied.size();
    write(last_.copied);
    queued_ += last_.copied.size() - before;
    close_if_full();
  }

  // Appends a large value of another protocol without copying it.
  void append(bytes const& value) {
    refer(value);
    close_if_full();
  }

  // No longer holds output back, not even what it has.
  void hold_no_more() noexcept { held_.reset(); }

  // Discards everything and ends, for a connection that can no longer be written to.
  void abandon() noexcept;

  [[nodiscard]] bool is_abandoned() const noexcept { return abandoned_; }

  // Something can be written: it is not held back.
  [[nodiscard]] bool has_writable() const noexcept {
    return queued_ != 0 && (!held_ || held_->begin < held_->released);
  }

  // Nothing is left to write, and nothing is held back.
  [[nodiscard]] bool empty() const noexcept { return queued_ == 0; }

  // A goodbye was pushed, or everything was discarded: close the connection when the outbox is
  // empty.
  [[nodiscard]] bool ends() const noexcept { return ends_; }

  // Whether reading from the peer is paused: its replies wait for room, or its requests for memory
  // (`pause`). Never after a goodbye.
  [[nodiscard]] bool pauses_reading() const noexcept {
    return (waiting() != 0 || pauses_) && !ends_;
  }
  void pause(bool pauses) noexcept { pauses_ = pauses; }

  // Bytes encoded and not yet written; and how many replies wait besides.
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queued_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size() - waiting_begin_; }

  // Asserts the invariants.
  void check_invariants() const;

 private:
  struct reference {
    std::size_t at{};  // before which byte of `copied` it goes
    carried_bytes content;
  };
  struct stretch {
    [[nodiscard]] bool is_written() const noexcept;
    std::size_t fill(std::span<iovec> into) const;
    std::size_t take(std::size_t count);

    std::string copied;
    std::size_t counted{};       // of its memory
    std::size_t copied_begin{};  // everything before it was written
    fifo<reference> references;
    std::size_t reference_offset{};  // how much of the first reference was written
  };
  struct waiting_reply {
    request_id id;
    core::answer_ptr what;
  };
  // What a reply takes: of this queue, and of the shared memory.
  struct room {
    std::size_t queued{};
    std::size_t memory{};
  };

  // The fast path for small replies: they are bytes of `last_`.
  [[nodiscard]] bool is_one_buffer() const noexcept {
    return full_.empty() && last_.references.empty();
  }

  // Positions.
  struct held {
    std::int64_t begin{};  // of the first byte queued
    std::int64_t released{};
    std::int64_t seen{};  // the end at the last call of has_grown
  };

  [[nodiscard]] std::span<iovec const> fill_all(std::span<iovec> into) const;
  [[nodiscard]] bool put(request_id id, core::answer_ptr const& what, encoder& by);
  [[nodiscard]] bool has(room const& wanted) const noexcept;
  void wait(request_id id, core::answer_ptr const& what);
  void refer(bytes const& content);
  void forget_first();
  void take(std::size_t count);
  void refill(encoder& by);
  void compact();
  void count_buffer(stretch& of) noexcept;
  void close_if_full();

  meter_ptr memory_;
  std::size_t bytes_max_;
  std::size_t queued_{};
  std::unique_ptr<held> held_;

  std::list<stretch> full_;  // goes before `last_`
  stretch last_;

  std::vector<waiting_reply> waiting_;
  std::size_t waiting_begin_{};
  room first_waits_for_{};  // zero if not known

  bool ends_{};
  bool abandoned_{};
  bool pauses_{};
};

}  // namespace coxswain::server
