#pragma once
// TLS handshakes in progress. A peer becomes a connection only when its handshake is done. Not
// here: certificates (net/tls_context), connections (server).
//
// A loop iteration makes only a few of their steps, since each can take half a millisecond:
// existing connections go first.

#include "coxswain/core/config.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/net/tls_stream.hpp"
#include "coxswain/server/admission/host_pace.hpp"
#include "coxswain/server/admission/pending_peers.hpp"
#include "coxswain/server/dispatch.hpp"

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
  // `pending_peers` while they last.
  handshakes(net::poller& by, net::tls_context const& shown, pending_peers& among, limits l,
             std::string plain_goodbye);
  ~handshakes();
  handshakes(handshakes const&) = delete;
  handshakes& operator=(handshakes const&) = delete;

  // Starts one, at once or when the rate limit of its host allows: those of a host in order of
  // arrival. One whose peer goes away ends immediately, even before its start. `stream` is the
  // connection to that peer. Throws as net::readiness does.
  void begin(time_point now, std::unique_ptr<net::byte_stream> stream, accepted_peer who);

  // At the beginning of each iteration.
  void iteration_begins(time_point now) noexcept;

  // Starts waiting ones, and ends those that took too long. After `take_callers`.
  void advance(time_point now);

  // The completed and the refused handshakes since the last call. Not from a coroutine. Input of an
  // accepted peer may already be in its stream, without a further edge.
  struct caller {
    accepted_peer who;
    std::unique_ptr<net::byte_stream> stream;
  };
  struct refusal {
    std::string peer;
    status why;
  };
  [[nodiscard]] std::vector<caller> take_callers();
  [[nodiscard]] std::vector<refusal> take_refusals() { return std::exchange(refusals_, {}); }

  // Ends one silently. False if it is younger than a second, has unread input or is done. Not from
  // its own coroutine.
  bool dismiss(std::uint64_t number);

  // Ends all of them silently. Not from a coroutine.
  void clear() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  class handshake;
  using deadline = std::pair<time_point, std::uint64_t>;

  [[nodiscard]] bool may_step() noexcept;
  void start_next(std::string const& host, time_point now);
  void plan(handshake& pending, time_point when);
  void visit(handshake& pending, time_point now);
  void forget(handshake& pending);

  net::poller& poller_;
  net::tls_context const& shown_;
  pending_peers& pending_peers_;
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
  std::vector<std::uint64_t> over_;  // their coroutines have ended
};

}  // namespace coxswain::server
