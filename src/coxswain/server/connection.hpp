#pragma once
// One connection of a server: its read loop, its writes, and how it ends. What it reads goes to
// dispatch, what it writes comes from there. Not here: who is accepted, when a loop iteration is
// (server), and the table of connections with their time limits (connections).

#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/host_pace.hpp"
#include "coxswain/server/intake.hpp"
#include "coxswain/server/release_clock.hpp"
#include "coxswain/server/strangers.hpp"

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

// What the connections of a server share during a loop iteration.
struct loop_iteration {
  // `clock` tells the time now.
  loop_iteration(dispatch& d, net::poller& p, options const& o, std::function<time_point()> clock);

  // Tells the core what was read. Before anything else that it is told, so that it hears all in the
  // order in which it happened.
  void take_in() noexcept;

  // Tells the log what did not come from the core; nothing if there is no memory for that.
  void report(core::severity level, std::initializer_list<std::string_view> parts) noexcept;

  dispatch& brain;
  net::poller& poller;
  std::function<time_point()> clock;
  duration linger;           // how long a goodbye may take to be written
  duration look_period;      // how often readers that do not read are looked at
  duration peer_timeout;     // how long TCP waits for a peer that acknowledges nothing
  time_point now{};          // when the core was last told what was read, or the iteration began
  std::size_t bytes_read{};  // in this iteration, by all
  std::size_t bytes_written{};
  intake read;  // and not yet told
  release_clock releases;

  // By all, since the beginning.
  std::uint64_t sends{};  // calls of the kernel
  std::uint64_t bytes_sent{};

  // Those that have not said Hello, and how many a second of a host may learn that its token is
  // wrong.
  strangers newcomers;
  host_pace wrong_tokens{wrong_tokens_per_second_max};

  // What became of connections; `connections` sees to it at the end of the iteration.
  std::vector<connection_id> ended;
  std::vector<connection_id> to_visit;  // their next visit may be earlier than it was
};

// In two lines of the cache: of many thousands each is a stranger to it whenever its turn comes.
class alignas(64) connection final : private net::watched {
 public:
  // Throws coxswain::error as net::readiness does.
  connection(loop_iteration& t, connection_id id, std::unique_ptr<net::byte_stream> stream);
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;

  // Writes what is queued, as far as the peer takes it; the rest follows when it takes more. After
  // a goodbye begins to close. Does not throw: what goes wrong ends the connection.
  void flush() noexcept;

  // Tells the core what it sent. Does not throw: what goes wrong ends the connection.
  void hear(std::string_view bytes) noexcept;

  // Asks for the memory that `hear` takes: in this order, for each what the one before has led to.
  void prefetch_line() const noexcept { iteration_.brain.prefetch(id_); }
  void prefetch_session() const noexcept { iteration_.brain.prefetch_session(id_); }
  void prefetch_requests() const noexcept { iteration_.brain.prefetch_requests(id_); }

  // Reads in the next iteration, for what its stream holds already.
  void read_soon() { ready_.poke_next_iteration(); }

  // Asks for the memory that `flush` takes.
  void prefetch_flush() const noexcept;

  // Sees to what is due: cuts off a peer that took too long to read its goodbye, and looks whether
  // a peer reads whose kernel takes nothing from us, which the core is told. A slow reader is not
  // cut off for a socket that stays full (semantics D24).
  void visit() noexcept;

  // When the next visit is due; the end of time if none is needed.
  [[nodiscard]] time_point next_visit() const noexcept;

  // It is over: dispatch was told, and the connection only waits to be destroyed at the end of the
  // iteration.
  [[nodiscard]] bool ended() const noexcept { return phase_ == phase::ended; }

  // Ends one that has not said Hello, and sends `goodbye` as far as that goes at once. False if the
  // first that its peer has sent is not read yet. Not from its own routine.
  [[nodiscard]] bool dismiss(std::string_view goodbye);

  // Ends it without further ado. Needs no memory of its own, so that the core is always told.
  void end(core::loss how) noexcept;

 private:
  // `slowed`: the goodbye waits, because too many of its host have tried tokens.
  enum class phase : std::uint8_t { open, slowed, saying_goodbye, draining, ended };

  // What the read loop does next.
  enum class next : std::uint8_t { wait, another_iteration, stop };

  net::owned_coroutine read();
  [[nodiscard]] next read_ready();
  [[nodiscard]] next nothing_to_read();
  void go_on();
  void has_room() noexcept override;
  void expect_read() const noexcept override;
  void look_after();
  void write();
  void broke(core::loss how);
  void all_written();
  void await_room();
  void await_reader();
  void begin_goodbye();
  [[nodiscard]] bool is_slowed();
  [[nodiscard]] strangers::peer as_stranger() const noexcept {
    return {strangers::peer::kind::connection, id_.value};
  }
  void begin_draining();
  void give_up(std::exception const& why) noexcept;

  loop_iteration& iteration_;
  connection_id id_;
  phase phase_{phase::open};
  bool blocked_{};          // something waits for a peer that does not read
  bool awaits_room_{};      // the poller tells when the socket takes more
  bool is_unheard_{};       // the core was not told what was read last
  bool is_stranger_{true};  // it has not said Hello
  bool has_spoken_ : 1 {};  // something was read from it
  bool is_broken_ : 1 {};   // nothing can be written; it is heard to its end
  core::loss broken_by_{};
  dispatch::taken taken_{};  // of what was read
  outbox* out_;
  std::unique_ptr<net::byte_stream> stream_;
  net::readiness ready_;
  net::owned_coroutine loop_;
  std::size_t unread_{};  // bytes in our kernel that the peer had not read when last looked at
  time_point blocked_since_{};  // or slowed since
  time_point closes_at_{time_point::max()};
};
static_assert(sizeof(connection) ==
              128);  // and `ready_` reaches from its first line into its second

// How the connection ended, from what a read or a write came to (semantics D5).
[[nodiscard]] core::loss loss_of(net::transfer const& last) noexcept;

}  // namespace coxswain::server
