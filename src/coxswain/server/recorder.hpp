#pragma once
// Writes down what is put into the core, in a ring that is bounded by its bytes, and passes the
// same on to whoever wants all of it. Not here: files (the program), and putting it into another
// core (replay).

#include "coxswain/core/credential.hpp"
#include "coxswain/core/event.hpp"
#include "coxswain/core/messages.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

class recorder {
 public:
  recorder(options const& o, incarnation self, time_point start);

  // An input without more to say, or with a text.
  void write(time_point now, wire::record_kind kind, connection_id connection = {},
             std::string_view content = {});
  void write_connected(time_point now, connection_id id, std::string_view peer,
                       core::session_secret const& secret);
  void write_task_ended(time_point now, task_id task, status const& why);
  void write_preempted(time_point now, task_id task, duration in);
  // Messages that come later are judged by them.
  void write_credentials(time_point now, std::vector<core::credential> by);
  void write_event(time_point now, core::event const& what);

  // `payload` is what `message` was decoded from. The message is the same afterwards.
  void write_message(time_point now, connection_id from, std::string_view payload,
                     core::client_message& message);

  // A whole recording of what is kept.
  [[nodiscard]] std::string recording() const;

 private:
  struct block {
    std::string bytes;
    std::uint64_t records{};
  };

  void write(wire::record const& what);
  void keep(wire::encoded_record const& record);
  [[nodiscard]] bool is_on() const noexcept { return kept_bytes_max_ > 0 || pass_on_; }

  std::size_t kept_bytes_max_;
  std::size_t value_bytes_max_;
  std::vector<core::credential> credentials_;
  std::function<void(std::string_view)> pass_on_;
  time_point start_;
  wire::recording_head head_;
  std::deque<block> kept_;
  std::size_t kept_bytes_{};
  std::string buffer_;
};

}  // namespace coxswain::server
