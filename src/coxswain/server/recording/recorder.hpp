#pragma once
// Records the inputs of the core, and a digest of its outputs, in a ring of bounded size, and
// passes the complete recording on if asked to. Values and secrets are replaced (placeholders). In
// a journal only tokens are. Not here: files (the program), and replaying (replay).

#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/owner_input.hpp"
#include "coxswain/server/journal/journal.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/server/recording/placeholders.hpp"
#include "coxswain/server/recording/running_digest.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

class recorder {
 public:
  // `log` becomes the journal of a new coordinator, unless it is null.
  recorder(options const& o, incarnation self, time_point start, journal* log = nullptr);
  // `log` has recorded this coordinator before, with `inputs` inputs.
  recorder(options const& o, wire::recording_head head, time_point start, std::uint64_t inputs,
           journal& log);

  // An input without content, or with a text.
  void write(time_point now, wire::record_kind kind, connection_id connection = {},
             std::string_view content = {});
  void write_connected(time_point now, connection_id id, std::string_view peer,
                       core::session_secret const& secret);
  // Later messages are checked against the new credentials.
  void write(time_point now, core::owner_input const& what);
  void write_event(time_point now, core::event const& what);
  // All messages that the core sends after the last recorded input: a digest of them and of the
  // events before. Without the messages unless the complete recording is wanted: they are not worth
  // its cost.
  void write_sent(time_point now, std::vector<core::outgoing> const& messages) {
    if (pass_on_ || !output_.empty()) write_digest(now, messages);
  }

  // `message` was decoded from `payload`, and `receiver` has not received it yet. The message is
  // the same afterwards.
  void write_message(time_point now, connection_id from, wire::decoded_payload const& payload,
                     core::client_message& message, core::coordinator const& receiver);

  // A complete recording of what is kept.
  [[nodiscard]] std::string recording() const;

 private:
  // Records one after the other.
  class block {
   public:
    explicit block(std::size_t room)
        : bytes_{std::make_unique_for_overwrite<char[]>(room)}, room_{room} {}

    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), used_}; }
    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

    [[nodiscard]] bool has_room_for(wire::record const& what) const noexcept {
      return wire::bytes_max(what) <= room_ - used_;
    }
    // There must be room. Returns the number of bytes used.
    std::size_t add(wire::record const& what) noexcept;

   private:
    std::unique_ptr<char[]> bytes_;
    std::size_t room_;
    std::size_t used_{};
    std::uint64_t records_{};
  };

  void write_digest(time_point now, std::vector<core::outgoing> const& messages);
  void write(wire::record const& what);
  void pass_on_head();
  void write_short(wire::record what, std::string_view value);
  void write_to_journal(wire::record what, core::client_message& message,
                        core::coordinator const& receiver, bool is_plain);
  void replace_token(text_replacement& in, core::client_message& message) const;
  void write_input(wire::record const& what);
  void keep(wire::record const& what);
  [[nodiscard]] bool is_on() const noexcept { return kept_bytes_max_ > 0 || pass_on_; }

  std::size_t kept_bytes_max_;
  std::vector<core::credential> credentials_;
  digester digester_;
  std::function<void(std::string_view)> pass_on_;
  journal* journal_;
  time_point start_;
  wire::recording_head head_;
  std::deque<block> kept_;
  std::size_t kept_bytes_{};
  std::string buffer_;   // of the recording passed on
  std::string message_;  // with placeholders
  running_digest output_;
};

}  // namespace coxswain::server
