#pragma once
// The peers that are not let in yet: their TLS handshakes. Until one is done there is nothing of
// its peer but this; then it becomes a connection. Not here: certificates (net/tls_context), and
// what becomes of who is let in (server).
//
// A loop iteration makes few steps of them, since each may take half a millisecond: whoever is in
// goes first.

#include "coxswain/core/config.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/net/tls_stream.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/host_pace.hpp"
#include "coxswain/server/strangers.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {

class handshakes {
 public:
  struct limits {
    duration longest;            // from `begin` to the end
    std::size_t per_second_max;  // of one host
  };

  // A peer that speaks no TLS is sent `plain_goodbye` and nothing else. Handshakes are among the
  // `strangers` while they last.
  handshakes(net::poller& by, net::tls_context const& shown, strangers& among, limits l,
             std::string plain_goodbye);
  ~handshakes();
  handshakes(handshakes const&) = delete;
  handshakes& operator=(handshakes const&) = delete;

  // Begins one, at once or when its host may: those of a host in the order in which they came. One
  // whose peer goes away ends immediately, even if it has not begun. `stream` belongs to
  // that newcomer. Throws as net::readiness does.
  void begin(time_point now, std::unique_ptr<net::byte_stream> stream, newcomer who);

  // At the beginning of each iteration.
  void iteration_begins(time_point now) noexcept;

  // Begins those that had to wait, and ends those that took too long. After `take_callers`.
  void advance(time_point now);

  // Those whose handshake is done, and those that were refused, since the last call. Not from a
  // routine. What who is let in has said already may be in its stream, without a further edge.
  struct caller {
    newcomer who;
    std::unique_ptr<net::byte_stream> stream;
  };
  struct refusal {
    std::string peer;
    status why;
  };
  [[nodiscard]] std::vector<caller> take_callers();
  [[nodiscard]] std::vector<refusal> take_refusals() { return std::exchange(refusals_, {}); }

  // Ends one without a word, unless it is younger than a second, speaks and waits to be heard, or
  // is done: false. Not from its own routine.
  bool dismiss(std::uint64_t number);

  // Ends all of them without a word. Not from a routine.
  void clear() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  class handshake;
  using deadline = std::pair<time_point, std::uint64_t>;

  [[nodiscard]] bool may_step() noexcept;
  void start_next(std::string const& host, time_point now);
  void plan(handshake& one, time_point when);
  void visit(handshake& one, time_point now);
  void forget(handshake& one);

  net::poller& poller_;
  net::tls_context const& shown_;
  strangers& strangers_;
  limits limits_;
  std::string plain_goodbye_;
  host_pace pace_;
  time_point now_{};
  int steps_left_{};
  std::uint64_t begun_{};
  std::map<std::uint64_t, std::unique_ptr<handshake>> all_;
  std::map<std::string, std::set<std::uint64_t>> waiting_;  // to begin, by host
  std::set<deadline> due_;
  std::vector<refusal> refusals_;
  std::vector<std::uint64_t> over_;  // their routines have ended
};

}  // namespace coxswain::server
