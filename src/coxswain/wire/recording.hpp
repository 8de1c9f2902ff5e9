#pragma once
// The bytes of a recording (proto/coxswain/v1/recording.proto): the inputs of a coordinator with
// their times. Not here: recording (server/recorder) and replaying (server/replay).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::wire {

// The format's version, which changes with the protocol: 4 has messages of protocol version 2.
inline constexpr std::uint32_t recording_version = 4;

struct recording_head {
  incarnation coordinator{};
  wall_time started{};
  std::vector<std::pair<std::string, std::string>> settings;  // name and value
  std::uint64_t lost{};                                       // records before the first one
  bool has_sent{};                                            // records of this kind
  std::uint32_t version{recording_version};

  friend bool operator==(recording_head const&, recording_head const&) = default;
};

// As in the proto, and with its numbers.
enum class record_kind : std::uint8_t {
  event,
  connected,
  message,
  heard,
  malformed,
  closed,
  unreachable,
  write_blocked,
  write_progressed,
  task_ended,
  stopped,
  advanced,
  reading_paused,
  reading_resumed,
  preempted,
  credentials_replaced,
  round_cancelled,
  sent,
  suspended,
  restarted,
  storing_refused,
  exited,
  trunk_closed,
  vouched,
  job_ended,
  owner_request,
};

struct record {
  duration at{};  // since the coordinator started
  record_kind kind{};
  connection_id connection{};
  std::string_view content;
  std::optional<core::session_secret> secret;
  std::uint64_t number{};
  errc code{};
  std::optional<std::int64_t> held{};  // the number of the key that a message increments
};

// Append the head, or a record, with its length.
void append(std::string& out, recording_head const& head);
void append(std::string& out, record const& what);

// The same with existing space: `to` has room for `bytes_max`. Returns the end of the written
// bytes.
[[nodiscard]] std::size_t bytes_max(record const& what) noexcept;
char* write(record const& what, char* to) noexcept;

// Reads a recording from beginning to end.
class recording_reader {
 public:
  // `bytes` must stay valid as long as the reader is used. Throws coxswain::error:
  // INVALID_ARGUMENT, they do not begin with a header of a known version.
  explicit recording_reader(std::string_view bytes);

  // Reads records that follow no head.
  [[nodiscard]] static recording_reader of_records(std::string_view records) {
    recording_reader made;
    made.rest_ = records;
    return made;
  }

  [[nodiscard]] recording_head const& head() const noexcept { return head_; }

  // The next record, valid until the following call; none at the end, or where the recording was
  // cut off. Throws coxswain::error: INVALID_ARGUMENT, the next record is malformed. Unknown kinds
  // are skipped.
  std::optional<record> next();

  // After the last record: whether the recording was cut off there.
  [[nodiscard]] bool is_cut_off() const noexcept { return !rest_.empty(); }

 private:
  recording_reader() = default;
  std::optional<std::string_view> take_item();

  std::string_view rest_;
  recording_head head_;
};

}  // namespace coxswain::wire
