#pragma once
// One connection of a server: its read loop, its writes, and its end. Input goes to dispatch,
// output comes from there. Not here: accepting and loop iterations (server), the table of
// connections with their time limits (connections).

#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/server/admission/host_pace.hpp"
#include "coxswain/server/admission/pending_peers.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/intake.hpp"
#include "coxswain/server/release_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// State that the connections of a server share during a loop iteration.
struct loop_iteration {
  // `clock` returns the time now.
  loop_iteration(dispatch& d, net::poller& p, options const& o, std::function<time_point()> clock);

  // Passes the input read so far to the core. Before any other input, so that the core gets all in
  // the order in which it happened.
  void take_in() noexcept;

  // Logs an event that does not come from the core; does nothing if memory is exhausted.
  void report(core::severity level, std::initializer_list<std::string_view> parts) noexcept;

  // False if the journal has failed: then nothing more is written.
  [[nodiscard]] bool commit() noexcept;

  dispatch& logic;
  net::poller& poller;
  std::function<time_point()> clock;
  duration linger;           // time limit for writing a goodbye
  duration look_period;      // how often stalled readers are checked
  time_point now{};          // when the core last got input, or the iteration began
  std::size_t bytes_read{};  // in this iteration, by all
  std::size_t bytes_written{};
  intake read;  // and not yet passed on
  release_clock releases;
  status journal_failure;

  // By all, since the beginning.
  std::uint64_t sends{};  // calls of the kernel
  std::uint64_t bytes_sent{};

  // Connections before their Hello, and the rate limit of wrong-token replies per host.
  pending_peers pending;
  host_pace wrong_tokens{wrong_tokens_per_second_max};

  // Changed connections, which `connections` handles at the end of the iteration.
  std::vector<connection_id> ended;
  std::vector<connection_id> to_visit;  // their next visit may be earlier now
};

// Fits two cache lines: with many thousands, each is cold whenever it is handled.
class alignas(64) connection final : private net::watched {
 public:
  // Throws coxswain::error as net::readiness does.
  connection(loop_iteration& t, connection_id id, std::unique_ptr<net::byte_stream> stream);
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;

  // Writes queued output, as far as the peer takes it; the rest follows when it takes more. After a
  // goodbye, starts to close. Does not throw: an error ends the connection.
  void flush() noexcept;

  // Passes the peer's input to the core. Does not throw: an error ends the connection.
  void hear(std::string_view bytes) noexcept;

  // Reads in the next iteration, for data that its stream already holds.
  void read_soon() { ready_.poke_next_iteration(); }

  // Handles what is due: closes the connection of a peer that took too long to read its goodbye,
  // and checks whether a peer with a full socket still reads, which the core is informed of. A slow
  // reader is not disconnected merely because its socket stays full (§16.1).
  void visit() noexcept;

  // When the next visit is due; time_point::max() if none is needed.
  [[nodiscard]] time_point next_visit() const noexcept;

  // It has ended: dispatch knows, and the connection only waits for its destruction at the end of
  // the iteration.
  [[nodiscard]] bool ended() const noexcept { return phase_ == phase::ended; }

  // Ends a connection without a Hello, and sends `goodbye` as far as possible without waiting.
  // False if unread input of its peer is pending. Not from its own coroutine.
  [[nodiscard]] bool dismiss(std::string_view goodbye);

  // Ends it at once, with `goodbye` if its peer expects a frame next and takes it now.
  void leave(std::string_view goodbye) noexcept;

  // Ends it at once. Allocates nothing, so that the core is always informed.
  void end(core::loss how) noexcept;

 private:
  // `slowed`: the goodbye is delayed, because its host has tried too many tokens.
  enum class phase : std::uint8_t { open, slowed, saying_goodbye, draining, ended };

  // What the read loop does next.
  enum class next : std::uint8_t { wait, another_iteration, stop };

  net::owned_coroutine read();
  [[nodiscard]] next read_ready();
  void read_to_end();
  [[nodiscard]] next nothing_to_read();
  void go_on();
  void has_room() noexcept override;
  void look_after();
  void write();
  void broke(core::loss how);
  void all_written();
  void await_room();
  void await_next_turn();
  void await_reader();
  void begin_goodbye();
  [[nodiscard]] bool is_slowed();
  [[nodiscard]] pending_peers::peer as_pending_peer() const noexcept {
    return {pending_peers::peer::kind::connection, id_.value};
  }
  void begin_draining();
  void give_up(std::exception const& why) noexcept;

  loop_iteration& iteration_;
  connection_id id_;
  phase phase_{phase::open};
  bool blocked_{};          // output waits for a peer that does not read
  bool awaits_room_{};      // the poller reports when the socket takes more
  bool is_unprocessed_{};   // the last input was not passed to the core yet
  bool is_pending_{true};   // before its Hello
  bool has_spoken_ : 1 {};  // something was read from it
  bool is_broken_ : 1 {};   // nothing can be written; input is still read to its end
  core::loss broken_by_{};
  dispatch::taken taken_{};  // of what was read
  outbox* out_;
  std::unique_ptr<net::byte_stream> stream_;
  net::readiness ready_;
  net::owned_coroutine loop_;
  std::size_t unread_{};        // bytes in our kernel that the peer had not read at the last check
  time_point blocked_since_{};  // or slowed since
  time_point closes_at_{time_point::max()};
};
// Two cache lines.
static_assert(sizeof(connection) == 128);

// How the connection ended, from the result of a read or a write (§4.1).
[[nodiscard]] core::loss loss_of(net::transfer const& last) noexcept;

}  // namespace coxswain::server
