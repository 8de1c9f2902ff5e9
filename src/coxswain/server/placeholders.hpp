#pragma once
// What a recording has in the place of values and secrets, so that none of them can be found in it
// and a replay decides the same all the same (proto/coxswain/v1/recording.proto). A value is
// replaced by its length. The core compares and computes with few of them:
//
//   reduction all_equal          the length and a digest
//   reduction sum_int64          the operand itself
//   CompareAndSet, its expected  whether the key has that value
//   Increment                    the number that the key has (wire::record::held)
//
// Not here: tokens (settings), and the bytes of a recording (wire).

#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/model/messages.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::server {

// Makes digests with a key that is drawn at random and that nobody else learns, so that even a
// short secret cannot be found by trying.
class digester {
 public:
  // Throws coxswain::error: INTERNAL, the kernel gives no random numbers.
  digester();

  // Equal for equal texts only.
  [[nodiscard]] core::session_secret digest(std::string_view text) const;
  [[nodiscard]] core::session_secret digest(core::session_secret const& secret) const;

 private:
  core::session_secret key_;
};

// Whether a record of the request may differ from what was received: it has a value or a secret, or
// is an Increment, whose record says what the key held. False for most requests.
[[nodiscard]] bool needs_stand_ins(core::request const& what);

// For the value of a Put, an Append, a Push or a Barrier, if it is not empty: a short way to what a
// redaction does (wire::append_with_value).
[[nodiscard]] std::optional<std::string> stand_in_for_value(core::request const& what,
                                                            digester const& by);

// A message has stand-ins for as long as this lives, and then its own values again.
class redaction {
 public:
  // `receiver` has not received the message yet.
  redaction(core::client_message& message, core::coordinator const& receiver, digester const& by);
  ~redaction();
  redaction(redaction const&) = delete;
  redaction& operator=(redaction const&) = delete;

  // The message has another text until then.
  void replace(std::string& text, std::string by);

  // Nothing was replaced.
  [[nodiscard]] bool empty() const noexcept { return texts_.empty() && !resume_; }

 private:
  boost::container::small_vector<std::pair<std::string*, std::string>, 2> texts_;
  core::resume_args* resume_{};
  core::session_secret secret_{};
};

// The number that the receiver's key has which the message increments, if it does and has one.
[[nodiscard]] std::optional<std::int64_t> held_number(core::client_message const& message,
                                                      core::coordinator const& receiver);

// Makes values of stand-ins again.
class restoration {
 public:
  // `receiver` will be given the message next. Throws coxswain::error: INVALID_ARGUMENT, what
  // stands in the place of a value is no stand-in, or the values are longer than a message may be.
  void restore(core::client_message& message, core::coordinator const& receiver);

 private:
  void restore(std::string& value, std::size_t& bytes_left);

  // Of each digest among the values of one length: values that differ, however short they are,
  // stay different by being numbered.
  std::map<std::size_t, std::map<std::string, std::uint64_t>> numbers_;
};

}  // namespace coxswain::server
