#pragma once
// The addresses at which the coordinator may be: in which order they are tried, at which of them an
// attempt to connect is in progress, and whether they refuse connections. They are tried in rounds:
// first the one that served last, then the one that a Goodbye named, then those of Unix sockets, as
// of this host's relay, in the order of the list, then the others in random order. Not here: when
// to try (agent), and how (transport).
//
// Addresses are numbered from zero, in the order of the list; one that is not in it comes last.

#include "coxswain/base/attempt_stage.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/client/agent/random_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::detail {

class candidates {
 public:
  // `follows_others`: a Goodbye may name an address that is not in the list.
  candidates(std::vector<std::string> list, std::uint64_t seed, bool follows_others);

  [[nodiscard]] std::string const& at(std::size_t which) const { return all_[which].where; }
  [[nodiscard]] bool are_several() const noexcept { return all_.size() > 1; }

  // Whether its address is a Unix socket, as that of a relay of this host.
  [[nodiscard]] bool is_local(std::size_t which) const;

  // Begins a round of all addresses without an attempt in progress.
  void begin_round();
  // Whether the round has another address; and begins an attempt there.
  [[nodiscard]] bool has_next() const noexcept { return !round_.empty(); }
  std::size_t try_next(time_point now);
  // How far the attempt has come.
  void reached(std::size_t which, attempt_stage stage) noexcept { all_[which].stage = stage; }

  // The attempt has failed, or the connection has ended.
  void failed(std::size_t which, bool refused);
  // The attempt got a connection. Those at other addresses are abandoned, and continue the round if
  // this one is of no use.
  std::vector<std::size_t> connected(std::size_t which);
  // The session continues there: this round is over.
  void serves(std::size_t which);

  // The connection there is dead without having ended: it comes last in the next round.
  void avoid(std::size_t which) noexcept { avoided_ = which; }

  // A Goodbye of `from` names this address of the coordinator. Ignored if it may not be followed.
  void hint(std::size_t from, std::string_view address);

  // The attempts in progress, and the connection.
  [[nodiscard]] std::vector<std::size_t> tried() const;
  [[nodiscard]] bool is_tried(std::size_t which) const;
  [[nodiscard]] time_point tried_at(std::size_t which) const { return *all_[which].tried_at; }
  [[nodiscard]] attempt_stage stage(std::size_t which) const { return all_[which].stage; }
  // The first of them; none: there are none.
  [[nodiscard]] std::optional<std::size_t> oldest() const;

  // The last attempt at every address was refused.
  [[nodiscard]] bool all_refuse() const;

 private:
  struct candidate {
    std::string where;
    std::optional<time_point> tried_at{};  // while an attempt, or a connection, is there
    attempt_stage stage{};
    bool refuses{};
  };

  void append(std::size_t which);
  [[nodiscard]] std::optional<std::size_t> place_for(std::string_view where);

  std::vector<candidate> all_;
  std::size_t listed_;
  bool follows_others_;
  random_numbers random_;
  std::deque<std::size_t> round_;  // still to be tried
  std::optional<std::size_t> served_;
  std::optional<std::size_t> avoided_;
  std::optional<std::size_t> hinted_;
};

}  // namespace coxswain::detail
