#pragma once
// What a recording has in place of values and secrets, so that it contains none of them and a
// replay still decides the same (proto/coxswain/v1/recording.proto). A value is replaced by its
// length. The core compares and computes with few of them:
//
//   reduction all_equal          the length and a digest
//   reduction sum_int64          the operand itself
//   CompareAndSet, its expected  whether the key has that value
//   Increment                    the number that the key has (wire::record::held)
//
// Not here: tokens (settings), and the bytes of a recording (wire).

#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/recording/hmac_sha256.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::server {

// Computes digests with a random private key, so that even a short secret cannot be found by brute
// force. Not thread-safe.
class digester {
 public:
  // Throws coxswain::error: INTERNAL, the kernel gives no random numbers, or OpenSSL no HMAC.
  digester();

  // Equal for equal texts only.
  [[nodiscard]] core::session_secret digest(std::string_view text) const;
  [[nodiscard]] core::session_secret digest(core::session_secret const& secret) const;

 private:
  hmac_sha256 hash_;
};

// Whether a record of the request may differ from the received one: it has a value or a secret, or
// is an Increment, whose record has the key's old number. False for most requests.
[[nodiscard]] bool needs_placeholders(core::request const& what);

// Whether the placeholder of the value of a Put, an Append, a Push or a Barrier is its length; of a
// Put unless it may be compared with that of its key (coordinator::compares_value).
[[nodiscard]] bool is_replaced_by_length(core::request const& what);

// Writes the length of a value over it, with leading zeros. It is not empty.
void write_placeholder(std::span<char> value) noexcept;

// The placeholder for a non-empty value of a Put, an Append, a Push or a Barrier: a fast path of
// redaction (wire::append_with_value). Not for a Put that may be compared.
[[nodiscard]] std::optional<std::string> placeholder_for_value(core::request const& what,
                                                               digester const& by);

// Replaces texts of a message for its lifetime.
class text_replacement {
 public:
  text_replacement() = default;
  ~text_replacement();
  text_replacement(text_replacement const&) = delete;
  text_replacement& operator=(text_replacement const&) = delete;

  // The message has a different text until then.
  void replace(std::string& text, std::string by);

  [[nodiscard]] bool empty() const noexcept { return texts_.empty(); }

 private:
  boost::container::small_vector<std::pair<std::string*, std::string>, 2> texts_;
};

// Replaces a message's values by placeholders for its lifetime.
class redaction {
 public:
  // `receiver` has not received the message yet.
  redaction(core::client_message& message, core::coordinator const& receiver, digester const& by);
  ~redaction();
  redaction(redaction const&) = delete;
  redaction& operator=(redaction const&) = delete;

  [[nodiscard]] text_replacement& texts() noexcept { return texts_; }

  // Nothing was replaced.
  [[nodiscard]] bool empty() const noexcept { return texts_.empty() && !resume_; }

 private:
  text_replacement texts_;
  core::resume_args* resume_{};
  core::session_secret secret_{};
};

// The number in the receiver's key that the message increments, if any.
[[nodiscard]] std::optional<std::int64_t> held_number(core::client_message const& message,
                                                      core::coordinator const& receiver);

// Converts placeholders to values.
class restoration {
 public:
  // `receiver` gets the message next. Throws coxswain::error: INVALID_ARGUMENT, a placeholder is
  // malformed, or the values are longer than a message may be.
  void restore(core::client_message& message, core::coordinator const& receiver);

 private:
  void restore(std::string& value, std::size_t& bytes_left);

  // Numbers the digests of values of one length, so that different values stay different, however
  // short they are.
  std::map<std::size_t, std::map<std::string, std::uint64_t>> numbers_;
};

}  // namespace coxswain::server
